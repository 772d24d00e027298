"""Checking one file: walk once, dispatch by node type and qualified name, filter, sort."""

from __future__ import annotations

import ast
import fnmatch
import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from mindport.catalog import Catalog, Check, load_catalog
from mindport.catalog.returns import parameters, returns, surface_kind
from mindport.config import Config
from mindport.detectors import Detector, FileView, Stage, build_detectors
from mindport.detectors.api import difference_of
from mindport.effort.facts import Facts, facts
from mindport.effort.features import Features
from mindport.findings import Confidence, Coverage, FileError, Finding, Severity, Span
from mindport.fixes.draft import Draft, drafted
from mindport.fixes.layout import Layout
from mindport.semantics.flow import Flows
from mindport.semantics.library import Library
from mindport.semantics.module import Module
from mindport.semantics.oracle import Oracle
from mindport.semantics.project import Project
from mindport.semantics.scopes import BindingKind
from mindport.source import text as source_text
from mindport.source.suppressions import Suppressions, frozen_lines, scan
from mindport.source.text import Source, SourceError
from mindport.uses import coverage, method_uses, name_uses, sites

WORDS = ("torch", "mindspore", "forward", "construct")
"""A file without any of these words has nothing to do with either framework and is not parsed."""

_WORD_BYTES = tuple(word.encode() for word in WORDS)


@dataclass(frozen=True, slots=True)
class Result:
    """What checking one file gave. ``stage`` is None when the file was not parsed."""

    path: str
    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    error: FileError | None = None
    coverage: Coverage = Coverage()
    stage: Stage | None = None
    lines: tuple[str, ...] = ()
    sites: tuple[dict[str, object], ...] = ()
    drafts: tuple[Draft, ...] = ()
    features: Features | None = None
    facts: Facts | None = None


@dataclass(frozen=True, slots=True)
class Honour:
    """Which suppression comments the engine applies; a host that handles one kind itself leaves it out."""

    noqa: bool = True
    pylint: bool = True


