"""The types of the catalogue. Nothing here knows how a check is detected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from mindport.findings import Effort, Severity

LANGUAGES = ("en", "zh")
DEVICES = ("ascend", "cpu", "gpu")
FAMILIES = {
    "1": "cell",
    "2": "layer",
    "3": "training",
    "4": "api",
    "5": "graph",
    "6": "data",
    "7": "device",
    "8": "mindspore",
    "9": "project",
}


@dataclass(frozen=True, slots=True)
class Text:
    """What people read about a check in one language. ``message`` and ``suggestion`` have placeholders."""

    title: str
    message: str
    suggestion: str
    what: str
    why: str
    fix: str


class ExampleKind(Enum):
    """Bad code must be found, good code and near misses must stay quiet."""

    BAD = "bad"
    GOOD = "good"
    NEAR_MISS = "near-miss"


@dataclass(frozen=True, slots=True)
class Proof:
    """How an example is executed.

    ``run`` is appended to the example and sets ``result``; ``fails`` is a part of the error it must raise;
    ``torch`` sets ``expected`` with torch, which ``result`` must equal (``differs``: must not equal) to 1e-5;
    ``modes`` are the MindSpore modes it is executed in. ``unproven`` says why it is not executed.
    """

    run: str = ""
    fails: str = ""
    torch: str = ""
    differs: bool = False
    modes: tuple[str, ...] = ("pynative", "graph")
    unproven: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A piece of code with the findings expected in it (``# expect: CODE`` at the end of a line).

    ``original``: the torch code it is a port of, for checks that only ``mindport review`` makes.
    """

    kind: ExampleKind
    code: str
    note: str
    proof: Proof | None
    original: str = ""


@dataclass(frozen=True, slots=True)
class Detection:
    """One use of a code shape from the detectors' vocabulary, with its parameters."""

    shape: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Check:
    """One check: everything the project knows about one kind of finding."""

    code: str
    name: str
    severity: Severity
    before_port: Severity | None
    severity_on: Mapping[str, Severity]
    """The severity on a device where the matter is another one (``ascend``, ``cpu``, ``gpu``)."""
    effort: Effort
    enabled: bool
    detections: tuple[Detection, ...]
    texts: Mapping[str, Text]
    examples: tuple[Example, ...] = field(default=(), repr=False)

    @property
    def family(self) -> str:
        """The family the code's first digit names (``cell``, ``layer``, ...)."""
        return FAMILIES[self.code[3]]

    @property
    def pylint_id(self) -> str:
        """The pylint message id: category letter, ``9``, the digits of the code."""
        return f"{self.severity.pylint_letter}9{self.code[3:]}"

    def severity_for(self, device: str) -> Severity:
        """The severity on a device (``ascend``, ``cpu``, ``gpu``)."""
        return self.severity_on.get(device, self.severity)

    def text(self, language: str) -> Text:
        """The text in ``en`` or ``zh``."""
        return self.texts[language]


class Difference(Enum):
    """The ladder of differences between a torch name and its MindSpore target."""

    SAME = "same"
    RENAME = "rename"
    ARGUMENTS = "arguments"
    DEFAULT = "default"
    BEHAVIOUR = "behaviour"
    COMPOSE = "compose"
    REWRITE = "rewrite"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Target:
    """What to use instead of a torch name on one side (``mint`` or ``nn``)."""

    name: str
    difference: Difference
    template: str
    unproven: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    omitted: Mapping[str, str] = field(default_factory=dict)
    always: Mapping[str, str] = field(default_factory=dict)
    variants: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class ApiRow:
    """One row of an API table."""

    name: str
    kind: str
    mint: Target | None
    nn: Target | None
    effort: Effort | None
    notes: Mapping[str, str]
    signature: str = ""

    def preferred(self, api: str) -> Target | None:
        """The target on the preferred side, else the other one; a real name beats an empty one."""
        first, second = (self.mint, self.nn) if api == "mint" else (self.nn, self.mint)
        if first is not None and (first.name or first.template):
            return first
        return second if second is not None and (second.name or second.template) else first or second
