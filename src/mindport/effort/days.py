"""From lines touched and findings to person-days: assumptions from ``checks/effort/days.toml``, combined into a range."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Any

import tomli

from mindport.catalog import Catalog
from mindport.catalog.load import checks_directory
from mindport.effort.lines import Lines
from mindport.effort.record import Record
from mindport.findings import Confidence, Effort, Finding, Severity

MINDSPORE = "mindspore"
API_FAMILY = "4"
"""Checks of this family say about names what the difference classes say: they are not counted twice."""


@cache
def assumptions() -> Mapping[str, Any]:
    """The table of assumptions."""
    return tomli.loads((checks_directory() / "effort" / "days.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Task:
    """A part of the work: its range in person-days, and where it is spent. ``fixed`` tasks are spent once."""

    id: str
    days: Lines
    fixed: bool
    count: int
    shares: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """All tasks, the range of their sum (P20, P50, P80), and the likely days per file."""

    tasks: tuple[Task, ...]
    total: Lines
    per_file: Mapping[str, Lines]


def estimate(records: Sequence[Record], catalog: Catalog, api: str, table: Mapping[str, Any]) -> Estimate:
    """The person-days of a project. ``api``: which MindSpore side decides how much a name differs."""
    minutes = [
        *_classes(records, catalog, api, table),
        *_findings(records, table),
        *_rest(records, catalog, api, table),
        *_verification(records, table),
    ]
    day = 60.0 * float(table["hours"])
    factor = float(table["scale"]) / day
    tasks = [Task(t.id, _times(t.days, factor), False, t.count, t.shares) for t in minutes]
    tasks += _fixed(records, table)
    tasks = [task for task in tasks if task.days.high > 0]
    total = combine([task.days for task in tasks], float(table["correlation"]))
    return Estimate(tuple(tasks), total, _per_file(tasks, float(table["correlation"])))


def combine(parts: Iterable[Lines], correlation: float) -> Lines:
    """The range of a sum: likely values add, deviations partly cancel out."""
    found = list(parts)
    likely = sum(part.likely for part in found)

    def width(values: list[float]) -> float:
        together, apart = sum(values) ** 2, sum(v * v for v in values)
        return sqrt(correlation * together + (1 - correlation) * apart)

    low = width([part.likely - part.low for part in found])
    high = width([part.high - part.likely for part in found])
    return Lines(max(0.0, likely - low), likely, likely + high)


def drivers(tasks: Iterable[Task]) -> list[tuple[Task, float]]:
    """What makes the range wide: tasks by their share of the squared upper deviation, largest first."""
    found = list(tasks)
    weights = [(task.days.high - task.days.likely) ** 2 for task in found]
    total = sum(weights) or 1.0
    return sorted(
        ((t, w / total) for t, w in zip(found, weights, strict=True)), key=lambda p: (-p[1], p[0].id)
    )


def rounded(value: float) -> float:
    """One or two significant digits: nobody knows more."""
    return float(f"{value:.2g}")


def difference_of(catalog: Catalog, name: str, api: str) -> str:
    """The difference class of a torch name: how its use changes."""
    row = catalog.api(name)
    target = row.preferred(api) if row is not None else None
    return target.difference.value if target is not None else "unknown"


def _times(lines: Lines, factor: float) -> Lines:
    return Lines(lines.low * factor, lines.likely * factor, lines.high * factor)


def _range(values: Sequence[float], factor: float = 1.0) -> Lines:
    low, likely, high = (float(v) * factor for v in values)
    return Lines(low, likely, high)


def _classes(
    records: Sequence[Record], catalog: Catalog, api: str, table: Mapping[str, Any]
) -> Iterable[Task]:
    """Per difference class: each name once for the first time, all further sites as repeats."""
    names: dict[str, Counter[str]] = defaultdict(Counter)
    shares: dict[str, Counter[str]] = defaultdict(Counter)
    maybe: dict[str, int] = Counter()
    sure = _memo(lambda name: difference_of(catalog, name, api))
    for record in records:
        for name, count in record.apis:
            if name.partition(".")[0] != MINDSPORE:
                names[sure(name)][name] += count
                shares[sure(name)][record.path] += count
        for name, count in record.maybe:
            if name.partition(".")[0] != MINDSPORE:
                maybe[sure(name)] += count
    for label, cost in table["classes"].items():
        found = names.get(label, Counter())
        sites = sum(found.values())
        repeats = max(0, sites - len(found)) ** float(table["exponent"])
        first, repeat = _range(cost["first"], len(found)), _range(cost["repeat"], repeats)
        high = first.high + repeat.high + cost["repeat"][2] * maybe.get(label, 0) ** float(table["exponent"])
        if sites or high:
            days = Lines(first.low + repeat.low, first.likely + repeat.likely, high)
            yield Task(f"class-{label}", days, False, sites, dict(shares.get(label, {})))


def _findings(records: Sequence[Record], table: Mapping[str, Any]) -> Iterable[Task]:
    """Per check outside the API tables: its own minutes, repeats sub-linear; possible findings widen the high end."""
    by_code: dict[str, list[tuple[str, Finding]]] = defaultdict(list)
    for record in records:
        for finding in record.findings:
            if finding.code[3] != API_FAMILY and finding.severity is not Severity.INFO:
                by_code[finding.code].append((record.path, finding))
    for code, found in sorted(by_code.items()):
        certain = [f.effort for _, f in found if f.confidence is not Confidence.POSSIBLE]
        unsure = [f.effort for _, f in found if f.confidence is Confidence.POSSIBLE]
        sure = _repeated(certain, table)
        high = sure.high + _repeated(unsure, table).high
        shares = Counter(path for path, _ in found)
        yield Task(code, Lines(sure.low, sure.likely, high), False, len(found), dict(shares))


def _repeated(efforts: Sequence[Effort], table: Mapping[str, Any]) -> Lines:
    if not efforts:
        return Lines(0.0, 0.0, 0.0)
    factor = len(efforts) ** float(table["exponent"]) / len(efforts)
    low, likely, high = (sum(getattr(e, side) for e in efforts) for side in ("low", "likely", "high"))
    return Lines(low * factor, likely * factor, high * factor)


def _rest(records: Sequence[Record], catalog: Catalog, api: str, table: Mapping[str, Any]) -> Iterable[Task]:
    """Touched lines beyond the sites counted above: at a rate per line."""
    changing = _memo(lambda name: difference_of(catalog, name, api) != "same")
    shares: dict[str, float] = {}
    low = likely = high = 0.0
    for record in records:
        sites = sum(count for name, count in record.apis if changing(name))
        rest = [
            max(0.0, lines - sites) for lines in (record.lines.low, record.lines.likely, record.lines.high)
        ]
        low, likely, high = low + rest[0], likely + rest[1], high + rest[2]
        if rest[1]:
            shares[record.path] = rest[1]
    cost = table["line"]
    if high:
        # The spread of single files cancels out in the sum; the rate's own spread does not.
        yield Task(
            "lines", Lines(likely * cost[0], likely * cost[1], likely * cost[2]), False, round(likely), shares
        )


def _verification(records: Sequence[Record], table: Mapping[str, Any]) -> Iterable[Task]:
    modules = {r.path: float(r.modules) for r in records if r.modules and r.lines.likely > 0}
    count = sum(modules.values())
    if count:
        repeats = count ** float(table["verify"]["exponent"])
        yield Task("verify", _range(table["verify"]["minutes"], repeats), False, round(count), modules)
    scripts = {r.path: 1.0 for r in records if r.kind == "script" and r.lines.likely > 0}
    if scripts:
        repeats = len(scripts) ** float(table["verify"]["exponent"])
        yield Task("scripts", _range(table["script"], repeats), False, len(scripts), scripts)


def _fixed(records: Sequence[Record], table: Mapping[str, Any]) -> Iterable[Task]:
    """Tasks done once, triggered by names, packages or words the code uses."""
    if not any(record.lines.likely > 0 for record in records):
        return
    for task in table["task"]:
        starts = tuple(task["names"])
        packages = frozenset(task.get("packages", ()))
        hits: Counter[str] = Counter()
        for record in records:
            count = sum(n for name, n in record.apis if _under(name, starts))
            count += sum(n for name, n in record.packages if name in packages)
            if count:
                hits[record.path] = count
        if hits or not starts:
            yield Task(f"task-{task['id']}", _range(task["days"]), True, sum(hits.values()), dict(hits))


def _under(name: str, starts: Sequence[str]) -> bool:
    return any(name == start or name.startswith(f"{start}.") for start in starts)


def _per_file(tasks: Iterable[Task], correlation: float) -> Mapping[str, Lines]:
    """The days of each file: its share of every task that is not fixed."""
    parts: dict[str, list[Lines]] = defaultdict(list)
    for task in tasks:
        total = sum(task.shares.values())
        if task.fixed or not total:
            continue
        for path, share in task.shares.items():
            parts[path].append(_times(task.days, share / total))
    return {path: combine(found, correlation) for path, found in parts.items()}


def _memo(function: Callable[[str], Any]) -> Callable[[str], Any]:
    known: dict[str, Any] = {}

    def remembered(name: str) -> Any:
        if name not in known:
            known[name] = function(name)
        return known[name]

    return remembered