class Engine:
    """Checks files with one catalogue and one configuration; keeps the project's modules in memory.

    ``counting``: whether results say how many sites were seen and judged; flake8 and pylint print no summary.
    """

    def __init__(
        self,
        config: Config,
        catalog: Catalog | None = None,
        *,
        inventory: bool = False,
        oracle: Oracle | None = None,
        fixing: bool = False,
        measuring: bool = False,
        counting: bool = True,
    ) -> None:
        self.config = config
        self.counting = counting
        self.measuring = measuring
        self.fixing = fixing
        self.inventory = inventory
        self.catalog = catalog or load_catalog()
        self._least = Severity(config.min_severity).rank, Confidence(config.min_confidence).rank
        self.enabled = {c.code for c in self.catalog.checks if is_selected(c, config)}
        frameworks = self.catalog.concepts.get("frameworks", {})
        self._torch = frozenset(frameworks.get("torch", ()))
        self._mindspore = frozenset(frameworks.get("mindspore", ()))
        self._by_type: dict[type[ast.AST], list[Detector]] = defaultdict(list)
        self._by_name: dict[str, list[Detector]] = defaultdict(list)
        self._by_difference: dict[str, list[Detector]] = defaultdict(list)
        self._finishing: list[Detector] = []
        for detector in build_detectors(self.catalog):
            if detector.check.code not in self.enabled:
                continue
            for kind in detector.node_types():
                self._by_type[kind].append(detector)
            for name in detector.qualified_names():
                self._by_name[name].append(detector)
            for difference in detector.differences():
                self._by_difference[difference].append(detector)
            if type(detector).finish is not Detector.finish:
                self._finishing.append(detector)
        packages = self._torch | self._mindspore
        self.project = Project(self.catalog.canonical, packages)
        self._deep = Project(self.catalog.canonical, packages, oracle) if oracle is not None else None
        self._flows: Flows | None = None

    @property
    def flows(self) -> Flows:
        """The flow analyses of the project; made when the first file needs them."""
        if self._flows is None:
            concepts = self.catalog.concepts
            kinds, classes, tensors = (
                concepts.get(key, {}) for key in ("kinds", "classes", "tensor-classes")
            )
            library = Library(returns(), self.catalog.sets, kinds, classes, tensors, surface_kind, parameters)
            self._flows = Flows(library)
        return self._flows

    def check_file(self, file: Path, path: str | None = None) -> Result:
        """Check a file on disk; every problem with it becomes the result's ``error``."""
        shown = path if path is not None else display_path(file)
        try:
            data = source_text.read_bytes(file)
            trace = self.project.trace
            if trace is not None:
                trace.read(trace.real(str(file)), data)
            if not self.inventory and not any(word in data for word in _WORD_BYTES) and b"\0" not in data:
                return Result(shown, coverage=Coverage(files=1))
            known = self.project.parsed(file)
            if known is not None:
                source = replace(known.source, path=shown)
            else:
                source = source_text.from_text(shown, source_text.decode(data), file)
        except SourceError as error:
            return failed(shown, error)
        return self.check_source(source)

    def check_bytes(
        self,
        data: bytes,
        path: str,
        file: Path | None = None,
        honour: Honour = Honour(),
    ) -> Result:
        """Check source given as bytes (standard input, an editor's buffer, pylint's stream)."""
        try:
            return self.check_source(source_text.from_text(path, source_text.decode(data), file), honour)
        except SourceError as error:
            return failed(path, error)

    def check_source(self, source: Source, honour: Honour = Honour()) -> Result:
        """Check a parsed file."""
        try:
            view = self._look(source, self.project)
            found = set(view.findings)
            if self._deep is not None:
                deeper = self._look(source, self._deep)
                deeper.module.settle()
                found = _strongest([*view.findings, *deeper.findings])
            seen = coverage(view, self.judges) if self.counting else Coverage(files=1)
            inventory = tuple(sites(view)) if self.inventory else ()
            drafts = self._drafts(view) if self.fixing else ()
            counted = self._measure(view) if self.measuring else None
            known = facts(view) if self.measuring else None
            view.module.settle()
        except RecursionError:
            return failed(source.path, SourceError("nested too deeply to analyse"))
        kept, hidden = self.sorted_out(source, found, view.stage, honour)
        if drafts:
            kept = with_fixes(kept, drafts, source, self.catalog, self.config.language)
        lines = tuple(source.lines)
        found_in = (tuple(kept), tuple(hidden))
        return Result(
            source.path, *found_in, None, seen, view.stage, lines, inventory, drafts, counted, known
        )

    def _measure(self, view: FileView) -> Features:
        """What the effort model counts in a file."""
        from mindport.effort.features import features
        from mindport.effort.lines import load_model

        return features(view, view.findings, load_model()["words"])

    def sorted_out(
        self, source: Source, found: Iterable[Finding], stage: Stage, honour: Honour = Honour()
    ) -> tuple[list[Finding], list[Finding]]:
        """The findings people see, in order, and those a comment in the source suppresses."""
        visible = [
            finding
            for finding in found
            if self._wanted(stage, finding.severity, finding.confidence, finding.code)
            and not self._ignored(finding.code, source.path)
        ]
        visible.sort(key=_order)
        suppressions = scan(source, noqa=honour.noqa) if visible else Suppressions()
        kept: list[Finding] = []
        hidden: list[Finding] = []
        for finding in visible:
            check = self.catalog.by_code[finding.code]
            keys = (check.code, check.pylint_id, check.name)
            is_hidden = suppressions.hides(keys, finding.line, noqa=honour.noqa, pylint=honour.pylint)
            (hidden if is_hidden else kept).append(finding)
        return kept, hidden

    def _look(self, source: Source, project: Project) -> FileView:
        module = project.module_for(source)
        stage = self.stage(module)
        view = FileView(module, stage, self.catalog, self.config, self.flows)
        if not self.fixing and not self.measuring:  # these count what nobody asks to see as well
            view.wanted = partial(self._wanted, stage)
        self._dispatch(view)
        return view

    def _drafts(self, view: FileView) -> tuple[Draft, ...]:
        """What can be fixed: by enabled checks, not on suppressed lines, not in ignored files."""
        from mindport.fixes.plan import Planner

        source = view.module.source
        frozen = frozen_lines(source, self.catalog.keys)
        starts = Layout(source)
        result = []
        found = [drafted(starts, finding) for finding in view.findings if finding.fix is not None]
        taken = {(draft.code, draft.span) for draft in found}
        for draft in (*found, *(d for d in Planner(view).plan() if (d.code, d.span) not in taken)):
            if draft.code not in self.enabled or self._ignored(draft.code, source.path):
                continue
            if self.catalog.by_code[draft.code].severity.rank < self._least[0]:
                continue
            ranges = [range(starts.place(c.start)[0], starts.place(c.end)[0] + 1) for c in draft.changes]
            if not frozen or not any(line in frozen for lines in ranges for line in lines):
                result.append(draft)
        return tuple(result)

    def _dispatch(self, view: FileView) -> None:
        nodes = view.module.scopes.nodes
        view.uses = [*name_uses(view.module, self.is_framework), *method_uses(view)]
        by_name = self._by_name
        everywhere = [detector for detector in by_name.get("*", ()) if detector.applies(view)]
        by_difference = {
            kind: [detector for detector in detectors if detector.applies(view)]
            for kind, detectors in self._by_difference.items()
        }
        for use in view.uses:
            judging = by_difference.get(difference_of(view, use) or "", ())
            for detector in (*by_name.get(use.name, ()), *everywhere, *judging):
                detector.visit_use(view, use)
        for kind, detectors in self._by_type.items():
            asked = [detector for detector in detectors if detector.applies(view)]
            for node, context in nodes.get(kind, ()) if asked else ():
                for detector in asked:
                    detector.visit(view, node, context)
        for detector in self._finishing:
            detector.finish(view)

    def is_framework(self, name: str) -> bool:
        """Whether a qualified name belongs to torch's or MindSpore's packages."""
        root = name.partition(".")[0]
        return root in self._torch or root in self._mindspore

    def judges(self, name: str) -> bool:
        """Whether the tables say something about a framework's name."""
        return name.partition(".")[0] in self._mindspore or self.catalog.api(name) is not None

    def stage(self, module: Module) -> Stage:
        """The stage of a file, from its imports; guarded imports of torch do not count."""
        torch = mindspore = False
        scopes = [module.scopes.module, *module.scopes.scope_of.values()]
        for scope in scopes:
            for binding in [*(b for found in scope.bindings.values() for b in found), *scope.stars]:
                if binding.kind is not BindingKind.IMPORT or binding.level:
                    continue
                root = binding.target.partition(".")[0]
                guarded = any(arm.guard for arm in binding.context.branch)
                mindspore = mindspore or root in self._mindspore
                torch = torch or (root in self._torch and not guarded)
        if not torch and not mindspore:
            for node, _ in module.classes:
                roots = {name.partition(".")[0] for name in module.ancestry(node).names}
                torch = torch or bool(roots & self._torch)
                mindspore = mindspore or bool(roots & self._mindspore)
        if torch and mindspore:
            return Stage.MIXED
        return Stage.TORCH if torch else Stage.MINDSPORE if mindspore else Stage.NONE

    def _wanted(self, stage: Stage, severity: Severity, confidence: Confidence, code: str) -> bool:
        if severity.rank < self._least[0] or confidence.rank < self._least[1]:
            return False
        return severity is not Severity.INFO or stage is not Stage.TORCH or _asked(code, self.config)

    def _ignored(self, code: str, path: str) -> bool:
        config = self.config
        return any(
            matches_path(path, pattern, config.root) and matches_code(code, codes)
            for pattern, codes in config.per_file_ignores.items()
        )


