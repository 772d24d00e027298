"""Fixing files: the drafts that may be applied, round by round until nothing changes, and a careful write."""

from __future__ import annotations

import io
import os
import stat
import tempfile
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mindport.catalog import Catalog
from mindport.engine import Engine, Result, display_path, failed
from mindport.findings import Applicability, Edit, Fix
from mindport.fixes.draft import Composed, Draft, Ref, Slice, compose
from mindport.fixes.imports import Habits, Imports, insertion_place
from mindport.fixes.layout import Layout
from mindport.source import text as source_text
from mindport.source.text import Source, SourceError

MAX_ROUNDS = 6
"""Fixes open the way for others (a class must be a Cell first); one or two rounds are usual."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """One file after fixing: what it was, what it becomes, how many fixes that took, what is left to report."""

    path: str
    file: Path | None
    before: str
    after: str
    encoding: str
    count: int
    result: Result

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after


def habits_of(catalog: Catalog) -> Habits:
    """How the tables say MindSpore is imported."""
    concepts = catalog.concepts
    return Habits(
        concepts.get("import-habits", {}),
        frozenset(concepts.get("frameworks", {}).get("torch", ())),
        catalog.keys,
    )


def fix_file(engine: Engine, file: Path, *, unsafe: bool) -> Fixed:
    """Fix a file in memory; a problem with it becomes the result's ``error``."""
    path = display_path(file)
    try:
        data = source_text.read_bytes(file)
    except SourceError as error:
        return Fixed(path, file, "", "", "utf-8", 0, failed(path, error))
    return fix_bytes(engine, data, path, file, unsafe=unsafe)


def fix_bytes(engine: Engine, data: bytes, path: str, file: Path | None, *, unsafe: bool) -> Fixed:
    """Fix source given as bytes."""
    try:
        text = source_text.decode(data)
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        source = source_text.from_text(path, text, file)
    except SourceError as error:
        return Fixed(path, file, "", "", "utf-8", 0, failed(path, error))
    before = source.text
    known = engine.project.parsed(file) if file is not None else None
    habits = habits_of(engine.catalog)
    count = 0
    seen = {before}
    result = engine.check_source(source)
    original = engine.project.parsed(file) if file is not None else known
    for _ in range(MAX_ROUNDS):
        drafts = allowed(result.drafts, unsafe=unsafe)
        if not drafts or result.error is not None:
            break
        new, applied = apply_drafts(source, drafts, habits)
        if new in seen or not _encodes(new, encoding):
            break
        seen.add(new)
        count += applied
        source = source_text.from_text(path, new, file)
        result = engine.check_source(source)
    if file is not None and original is not None:
        engine.project.put_back(file, original)
    return Fixed(path, file, before, source.text, encoding, count, result)


def _encodes(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def allowed(drafts: Sequence[Draft], *, unsafe: bool) -> list[Draft]:
    """The drafts a user's choice lets through."""
    wanted = {Applicability.SAFE, Applicability.UNSAFE} if unsafe else {Applicability.SAFE}
    return [draft for draft in drafts if draft.applicability in wanted]


def apply_drafts(source: Source, drafts: Sequence[Draft], habits: Habits) -> tuple[str, int]:
    """The text with drafts applied and imports set, and how many were applied.

    Drafts that would leave text that does not parse are left out.
    """
    composed = _parsing(source.text, list(drafts))
    if composed is None:
        return source.text, 0
    inner = source_text.from_text(source.path, composed.text)
    imports = Imports(inner, habits)
    names = {name: imports.spell(name) for name in _in_order(composed)}
    text = composed.spell_in(imports.rewritten(), names)
    try:
        source_text.parse(text)
    except SourceError:
        return source.text, 0
    return text, len(composed.applied)


def _in_order(composed: Composed) -> list[str]:
    return sorted(composed.refs, key=lambda name: (name.count("."), name))


def _parsing(text: str, drafts: list[Draft]) -> Composed | None:
    """The largest part of the drafts, halved where need be, whose result parses."""
    composed = compose(text, drafts)
    if _parses(composed.text):
        return composed
    good: list[Draft] = []

    def add(some: list[Draft]) -> None:
        if not some:
            return
        if _parses(compose(text, [*good, *some]).text):
            good.extend(some)
        elif len(some) > 1:
            add(some[: len(some) // 2])
            add(some[len(some) // 2 :])

    add(drafts)
    return compose(text, good) if good else None


def _parses(text: str) -> bool:
    try:
        source_text.parse(text)
    except SourceError:
        return False
    return True


# --- fixes of single findings --------------------------------------------------------------------------


class SingleFixes:
    """Drafts as edits that stand on their own: names are spelled by the imports the file has now."""

    def __init__(self, source: Source, habits: Habits) -> None:
        self.source = source
        self.layout = Layout(source)
        self.imports = Imports(source, habits)  # scanned once for all fixes of the file
        for _, gone in self.imports.removed:  # nothing is removed with a single fix
            self.imports.bound.update(alias.asname or alias.name.partition(".")[0] for alias in gone)
        self.imports.removed.clear()

    def fix(self, draft: Draft, title: str) -> Fix:
        """One draft with the imports it needs."""
        return _single(draft, title, self.source, self.layout, self.imports.fresh())


def _single(draft: Draft, title: str, source: Source, layout: Layout, imports: Imports) -> Fix:
    edits = []
    for change in draft.changes:
        text = "".join(
            imports.spell(part.name)
            if isinstance(part, Ref)
            else source.text[part.start : part.end]
            if isinstance(part, Slice)
            else part
            for part in change.parts
        )
        edits.append(Edit(layout.span(change.start, change.end), text))
    if imports.needed:
        place = insertion_place(source.tree, layout)
        lines = "".join(line + layout.newline for line in imports.statements())
        edits.append(Edit(layout.span(place, place), lines))
    return Fix(draft.applicability, title, tuple(sorted(edits, key=lambda edit: edit.span)))


# --- writing -------------------------------------------------------------------------------------------


def write(fixed: Fixed) -> None:
    """Replace the file by its fixed text in one step; keeps encoding, line ends and mode bits. Raises OSError."""
    assert fixed.file is not None
    target = Path(os.path.realpath(fixed.file))
    mode = stat.S_IMODE(target.stat().st_mode)
    data = fixed.after.encode(fixed.encoding)
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied", str(target))
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


__all__ = ["Fixed", "SingleFixes", "apply_drafts", "fix_bytes", "fix_file", "write"]
