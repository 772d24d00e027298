"""The review: aligned classes, layers, calls and signatures, and where the port silently differs."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from mindport.catalog import Catalog, Check, load_catalog
from mindport.config import Config
from mindport.detectors.base import FileView, Stage
from mindport.engine import Engine, Result, display_path, failed
from mindport.findings import Confidence, Coverage, Span
from mindport.review.align import Pair, Pairs, inner_calls, layers_of, pair_classes, pair_functions
from mindport.review.calls import Gap, Judge, Rules
from mindport.semantics.module import Module
from mindport.semantics.scopes import Context, NamedFunction, parameter_defaults
from mindport.source import text as source_text
from mindport.source.text import SourceError

ALIKE = 0.6
"""Functions whose calls agree less than this (share of names, 0 to 1) do different things: nothing to compare."""
MAX_NEW = 2
"""An original with more parameters than this that the port lacks is taken for another version."""
_Called = tuple[ast.Call, Context]


class Reviewer:
    """Reviews pairs of files with one catalogue and configuration."""

    def __init__(self, config: Config, catalog: Catalog | None = None) -> None:
        self.catalog = catalog or load_catalog()
        self.config = config
        self.engine = Engine(config, self.catalog)
        self.theirs = Engine(config, self.catalog)
        self.checks: dict[str, tuple[Check, dict[str, object]]] = {
            detection.shape.removeprefix("review-"): (check, dict(detection.parameters))
            for check in self.catalog.checks
            for detection in check.detections
            if detection.shape.startswith("review-") and check.code in self.engine.enabled
        }
        argument = self.checks.get("argument")
        parameters = argument[1] if argument else {}
        self.judge = Judge(self.catalog, _rules(parameters))

    def review(self, pairs: Pairs) -> list[Result]:
        """Review the pairs of two files or trees; unusable files are results that say so."""
        failures = [Result(error.path, error=error, coverage=Coverage(1, 1)) for error in pairs.errors]
        return [*failures, *(self.review_pair(pair) for pair in pairs.pairs)]

    def review_pair(self, pair: Pair) -> Result:
        """Review one file."""
        shown = display_path(pair.port)
        try:
            source = source_text.from_text(shown, _text(pair.port), pair.port)
        except SourceError as error:
            return failed(shown, error)
        try:
            other = source_text.from_text(display_path(pair.original), _text(pair.original), pair.original)
        except SourceError as error:
            return failed(display_path(pair.original), error)
        port = self.engine.project.module_for(source)
        original = self.theirs.project.module_for(other)
        stage = Stage.MINDSPORE
        view = FileView(port, stage, self.catalog, self.config, self.engine.flows)
        review = _Review(self, view, original)
        review.run()
        kept, hidden = self.engine.sorted_out(source, set(view.findings), stage)
        port.settle()
        original.settle()
        lines = tuple(source.lines)
        seen = Coverage(1, 0, review.sites, review.sites, review.judged)
        return Result(shown, tuple(kept), tuple(hidden), None, seen, stage, lines)


def _rules(parameters: Mapping[str, Any]) -> Rules:
    return Rules(
        frozenset(parameters.get("ignored", ())),
        tuple(parameters.get("same", ())),
        dict(parameters.get("inverse", {})),
        frozenset(parameters.get("complement", ())),
        frozenset(parameters.get("lost", ())),
        dict(parameters.get("padding", {})),
    )


def _text(file: Path) -> str:
    return source_text.decode(source_text.read_bytes(file))


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Two calls side by side: their names, whether a row of the tables joins them, and where they differ."""

    torch: str | None
    port: str | None
    judged: bool
    gaps: tuple[Gap, ...]


