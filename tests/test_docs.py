"""The documentation is what the catalogue says."""

from __future__ import annotations

import importlib.util
import re

from conftest import ROOT

from mindport.catalog import load_catalog


def test_generated_pages_are_in_sync():
    spec = importlib.util.spec_from_file_location("build", ROOT / "docs" / "build.py")
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    for name, text in build.pages().items():
        file = ROOT / "docs" / name
        assert file.is_file(), f"{name} is missing: run python docs/build.py"
        assert file.read_text(encoding="utf-8") == text, f"{name} is stale: run python docs/build.py"


def test_codes_named_in_prose_exist():
    codes = {check.code for check in load_catalog().checks}
    for file in (ROOT / "README.md", ROOT / "README.zh.md", ROOT / "docs" / "field-report.md"):
        named = set(re.findall(r"MSP\d{3}", file.read_text(encoding="utf-8")))
        assert named <= codes, f"{file.name}: {named - codes}"


def test_readmes_name_the_same_commands():
    def commands(name):
        return re.findall(
            r"^(?:mindport|tox|flake8|pylint) .*$", (ROOT / name).read_text(encoding="utf-8"), re.M
        )

    assert commands("README.md")
    assert commands("README.md") == commands("README.zh.md")


def test_the_example_shows_what_the_readme_says():
    from mindport.config import Config
    from mindport.engine import Engine

    result = Engine(Config()).check_file(ROOT / "docs" / "example" / "classifier.py")
    found = {finding.code for finding in result.findings}
    assert found == {"MSP101", "MSP102", "MSP201", "MSP301", "MSP501"}


def test_scaffold_writes_what_the_loader_can_read(tmp_path):
    import tomli

    spec = importlib.util.spec_from_file_location("new_check", ROOT / "docs" / "new_check.py")
    new_check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(new_check)
    from mindport.detectors import SHAPES

    for shape in SHAPES:
        text = new_check.scaffold("MSP998", "brand-new-check", shape)
        data = tomli.loads(text.replace(" = TODO\n", ' = "TODO"\n'))
        assert data["code"] == "MSP998"
        assert {example["kind"] for example in data["examples"]} == {"bad", "good", "near-miss"}
    for bad in (
        ("MSP101", "other-name", "named-use"),
        ("MSP998", "forward-in-cell", "named-use"),
        ("MSP998", "a-b", "x"),
    ):
        try:
            new_check.scaffold(*bad)
        except ValueError:
            continue
        raise AssertionError(bad)
