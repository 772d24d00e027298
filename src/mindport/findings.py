"""The values every room speaks of: findings, their severity, confidence, effort, spans and fixes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    """How bad a finding is, from "cannot run" to "mechanical rename"."""

    BLOCKER = "blocker"
    CRITICAL = "critical"
    MAJOR = "major"
    MINOR = "minor"
    INFO = "info"

    rank: int
    """0 for ``info`` up to 4 for ``blocker``."""

    @property
    def pylint_letter(self) -> str:
        """The category letter of the pylint message id (E, E, W, R, C)."""
        return "EEWRC"[4 - self.rank]


for _index, _severity in enumerate(reversed(Severity)):
    _severity.rank = _index


class Confidence(Enum):
    """How sure the analysis is: names resolve, flow analysis says so, or only the spelling does."""

    CERTAIN = "certain"
    INFERRED = "inferred"
    POSSIBLE = "possible"

    rank: int
    """0 for ``possible``, 1 for ``inferred``, 2 for ``certain``."""

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is slow

    def weaker(self, other: Confidence) -> Confidence:
        """The less sure of the two."""
        return self if self.rank <= other.rank else other


for _index, _confidence in enumerate(reversed(Confidence)):
    _confidence.rank = _index


class Applicability(Enum):
    """Whether a fix may be applied without reading (``safe``), after reading, or is text only."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    SUGGESTION = "suggestion"


@dataclass(frozen=True, slots=True)
class Effort:
    """Minutes of one person to deal with a finding: low, likely, high (0 <= low <= likely <= high)."""

    low: float
    likely: float
    high: float


DEFAULT_EFFORT: dict[Severity, Effort] = {
    Severity.BLOCKER: Effort(15, 45, 240),
    Severity.CRITICAL: Effort(2, 10, 60),
    Severity.MAJOR: Effort(10, 30, 120),
    Severity.MINOR: Effort(1, 3, 10),
    Severity.INFO: Effort(0, 0.2, 1),
}


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of source: 1-based lines, 0-based character columns, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of ``span`` by ``text``."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A set of edits that belong together, with a title that states the remedy."""

    applicability: Applicability
    title: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not migration-ready, at one place of one file."""

    code: str
    name: str
    path: str
    span: Span
    severity: Severity
    confidence: Confidence
    effort: Effort
    message: str
    suggestion: str
    fix: Fix | None = None

    @property
    def line(self) -> int:
        """The 1-based line the finding starts on."""
        return self.span.line

    @property
    def column(self) -> int:
        """The 0-based character column the finding starts at."""
        return self.span.column

    @property
    def url(self) -> str:
        """The page of the check, relative to the documentation."""
        return f"docs/checks/{self.code}.md"


@dataclass(frozen=True, slots=True)
class FileError:
    """A file that could not be checked: where and why, in one line."""

    path: str
    line: int
    column: int
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was seen: files, files that failed, and torch/MindSpore name uses by how far they were judged.

    ``sites`` = ``resolved`` + unresolved; ``judged`` of the resolved ones have a table row or a check,
    ``unknown`` = ``sites`` - ``judged``.
    """

    files: int = 0
    files_failed: int = 0
    sites: int = 0
    resolved: int = 0
    judged: int = 0

    @property
    def unknown(self) -> int:
        """Sites about which nothing can be said."""
        return self.sites - self.judged

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(
            self.files + other.files,
            self.files_failed + other.files_failed,
            self.sites + other.sites,
            self.resolved + other.resolved,
            self.judged + other.judged,
        )
