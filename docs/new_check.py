"""Scaffold a check: ``python docs/new_check.py MSP516 my-check-name method-in-class`` writes ``checks/MSP516.toml``."""

from __future__ import annotations

import sys
from pathlib import Path

from mindport.catalog import load_catalog
from mindport.detectors import SHAPES

TEMPLATE = """code = "{code}"
name = "{name}"
severity = "minor"  # blocker, critical, major, minor, info
# effort = [1, 3, 10]  # minutes: low, likely, high

[[detect]]
shape = "{shape}"
{parameters}
{texts}
[[examples]]
kind = "bad"
code = \'\'\'
import mindspore as ms

TODO = 1  # expect: {code}
\'\'\'
proof = {{ run = "result = ...", fails = "part of the error message", modes = ["graph"] }}

[[examples]]
kind = "good"
code = \'\'\'
import mindspore as ms
\'\'\'
proof = {{ run = "result = ms.Tensor(1.0)", torch = "expected = torch.tensor(1.0)" }}

[[examples]]
kind = "near-miss"
note = "what looks alike and must stay quiet"
code = \'\'\'
import mindspore as ms
\'\'\'
proof = {{ unproven = "the reason" }}
"""
TEXT = """
[{language}]
title = "TODO"
message = "TODO, placeholders: {placeholders}"
suggestion = "TODO"
what = "TODO"
why = "TODO"
fix = "TODO"
"""


def scaffold(code: str, name: str, shape: str) -> str:
    """The text of a new check; raises ValueError with what is wrong with the request."""
    catalog = load_catalog()
    if code in catalog.by_code or name.upper() in catalog.by_key:
        raise ValueError(f"{code} or {name} is already taken")
    if shape not in SHAPES:
        raise ValueError(f"unknown shape {shape}; known: {', '.join(sorted(SHAPES))}")
    cls = SHAPES[shape]
    parameters = "".join(
        f"{'' if required else '# '}{key} = TODO\n" for key, (_, required) in cls.parameters.items()
    )
    shown = ", ".join(f"{{{p}}}" for p in sorted(cls.placeholders))
    texts = "".join(TEXT.format(language=language, placeholders=shown) for language in ("en", "zh"))
    return TEMPLATE.format(code=code, name=name, shape=shape, parameters=parameters, texts=texts)


def main() -> int:
    """Write the file and say what to do next."""
    if len(sys.argv) != 4:
        print("usage: python docs/new_check.py CODE name-of-check shape")
        return 2
    file = Path(__file__).resolve().parent.parent / "checks" / f"{sys.argv[1]}.toml"
    try:
        text = scaffold(*sys.argv[1:])
    except ValueError as error:
        print(f"new_check: {error}")
        return 2
    file.write_text(text, encoding="utf-8")
    print(
        f"wrote {file.name}: fill it in, then run `python -m pytest tests/test_examples.py` and docs/build.py"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
