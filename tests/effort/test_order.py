"""Order of work: waves, cycles, the cheapest model, the calendar."""

from __future__ import annotations

import pytest

from mindport.effort.order import calendar, cheapest, needed, order
from mindport.reports.treemap import treemap

IMPORTS = {
    "net": ["block", "util", "outside"],
    "block": ["util"],
    "util": [],
    "a": ["b"],
    "b": ["a", "block"],
    "small": [],
}


def test_leaves_first_and_files_without_work_take_no_wave() -> None:
    found = order(IMPORTS, ["net", "block", "a", "b"])
    assert found.wave == {"block": 1, "net": 2, "a": 2, "b": 2}
    assert found.groups == [("a", "b")]


def test_cycles_need_each_other() -> None:
    assert needed(IMPORTS, "a") == {"a", "b", "block", "util"}


def test_the_cheapest_model_counts_what_it_imports() -> None:
    cost = {"net": 1.0, "block": 5.0, "small": 4.0, "util": 0.0}
    assert cheapest(IMPORTS, cost, ["net", "block", "small"]) == ("small", ["small"])
    assert cheapest(IMPORTS, cost, ["net"]) == ("net", ["block", "net"])
    assert cheapest(IMPORTS, cost, []) is None


@pytest.mark.parametrize(("people", "days"), [(1, 10.0), (2, 5.0), (9, 5.0)])
def test_waves_wait_for_each_other(people: int, days: float) -> None:
    assert calendar([[3.0, 2.0, 1.0], [2.0, 2.0]], people) == pytest.approx(days)


def test_areas_are_values_and_stay_inside() -> None:
    values = {f"p/{folder}/f{i}.py": float(i + 1) for folder in "abc" for i in range(9)}
    boxes = [box for box in treemap(values, 800, 400) if box.group]
    assert sum(box.width * box.height for box in boxes) == pytest.approx(800 * 400)
    assert all(box.x >= -1e-6 and box.x + box.width <= 800.001 for box in treemap(values, 800, 400))
    assert {box.name for box in treemap(values, 800, 400) if not box.group} == set(values)
    assert treemap({}, 800, 400) == []
