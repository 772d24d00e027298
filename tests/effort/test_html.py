"""The HTML report in real Chromium: rendered, filtered, no console errors, no network."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mindport.cli.main import cli

sys.path.insert(0, str(Path(__file__).parent))
from project import write_project

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))),
    None,
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-features=NetworkTimeServiceQuerying,OptimizationHints,MediaRouter",
    "--disable-sync",
    "--no-first-run",
    "--enable-logging=stderr",
    "--virtual-time-budget=4000",
)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is not installed here (apt-get install chromium)"
)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINDPORT_CACHE_DIR", str(tmp_path / "cache"))
    root = write_project(tmp_path)
    (root / "odd.py").write_text(
        "import torch\nx = torch.load('</script><b>')\ny = torch.nn.CrossEntropyLoss()(x, x)\n",
        encoding="utf-8",
    )
    for kind, name in (("html", "audit.html"), ("json", "audit.json")):
        result = CliRunner().invoke(cli, ["audit", "work", "--output-format", kind, "-o", name])
        assert result.exit_code == 0, result.output
    return tmp_path / "audit.html"


def dom(page: Path, fragment: str = "") -> tuple[str, str, str]:
    """The page after its script ran, what Chromium logged, and the addresses it asked for."""
    assert CHROMIUM is not None
    log = page.with_name("net.json")
    command = [
        CHROMIUM,
        *FLAGS,
        f"--user-data-dir={page.with_name('profile')}",
        f"--log-net-log={log}",
        "--dump-dom",
    ]
    done = subprocess.run(
        [*command, page.as_uri() + fragment], capture_output=True, text=True, check=False, timeout=120
    )
    return done.stdout, done.stderr, log.read_text(encoding="utf-8")


def by_pages(network: str) -> set[str]:
    """Who asked for addresses, Chromium's own services (which have no origin) aside."""
    return set(re.findall(r'"initiator":"([^"]*)"', network)) - {"not an origin"}


@needs_chromium
def test_rendered_with_the_numbers_of_the_json_and_nothing_else(page: Path) -> None:
    body, log, network = dom(page)
    data = json.loads(page.with_name("audit.json").read_text(encoding="utf-8"))
    plain = html.unescape(body)
    assert (
        f"likely {data['person_days']['likely']:.0f}" in plain
        or f"likely {data['person_days']['likely']:.2g}" in plain
    )
    assert f"{len(data['findings'])} of {len(data['findings'])} findings shown" in plain
    assert body.count('class="f"') == min(100, len(data["findings"]))
    assert all(html.escape(file["path"]) in body for file in data["files"] if file["findings"])
    assert "CONSOLE" not in log, log
    assert not by_pages(network)
    control = page.with_name("control.html")
    control.write_text('<img src="http://127.0.0.1:9/x.png">', encoding="utf-8")
    assert by_pages(dom(control)[2])  # a page that asks for something is noticed


@needs_chromium
def test_filters(page: Path) -> None:
    data = json.loads(page.with_name("audit.json").read_text(encoding="utf-8"))
    total = len(data["findings"])
    code = data["findings"][0]["code"]
    wanted = sum(f["code"] == code for f in data["findings"])
    assert 0 < wanted < total
    body, log, _ = dom(page, f"#code={code}")
    assert f"{wanted} of {total} findings shown" in html.unescape(body)
    assert "CONSOLE" not in log, log
    body, _, _ = dom(page, "#q=no+finding+says+this")
    assert f"0 of {total} findings shown" in html.unescape(body)


def test_nothing_in_the_source_ends_the_script(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "</script><b>" not in text
    embedded = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert embedded is not None
    assert json.loads(embedded[1])["rows"]
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
