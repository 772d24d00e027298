"""What a fix is before its names are spelled: changes whose new text refers to names and to the old text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mindport.findings import Applicability, Finding, Span
from mindport.fixes.layout import Layout


@dataclass(frozen=True, slots=True)
class Ref:
    """A MindSpore name in full; how it is written depends on the file's imports."""

    name: str


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of the old text, with whatever other fixes do inside it."""

    start: int
    end: int


Part = str | Ref | Slice


@dataclass(frozen=True, slots=True)
class Change:
    """Replace the old text from ``start`` to ``end`` by ``parts``."""

    start: int
    end: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """The changes of one fix. ``span`` is where its finding stands, ``code`` the check it belongs to."""

    code: str
    span: Span
    applicability: Applicability
    changes: tuple[Change, ...] = field(compare=False)

    @property
    def start(self) -> int:
        """The first offset the fix changes."""
        return min(change.start for change in self.changes)


def drafted(layout: Layout, finding: Finding) -> Draft:
    """The fix a detector made, as a draft."""
    assert finding.fix is not None
    changes = tuple(Change(*layout.range_of(edit.span), (edit.text,)) for edit in finding.fix.edits)
    return Draft(finding.code, finding.span, finding.fix.applicability, changes)


_WORD = "mindport_ref_{}_"
_WORDS = re.compile(r"mindport_ref_(\d+)_")


@dataclass(slots=True)
class Composed:
    """New text whose MindSpore names are still placeholders."""

    text: str
    refs: list[str]
    applied: list[Draft]

    def spell_in(self, text: str, names: Mapping[str, str]) -> str:
        """Text that holds the placeholders, with the names written out."""
        return _WORDS.sub(lambda match: names[self.refs[int(match[1])]], text)


def compose(text: str, drafts: Iterable[Draft]) -> Composed:
    """Apply drafts to text; of two that cannot both be applied the one that starts first wins.

    A draft inside another's `Slice` is applied there; one inside text that another replaces falls away with it.
    """
    flat = [(change, draft) for draft in drafts for change in draft.changes]
    flat.sort(key=lambda pair: (pair[0].start, pair[0].end > pair[0].start, -pair[0].end))
    refused: set[int] = set()
    outer: list[Change] = []
    for change, draft in flat:
        while outer and outer[-1].end <= change.start:
            outer.pop()
        if outer and (change.end > outer[-1].end or (change.start, change.end) == _ends(outer[-1])):
            refused.add(id(draft))
        elif change.end > change.start:
            outer.append(change)
    changes = [(change, draft) for change, draft in flat if id(draft) not in refused]
    refs: list[str] = []
    index: dict[str, int] = {}
    applied: dict[int, Draft] = {}

    def word(name: str) -> str:
        if name not in index:
            index[name] = len(refs)
            refs.append(name)
        return _WORD.format(index[name])

    def render(start: int, end: int, inner: Sequence[tuple[Change, Draft]]) -> str:
        result: list[str] = []
        position = start
        number = 0
        while number < len(inner):
            change, draft = inner[number]
            number += 1
            nested = []
            while number < len(inner) and inner[number][0].start < change.end:
                nested.append(inner[number])
                number += 1
            result.append(text[position : change.start])
            applied[id(draft)] = draft
            for part in change.parts:
                if isinstance(part, Slice):
                    inside = [p for p in nested if part.start <= p[0].start and p[0].end <= part.end]
                    result.append(render(part.start, part.end, inside))
                else:
                    result.append(word(part.name) if isinstance(part, Ref) else part)
            position = change.end
        result.append(text[position:end])
        return "".join(result)

    new = render(0, len(text), changes)
    return Composed(new, refs, list(applied.values()))


def _ends(change: Change) -> tuple[int, int]:
    return change.start, change.end