class _Review:
    """One pair of files."""

    def __init__(self, reviewer: Reviewer, view: FileView, original: Module) -> None:
        self.judge = reviewer.judge
        self.checks = reviewer.checks
        self.view = view
        self.port = view.module
        self.original = original
        self._counted: set[ast.Call] = set()
        self._verdicts: dict[tuple[ast.Call, ast.Call], _Verdict] = {}
        self.sites = self.judged = 0  # pairs of calls that stand for each other, and those the tables judge
        self._by_line = {id(m): _calls_of(m) for m in (self.port, original)}
        self._attributes = {id(m): _attributes(m) for m in (self.port, original)}

    def run(self) -> None:
        """Report everything."""
        seen: set[ast.Call] = set()
        for port, original in pair_classes(self.port, self.original):
            self._layers(port, original, seen)
            self._initialisation(port, original)
        for name, port_function, original_function in pair_functions(self.port, self.original):
            self._defaults(name, port_function, original_function)
            self._calls(name, port_function, original_function, seen)

    # --- layers ----------------------------------------------------------------------------------------

    def _layers(self, port: ast.ClassDef, original: ast.ClassDef, seen: set[ast.Call]) -> None:
        ours, theirs = layers_of(self.port, port), layers_of(self.original, original)
        common = [name for name in theirs if name in ours]
        for name in common:
            if not self._same_order(ours[name], theirs[name]):
                continue  # which is which, nobody can tell
            for (call, context), (other, other_context) in zip(ours[name], theirs[name], strict=True):
                mine, yours = inner_calls(self.port, call), inner_calls(self.original, other)
                if len(mine) != len(yours):
                    mine, yours = mine[:1], yours[:1]
                for one, two in zip(mine, yours, strict=True):
                    seen.add(one)
                    self._compare(f"{port.name}.{name}", (one, context), (two, other_context))
        self._missing(port, original, len(common))

    def _same_order(self, ours: list[_Called], theirs: list[_Called]) -> bool:
        """Whether an attribute that is stored several times gets the same kinds of layers in the same order."""
        if len(ours) == len(theirs) == 1:
            return True
        names = [self.judge.port_name(self.port, *called) for called in ours]
        mine = [self.judge.key(name) if name else "" for name in names]
        yours = [self.judge.torch_name(self.original, *called) or "" for called in theirs]
        return "" not in mine and mine == [name.rpartition(".")[2].lower() for name in yours]

    def _missing(self, port: ast.ClassDef, original: ast.ClassDef, common: int) -> None:
        check = self.checks.get("missing-layer")
        if check is None:
            return
        ours = set(self.port.self_attributes(port)) | set(self.port.methods(port))
        theirs = layers_of(self.original, original)
        gone = []
        for name, calls in theirs.items():
            call, context = calls[0]
            torch = self.judge.torch_name(self.original, call, context)
            row = self.view.catalog.api(torch) if torch is not None else None
            if name not in ours and row is not None and row.kind == "class" and torch in self._layer_names:
                gone.append((name, call))
        if not gone or len(gone) > common or not self.port.ancestry(port).complete:
            return
        text = ast.dump(port)
        for name, call in gone:
            if f"'{name}'" not in text:
                self._report(
                    "missing-layer", self.port.source.name_span(port), Confidence.INFERRED, name, call, {}
                )

    @property
    def _layer_names(self) -> frozenset[str]:
        return self.view.catalog.sets["module"]

    # --- calls -----------------------------------------------------------------------------------------

    def _calls(self, name: str, port: NamedFunction, original: NamedFunction, seen: set[ast.Call]) -> None:
        owner = name.rpartition(".")[0]
        ours = self._by_key(self.port, port, owner)
        theirs = self._by_key(self.original, original, owner)
        if _likeness(ours, theirs) < ALIKE:
            return
        for key, mine in ours.items():
            yours = theirs.get(key, [])
            if len(mine) != len(yours):
                continue  # which is which, nobody can tell
            pairs = [(one, two) for one, two in zip(mine, yours, strict=True) if one[0] not in seen]
            seen.update(one[0] for one in mine)
            self._group(name, pairs)

    def _group(self, name: str, pairs: list[tuple[_Called, _Called]]) -> None:
        """Calls of one name in one function: a single one differs, or all do alike; else the order may differ."""
        found = [(self._verdict(one, two).gaps, one, two) for one, two in pairs]
        different = [(gaps, one, two) for gaps, one, two in found if gaps]
        alike = len({tuple(map(repr, gaps)) for gaps, _, _ in different}) == 1
        if len(different) == 1 or (alike and len(different) == len(found)):
            for _, one, two in different:
                self._compare(name, one, two)

    def _by_key(self, module: Module, function: NamedFunction, owner: str) -> dict[str, list[_Called]]:
        is_port = module is self.port
        name_of = self.judge.port_name if is_port else self.judge.torch_name
        result: dict[str, list[_Called]] = {}
        for call, context in self._inside(module, function):
            if not self._is_alone(module, call, owner):
                known = name_of(module, call, context)
                if known is not None:
                    key = self.judge.key(known) if is_port else known.rpartition(".")[2].lower()
                    result.setdefault(key, []).append((call, context))
        return result

    def _inside(self, module: Module, function: NamedFunction) -> list[_Called]:
        """The calls in a function, in source order."""
        lines = (function.lineno, function.end_lineno or function.lineno)
        found = self._by_line[id(module)]
        start = bisect_left(found, lines[0], key=_line)
        end = bisect_right(found, lines[1], key=_line)
        return found[start:end]

    def _is_alone(self, module: Module, call: ast.Call, owner: str) -> bool:
        """Whether a call makes an attribute of ``self`` that the other side does not have at all."""
        statement = module.scopes.parents.get(call)
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
            return False
        other = self.original if module is self.port else self.port
        return statement.targets[0].attr not in self._attributes[id(other)].get(owner, frozenset())

    def _verdict(self, ours: _Called, theirs: _Called) -> _Verdict:
        """What the tables say of two calls; each pair is looked at once, and counted by the port's call."""
        call, other = ours[0], theirs[0]
        known = self._verdicts.get((call, other))
        if known is not None:
            return known
        torch = self.judge.torch_name(self.original, *theirs)
        port = self.judge.port_name(self.port, *ours)
        target = self.judge.target(torch, port) if torch is not None and port is not None else None
        if call not in self._counted:
            self._counted.add(call)
            self.sites += 1
            self.judged += target is not None
        gaps: tuple[Gap, ...] = ()
        if torch is not None and target is not None:
            gaps = tuple(self.judge.gaps(torch, target, (self.original, *theirs), (self.port, *ours)))
        result = self._verdicts[call, other] = _Verdict(torch, port, target is not None, gaps)
        return result

    def _compare(self, name: str, ours: _Called, theirs: _Called) -> None:
        verdict = self._verdict(ours, theirs)
        torch, port, gaps, other = verdict.torch, verdict.port, verdict.gaps, theirs[0]
        if torch is None or port is None:
            return
        span = self.port.source.span(ours[0])
        if not verdict.judged:
            if self.judge.is_other(torch, port):
                found = {"actual": port, "wanted": torch}
                self._report("other-layer", span, Confidence.INFERRED, name, other, found)
        elif gaps:
            found = {
                "parameter": ", ".join(gap.parameter for gap in gaps),
                "actual": ", ".join(f"{gap.parameter}={gap.actual!r}" for gap in gaps),
                "wanted": ", ".join(f"{gap.parameter}={gap.wanted!r}" for gap in gaps),
            }
            sure = reduce(Confidence.weaker, (gap.sure for gap in gaps))
            self._report("argument", span, sure, name, other, found)

    # --- signatures and initialisation -----------------------------------------------------------------

    def _defaults(self, name: str, port: NamedFunction, original: NamedFunction) -> None:
        check = self.checks.get("default")
        if check is None:
            return
        ignored = check[1].get("ignored", ())
        assert isinstance(ignored, list | tuple)
        ours, theirs = parameter_defaults(port.args), parameter_defaults(original.args)
        if len(theirs.keys() - ours.keys()) > MAX_NEW:
            return  # the original of another version, whose parameters may mean something else
        for parameter, default in ours.items():
            other = theirs.get(parameter)
            if other is None or parameter in ignored:
                continue
            if not isinstance(default, ast.Constant) or not isinstance(other, ast.Constant):
                continue
            one, two = default.value, other.value
            if None in (one, two) or (type(one) is not type(two) and not _numbers(one, two)):
                continue
            if one != two:
                found = {"parameter": parameter, "actual": repr(one), "wanted": repr(two)}
                span = self.port.source.span(default)
                self._report("default", span, Confidence.CERTAIN, name, other, found)

    def _initialisation(self, port: ast.ClassDef, original: ast.ClassDef) -> None:
        check = self.checks.get("initialisation")
        if check is None:
            return
        prefix = str(check[1].get("prefix", ""))
        ours = self.port.methods(port)
        for name, method in self.original.methods(original).items():
            uses = [
                call
                for call, context in self._inside(self.original, method)
                if (self.judge.torch_name(self.original, call, context) or "").startswith(prefix)
            ]
            if not uses or name == "__init__":
                continue
            mine = ours.get(name)
            empty = mine is not None and not any(
                isinstance(n, ast.Call) for s in mine.body for n in ast.walk(s)
            )
            if empty and mine is not None:
                span = self.port.source.name_span(mine)
                self._report("initialisation", span, Confidence.INFERRED, f"{port.name}.{name}", uses[0], {})

    # --- reporting -------------------------------------------------------------------------------------

    def _report(
        self, shape: str, span: Span, sure: Confidence, name: str, other: ast.expr, found: dict[str, str]
    ) -> None:
        entry = self.checks.get(shape)
        if entry is None:
            return
        source = self.original.source
        line = source.lines[other.lineno - 1].strip()
        values = {
            "name": name,
            "parameter": "",
            "actual": "",
            "wanted": "",
            **found,
            "original": f"{source.path}:{other.lineno}: {line}",
        }
        self.view.report(entry[0], span, sure, values)


def _calls_of(module: Module) -> list[_Called]:
    found = [(c, x) for c, x in module.scopes.nodes.get(ast.Call, ()) if isinstance(c, ast.Call)]
    return sorted(found, key=lambda item: (item[0].lineno, item[0].col_offset))


def _line(item: _Called) -> int:
    return item[0].lineno


def _numbers(one: object, two: object) -> bool:
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in (one, two))


def _attributes(module: Module) -> dict[str, frozenset[str]]:
    return {node.name: frozenset(module.self_attributes(node)) for node, _ in module.classes}


def _likeness(ours: dict[str, list[_Called]], theirs: dict[str, list[_Called]]) -> float:
    """The share of calls, by name, that both functions make."""
    both = sum(min(len(ours[key]), len(theirs[key])) for key in ours.keys() & theirs.keys())
    return 2 * both / max(1, sum(map(len, ours.values())) + sum(map(len, theirs.values())))
