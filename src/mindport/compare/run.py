"""Running both sides, each in a process of its own, and judging what they left."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mindport.compare.job import Job, JobError, Side, side_task, table, write_task
from mindport.compare.judge import Distance, Judge, Verdict

NEEDED = ("numpy", "torch", "mindspore")
TIMEOUT = 1800
"""Seconds one side may take."""


def missing_frameworks() -> list[str]:
    """What has to be installed first."""
    return [name for name in NEEDED if importlib.util.find_spec(name) is None]


def compare(job: Job) -> tuple[Verdict, dict[str, str]]:
    """Run and judge; also the versions that ran. Raises `JobError` when a side leaves nothing."""
    facts = table()
    with tempfile.TemporaryDirectory(prefix="mindport-compare-") as base:
        folder = Path(base)
        original = _side(job, job.original, "torch", "", folder / "torch")
        ports = {}
        for mode in job.modes:
            place = folder / mode
            place.mkdir()
            if "state" in original:
                shutil.copyfile(folder / "torch" / "arrays.npz", place / "state.npz")
                state = {"names": facts["names"], "state": original["state"]}
                (place / "state.json").write_text(json.dumps(state), encoding="utf-8")
                ports[mode] = _side(job, job.port, "mindspore", mode, place)
        measure = _Measure(folder)
        judge = Judge(original, ports, facts, measure, job.tolerance, job.grad_tolerance, job.as_built)
        versions = {"torch": original.get("framework", "")}
        versions["mindspore"] = next((p.get("framework", "") for p in ports.values()), "")
        return judge.verdict(), versions


def _side(job: Job, side: Side, name: str, mode: str, folder: Path) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    write_task(side_task(job, side, mode), folder)
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(p for p in (package, os.environ.get("PYTHONPATH", "")) if p)
    process = subprocess.run(
        [sys.executable, "-m", f"mindport.compare.{name}_side", str(folder)],
        env={"GLOG_v": "3", **os.environ, "PYTHONPATH": path},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    record = folder / "record.json"
    if process.returncode or not record.is_file():
        tail = [line for line in process.stdout.splitlines() if line.strip()][-1:]
        raise JobError(f"the {name} side ended with {process.returncode}: {' '.join(tail)}")
    result: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    return result


class _Measure:
    """Distances between stored arrays."""

    def __init__(self, folder: Path) -> None:
        import numpy as np

        self.np = np
        self.folder = folder
        self.files: dict[str, Any] = {}

    def _load(self, side: str, key: str) -> Any:
        if side not in self.files:
            self.files[side] = self.np.load(self.folder / side / "arrays.npz")
        return self.files[side][key]

    def __call__(self, mode: str, original: str, port: str) -> Distance | None:
        np = self.np
        one, other = self._load("torch", original), self._load(mode, port)
        if one.shape != other.shape:
            if [s for s in one.shape if s != 1] != [s for s in other.shape if s != 1]:
                return None
            other = other.reshape(one.shape)
        if not one.size:
            return Distance(0.0, 0.0)
        one, other = one.astype("float64"), other.astype("float64")
        with np.errstate(invalid="ignore"):
            gap = np.abs(one - other)
        gap[(one == other) | (np.isnan(one) & np.isnan(other))] = 0.0  # equal infinities
        absolute = float(gap.max())
        finite = np.abs(one[np.isfinite(one)])
        largest = float(finite.max()) if finite.size else 0.0
        return Distance(absolute, absolute / largest if largest else (0.0 if absolute == 0 else float("inf")))
