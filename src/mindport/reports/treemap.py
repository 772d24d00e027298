"""A treemap: rectangles whose areas are values, as square as possible, grouped by folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle. ``group``: a folder's frame, else one file."""

    name: str
    value: float
    x: float
    y: float
    width: float
    height: float
    group: bool = False


Area = tuple[float, float, float, float]
HEADER = 14.0
"""Room for a folder's name."""


def treemap(values: Mapping[str, float], width: float, height: float) -> list[Box]:
    """Boxes for files by path: each folder a frame, its files inside; values must not be negative."""
    cut = _common(list(values))
    folders: dict[str, dict[str, float]] = defaultdict(dict)
    for path, value in values.items():
        if value > 0:
            folders[path[: len(cut)] + _folder(path[len(cut) :])][path] = value
    totals = {folder: sum(files.values()) for folder, files in folders.items()}
    result: list[Box] = []
    for folder, (x, y, w, h) in _squarify(totals, (0.0, 0.0, width, height)).items():
        result.append(Box(folder, totals[folder], x, y, w, h, True))
        inner = (x + 1, y + HEADER, w - 2, h - HEADER - 1) if h > 2 * HEADER and w > 40 else (x, y, w, h)
        for path, (fx, fy, fw, fh) in _squarify(folders[folder], inner).items():
            result.append(Box(path, folders[folder][path], fx, fy, fw, fh))
    return result


def _common(paths: Sequence[str]) -> str:
    """The folder all paths are in."""
    if not paths:
        return ""
    low, high = min(paths), max(paths)
    count = next(
        (i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high))
    )
    return low[: low.rfind("/", 0, count) + 1]


def _folder(path: str) -> str:
    """The first folders of a path: enough to tell parts of a project apart."""
    parts = path.split("/")[:-1]
    return "/".join(parts[:2]) + "/" if parts else ""


def _squarify(values: Mapping[str, float], area: Area) -> dict[str, Area]:
    """Lay rows along the shorter side; a row is closed when one more item would make it less square."""
    items = sorted(((v, k) for k, v in values.items() if v > 0), key=lambda p: (-p[0], p[1]))
    total = sum(value for value, _ in items)
    x, y, width, height = area
    result: dict[str, Area] = {}
    if not items or width <= 0 or height <= 0:
        return result
    scale = width * height / total
    row: list[tuple[float, str]] = []
    for value, key in [(v * scale, k) for v, k in items]:
        side = min(width, height)
        if row and _worst([*(v for v, _ in row), value], side) > _worst([v for v, _ in row], side):
            x, y, width, height = _place(row, (x, y, width, height), result)
            row = []
        row.append((value, key))
    _place(row, (x, y, width, height), result)
    return result


def _worst(row: Sequence[float], side: float) -> float:
    total = sum(row)
    if total <= 0 or side <= 0:
        return float("inf")
    return max(side * side * max(row) / (total * total), total * total / (side * side * min(row)))


def _place(row: Sequence[tuple[float, str]], area: Area, result: dict[str, Area]) -> Area:
    x, y, width, height = area
    total = sum(value for value, _ in row)
    wide = width >= height
    side = height if wide else width
    depth = total / side if side > 0 else 0.0
    at = y if wide else x
    for value, key in row:
        length = value / depth if depth > 0 else 0.0
        result[key] = (x, at, depth, length) if wide else (at, y, length, depth)
        at += length
    if wide:
        return x + depth, y, max(0.0, width - depth), height
    return x, y + depth, width, max(0.0, height - depth)
