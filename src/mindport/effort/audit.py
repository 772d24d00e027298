"""The audit of a project: records of its files to one document, the same for every report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mindport.catalog import Catalog
from mindport.config import Config
from mindport.effort import order
from mindport.effort.days import MINDSPORE, Estimate, assumptions, difference_of, estimate
from mindport.effort.imports import Imports
from mindport.effort.lines import NONE, Lines, load_model, predict
from mindport.effort.record import Record
from mindport.findings import Severity

PHASES = ("components", "training", "distributed")


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything known about a project. ``records`` are sorted by path and have their predicted lines."""

    records: Sequence[Record]
    estimate: Estimate
    order: order.Order
    imports: Mapping[str, tuple[str, ...]]
    catalog: Catalog
    config: Config
    people: int
    small: bool

    @property
    def lines(self) -> Lines:
        """Lines touched in all files; deviations of single files partly cancel out."""
        from mindport.effort.days import combine

        return combine(
            [r.lines for r in self.records if r.lines.high > 0], float(assumptions()["correlation"])
        )


def build(records: Iterable[Record], catalog: Catalog, config: Config, people: int = 1) -> Audit:
    """Predict lines, days and order for the records of a project."""
    model = load_model()
    found = sorted(records, key=lambda record: record.path)
    small = sum(record.code for record in found) < int(model["small_below"])
    found = [
        replace(r, lines=predict(r.features, model, small=small) if r.features is not None else NONE)
        if r.stage != "mindspore"
        else replace(r, lines=NONE)
        for r in found
    ]
    path_of = {record.real: record.path for record in found}
    resolver = Imports(path_of)
    imports: dict[str, tuple[str, ...]] = {}
    for index, record in enumerate(found):
        files, packages = resolver.of(record.real, record.imports)
        imports[record.path] = tuple(sorted(path_of[file] for file in files))
        found[index] = replace(record, packages=tuple(sorted(packages.items())))
    estimated = estimate(found, catalog, config.api, assumptions())
    # A ported file touches no lines any more, and may still have findings to deal with.
    work = [r.path for r in found if r.lines.likely > 0 or estimated.per_file.get(r.path, NONE).likely > 0]
    return Audit(
        found,
        estimated,
        order.order(imports, work),
        imports,
        catalog,
        config,
        people,
        small,
    )


def lines_object(lines: Lines, digits: int = 1) -> dict[str, float]:
    """A range: P20, P50 and P80."""
    return {side: round(getattr(lines, side), digits) for side in ("low", "likely", "high")}


def headline(lines: Lines) -> dict[str, float]:
    """A headline range, to two significant digits."""
    from mindport.effort.days import rounded

    return {side: rounded(getattr(lines, side)) for side in ("low", "likely", "high")}


def counted(items: Iterable[str]) -> dict[str, int]:
    """How often each item comes, most often first."""
    return dict(sorted(Counter(items).items(), key=lambda pair: (-pair[1], pair[0])))


def differences(audit: Audit) -> dict[str, int]:
    """Sites per difference class."""
    found: Counter[str] = Counter()
    for task in audit.estimate.tasks:
        if task.id.startswith("class-") and task.count:
            found[task.id.removeprefix("class-")] = task.count
    return dict(found)


def file_object(audit: Audit, record: Record) -> dict[str, Any]:
    """One file of the report."""
    severities = Counter(finding.severity.value for finding in record.findings)
    return {
        "path": record.path,
        "kind": record.kind,
        "stage": record.stage,
        "code_lines": record.code,
        "lines_touched": lines_object(record.lines),
        "person_days": lines_object(audit.estimate.per_file.get(record.path, NONE), 3),
        "findings": dict(sorted(severities.items())),
        "wave": audit.order.wave.get(record.path),
        "imports": sorted(audit.imports.get(record.path, ())),
    }


def _file_days(audit: Audit, paths: Iterable[str]) -> Lines:
    total = NONE
    for path in paths:
        total = total + audit.estimate.per_file.get(path, NONE)
    return total


def waves(audit: Audit) -> list[dict[str, Any]]:
    """Which files come in which wave, and their effort."""
    members: dict[int, list[str]] = defaultdict(list)
    for path, wave in audit.order.wave.items():
        members[wave].append(path)
    by_path = {record.path: record for record in audit.records}
    return [
        {
            "wave": wave,
            "files": sorted(members[wave]),
            "lines_touched": round(sum(by_path[p].lines.likely for p in members[wave]), 1),
            "person_days": lines_object(_file_days(audit, members[wave]), 2),
        }
        for wave in sorted(members)
    ]


def calendar_object(audit: Audit) -> dict[str, Any]:
    """Working days until the end for a number of people: waves in parallel, fixed tasks shared out after them."""
    members: dict[int, list[str]] = defaultdict(list)
    for path, wave in audit.order.wave.items():
        members[wave].append(path)
    fixed = [task.days for task in audit.estimate.tasks if task.fixed]
    total = audit.estimate.total
    result = {}
    for side in ("low", "likely", "high"):
        costs = [
            [getattr(audit.estimate.per_file.get(p, NONE), side) for p in members[wave]]
            for wave in sorted(members)
        ]
        costs.append([getattr(days, side) for days in fixed])
        alone = sum(map(sum, costs)) or 1.0
        result[side] = getattr(total, side) * order.calendar(costs, audit.people) / alone
    return {"people": audit.people, "working_days": headline(Lines(**result))}


