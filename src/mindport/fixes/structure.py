"""``forward`` becomes ``construct`` in every class that will be a Cell, and where it is called by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mindport.findings import Applicability
from mindport.fixes.draft import Change

if TYPE_CHECKING:
    from mindport.fixes.plan import Planner


def plan(planner: Planner) -> None:
    """Add the drafts for the methods that checks of the shape ``method-in-class`` know by another name."""
    for check in planner.catalog.checks:
        for detection in check.detections:
            if detection.shape == "method-in-class" and "counterpart" in detection.parameters:
                _rename(planner, check.code, detection.parameters)


def _rename(planner: Planner, code: str, parameters: object) -> None:
    assert hasattr(parameters, "get")
    base = str(parameters.get("base", ""))
    old, new = str(parameters["method"]), str(parameters["counterpart"])  # type: ignore[index]
    names = planner.catalog.sets.get(base.removeprefix("@"), frozenset())
    module = planner.view.module
    for node, context in module.classes:
        methods = module.methods(node)
        function = methods.get(old)
        if function is None or new in methods or module.guarded(context):
            continue
        if module.ancestry(node).any_of(names) is None:
            continue
        span = module.source.name_span(function)
        start, end = planner.layout.range_of(span)
        if planner.layout.text[start:end] == old:
            planner.add(code, span, Applicability.UNSAFE, [Change(start, end, (new,))])
