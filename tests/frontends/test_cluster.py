"""A Dask cluster of two local worker processes; one is killed midway and nothing is lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

distributed = pytest.importorskip("distributed", reason="the extra [cluster] is not installed")

from mindport.cli.cluster import spread  # noqa: E402
from mindport.cli.parallel import Ways  # noqa: E402
from mindport.cli.running import Plan, Product, check_files, look_at_files  # noqa: E402
from mindport.config import Config, ConfigError  # noqa: E402
from mindport.engine import Engine, display_path  # noqa: E402

BAD = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def forward(self, x):\n        return x\n"
COUNT = 12


@pytest.fixture
def cluster(tmp_path):
    for index in range(COUNT):
        (tmp_path / f"m{index:02}.py").write_text(BAD)
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(host="127.0.0.1", silence_logs=50, **options) as made:
        yield made


def look_and_die(engine: Engine, file: Path) -> list[str]:
    """Checks a file; the process that meets the marked file first is killed, as by the system."""
    marker = Path("killed")
    if file.name == "m05.py" and not marker.exists():
        marker.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return [file.name, *(finding.code for finding in engine.check_file(file, display_path(file)).findings)]


def test_a_killed_worker_loses_nothing(cluster, monkeypatch):
    monkeypatch.setattr("mindport.cli.running.CHUNK_FILES", 1)
    monkeypatch.setattr("mindport.cli.running.CHUNK_BYTES", 1)
    files = sorted(Path.cwd().glob("*.py"))
    product = Product("test", look_and_die, lambda made: None, lambda value, file: value)
    plan = Plan(cache=False, dask=cluster.scheduler_address)
    seen = list(look_at_files(product, files, Engine(Config()), Ways(), plan))
    assert Path("killed").read_text().isdigit()
    assert sorted(seen) == [[file.name, "MSP101"] for file in files]


def test_a_cluster_and_this_process_say_the_same_also_in_a_second_run(cluster):
    files = [Path(f"m{index:02}.py") for index in range(COUNT)]

    def found(plan: Plan) -> list[tuple[str, list[str]]]:
        results = check_files(files, Engine(Config()), Ways(), plan)
        return sorted((result.path, [f.code for f in result.findings]) for result in results)

    far = Plan(cache=False, dask=cluster.scheduler_address)
    assert found(far) == found(Plan(cache=False))
    files[0].write_text("x = 1\n")  # a worker must not remember the project of an earlier run
    assert found(far) == found(Plan(cache=False))


def test_no_scheduler_is_said_in_one_line(monkeypatch):
    with pytest.raises(ConfigError, match="no scheduler answers there"):
        list(spread("tcp://127.0.0.1:9", [], None, timeout=1))