def _order(finding: Finding) -> tuple[object, ...]:
    span = finding.span
    place = (span.line, span.column, span.end_line, span.end_column)
    return (*place, finding.code, finding.message, finding.confidence.value)


def _strongest(findings: Iterable[Finding]) -> set[Finding]:
    """Each finding once, as sure as the surest analysis found it."""
    best: dict[tuple[str, Span, str], Finding] = {}
    for finding in findings:
        key = (finding.code, finding.span, finding.message)
        known = best.get(key)
        if known is None or known.confidence.rank < finding.confidence.rank:
            best[key] = finding
    return set(best.values())


def with_fixes(
    findings: list[Finding], drafts: Iterable[Draft], source: Source, catalog: Catalog, language: str
) -> list[Finding]:
    """Findings with the fix that stands at their place."""
    from mindport.fixes.apply import SingleFixes, habits_of

    single = SingleFixes(source, habits_of(catalog))
    at = {draft.span: draft for draft in drafts}
    result = []
    for finding in findings:
        draft = at.get(finding.span)
        if draft is not None and finding.fix is None:
            title = finding.suggestion
            finding = replace(finding, fix=single.fix(draft, title))
        result.append(finding)
    return result


def _asked(code: str, config: Config) -> bool:
    """Mechanical renames in a pure torch file are shown only to those who select them by code."""
    return any(s.upper() == "ALL" or (code.startswith(s.upper()) and len(s) >= 4) for s in config.select)


def matches_code(code: str, prefixes: Iterable[str]) -> bool:
    """Whether a code falls under one of the prefixes people write (``MSP``, ``MSP2``, ``MSP201``, ``ALL``)."""
    return any(p.upper() == "ALL" or code.startswith(p.upper()) for p in prefixes)


def is_selected(check: Check, config: Config) -> bool:
    """Whether a check runs: the longest prefix in ``select`` or ``ignore`` decides; off-by-default ones need one."""
    selected = max((len(s) for s in config.select if matches_code(check.code, (s,))), default=0)
    ignored = max((len(s) for s in config.ignore if matches_code(check.code, (s,))), default=0)
    if ignored and ignored >= selected:
        return False
    if config.select:
        return bool(selected) and (check.enabled or selected == len(check.code) or "ALL" in config.select)
    return check.enabled


def matches_path(path: str, pattern: str, root: Path | None = None) -> bool:
    """Whether a displayed path matches a glob: as written, below the configuration's folder, or by name."""
    posix = PurePosixPath(path)
    texts = {path, posix.name}
    if root is not None:
        try:
            texts.add(Path(path).resolve().relative_to(root.resolve()).as_posix())
        except ValueError:
            pass
    pattern = pattern.rstrip("/")
    return any(
        fnmatch.fnmatch(text, pattern)
        or fnmatch.fnmatch(text, f"{pattern}/*")
        or fnmatch.fnmatch(text, f"*/{pattern}/*")
        for text in texts
    )


def display_path(file: Path) -> str:
    """A path as people see it: relative to the current folder where possible, with ``/``."""
    try:
        return Path(os.path.abspath(file)).relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return file.as_posix()


def failed(path: str, error: SourceError) -> Result:
    """The result for a file that could not be checked."""
    return Result(
        path,
        error=FileError(path, error.line, error.column, error.reason),
        coverage=Coverage(files=1, files_failed=1),
    )