def phase_of(audit: Audit, record: Record) -> str:
    """Single components first, then what trains, then what is distributed."""
    names = {name for name, _ in record.apis}
    by_id = {task["id"]: tuple(task["names"]) for task in assumptions()["task"]}
    if any(name == s or name.startswith(f"{s}.") for name in names for s in by_id["distributed"]):
        return "distributed"
    training = (*by_id["accuracy"], *by_id["data"])
    if record.kind == "script" or any(n == s or n.startswith(f"{s}.") for n in names for s in training):
        return "training"
    return "components"


def phases(audit: Audit) -> list[dict[str, Any]]:
    """The effort of each phase of the port."""
    found: dict[str, list[Record]] = {phase: [] for phase in PHASES}
    for record in audit.records:
        if record.lines.likely > 0:
            found[phase_of(audit, record)].append(record)
    return [
        {
            "phase": phase,
            "files": len(chosen),
            "lines_touched": round(sum(r.lines.likely for r in chosen), 1),
            "person_days": lines_object(_file_days(audit, (r.path for r in chosen)), 2),
        }
        for phase, chosen in found.items()
    ]


def first_model(audit: Audit) -> dict[str, Any] | None:
    """The shortest path to one model that runs: the model file that needs the least together with its imports."""
    cost = {
        r.path: audit.estimate.per_file.get(r.path, NONE).likely for r in audit.records if r.lines.likely > 0
    }
    models = [r.path for r in audit.records if r.modules and r.path in cost and _named(r.path)]
    found = order.cheapest(audit.imports, cost, models)
    if found is None:
        return None
    model, files = found
    return {"model": model, "files": files, "person_days": lines_object(_file_days(audit, files), 2)}


def _named(path: str) -> bool:
    """A test or a package's ``__init__`` is no model."""
    name = path.rpartition("/")[2]
    return not name.startswith(("test_", "__init__")) and "/tests/" not in f"/{path}"


def apis(audit: Audit) -> list[dict[str, Any]]:
    """The framework's names the project uses, most used first, with what MindSpore has instead."""
    count: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for record in audit.records:
        for name, number in record.apis:
            if name.partition(".")[0] != MINDSPORE:
                count[name] += number
                files[name] += 1
    result = []
    for name, number in sorted(count.items(), key=lambda pair: (-pair[1], pair[0])):
        row = audit.catalog.api(name)
        target = row.preferred(audit.config.api) if row is not None else None
        result.append(
            {
                "name": name,
                "count": number,
                "files": files[name],
                "difference": difference_of(audit.catalog, name, audit.config.api),
                "target": (target.name or target.template or None) if target is not None else None,
                "note": row.notes.get(audit.config.language, "") if row is not None else "",
            }
        )
    return result


def blockers(audit: Audit) -> list[dict[str, Any]]:
    """Names without counterpart, and checks that say a file cannot run, with where they are."""
    result: list[dict[str, Any]] = []
    routes = [route["id"] for route in assumptions()["route"]]
    where: dict[str, list[str]] = defaultdict(list)
    for record in audit.records:
        for name, _ in record.apis:
            where[name].append(record.path)
    for api in apis(audit):
        if api["difference"] == "missing":
            result.append(
                {
                    "kind": "api",
                    "name": api["name"],
                    "code": None,
                    "message": api["note"],
                    "count": api["count"],
                    "files": where[api["name"]],
                    "routes": routes,
                }
            )
    found: dict[str, list[Any]] = defaultdict(list)
    for record in audit.records:
        for finding in record.findings:
            if finding.severity is Severity.BLOCKER:
                found[finding.code].append(finding)
    for code, group in sorted(found.items()):
        check = audit.catalog.by_code[code]
        result.append(
            {
                "kind": "check",
                "name": check.name,
                "code": code,
                "message": check.text(audit.config.language).title,
                "count": len(group),
                "files": sorted({finding.path for finding in group}),
                "routes": routes,
            }
        )
    return result


def third_party(audit: Audit) -> list[dict[str, Any]]:
    """Other packages: what the assumptions know about their risk; the standard library is no risk."""
    import sys

    frameworks = audit.catalog.concepts.get("frameworks", {})
    own = {name for names in frameworks.values() for name in names} | {""}
    known: Mapping[str, Any] = assumptions()["packages"]
    count: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for record in audit.records:
        for name, number in record.packages:
            if name not in sys.stdlib_module_names and name not in own:
                count[name] += number
                files[name] += 1
    rank = {"high": 0, "medium": 1, "low": 2, "none": 3}
    rows = [
        {
            "package": name,
            "risk": str(known.get(name, {}).get("risk", "none")),
            "ported": str(known.get(name, {}).get("ported", "")),
            "imports": number,
            "files": files[name],
        }
        for name, number in count.items()
    ]
    return sorted(rows, key=lambda row: (rank[str(row["risk"])], -int(str(row["imports"])), row["package"]))


def cell_of(record: Record, line: int) -> tuple[int, int] | None:
    """The 1-based cell of a notebook and the line inside it."""
    best = None
    for cell, first in record.cells:
        if first <= line:
            best = cell, line - first + 1
    return best
