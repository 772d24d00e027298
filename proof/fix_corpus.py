"""Fix whole packages in memory: every result parses, fixing it again changes nothing, silenced lines stay.

``python proof/fix_corpus.py FOLDER... [--every N] [--api nn|mint] [--single]``: folders of unpacked packages (facts/corpora.md says
which). ``--every N`` takes each N-th file only. Needs neither torch nor MindSpore.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

from mindport.catalog import load_catalog
from mindport.config import Config
from mindport.engine import Engine
from mindport.fixes.apply import Fixed, fix_bytes
from mindport.fixes.layout import Layout
from mindport.source.suppressions import frozen_lines
from mindport.source.text import decode, from_text

_BLANKET = re.compile(r"#\s*noqa(?!:)", re.IGNORECASE)


def problems(engine: Engine, file: Path) -> tuple[list[str], Fixed]:
    """What is wrong with fixing a file; nothing, normally."""
    data = file.read_bytes()
    first = fix_bytes(engine, data, file.as_posix(), file, unsafe=True)
    if first.result.error is not None:
        try:
            ast.parse(data)
        except SyntaxError:
            return [], first
        return [f"cannot be checked: {first.result.error.reason}"], first
    found = []
    try:
        ast.parse(first.after)
    except SyntaxError as error:
        return [f"does not parse: {error}"], first
    second = fix_bytes(engine, first.after.encode(first.encoding), file.as_posix(), file, unsafe=True)
    if second.after != first.after:
        found.append("a second run changes it again")
    source = from_text(file.as_posix(), first.before, file)
    kept = Counter(first.after.split("\n"))
    for number in frozen_lines(source, load_catalog().keys):
        if not kept[source.lines[number - 1]]:
            found.append(f"line {number} is silenced and changed")
    return found, first


def broken_alone(engine: Engine, file: Path) -> list[str]:
    """The fixes of single findings, as JSON gives them, whose result does not parse."""
    result = engine.check_file(file)
    source = from_text(file.as_posix(), decode(file.read_bytes()), file)
    layout = Layout(source)
    found = []
    for finding in result.findings:
        text = source.text
        for edit in sorted(finding.fix.edits if finding.fix else (), key=lambda e: e.span, reverse=True):
            start, end = layout.range_of(edit.span)
            text = text[:start] + edit.text + text[end:]
        try:
            ast.parse(text)
        except SyntaxError as error:
            found.append(f"line {finding.line} {finding.code}: the single fix does not parse: {error}")
    return found


def main() -> int:
    """Print each problem, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--api", default="nn")
    parser.add_argument("--single", action="store_true", help="apply each finding's own fix alone, too")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    engine = Engine(Config(api=options.api, select=("ALL",) if options.single else ()), fixing=True)
    failed = 0
    for folder in options.folders:
        files = sorted(folder.rglob("*.py"))[:: options.every]
        started = time.perf_counter()
        changed = places = left = bad = 0
        for file in files:
            try:
                found, fixed = problems(engine, file)
                if options.single:
                    found += broken_alone(engine, file)
            except Exception as error:
                found, fixed = [f"{type(error).__name__}: {error}"], None
            bad += bool(found)
            for text in found:
                print(f"FAILED {file}: {text}", flush=True)
            if fixed is not None and fixed.changed:
                changed, places = changed + 1, places + fixed.count
                left += bool(re.search(r"^\s*(import|from) torch\b", fixed.after, re.MULTILINE))
        seconds = time.perf_counter() - started
        print(
            f"{folder.name}: {len(files)} files, {changed} changed at {places} places, {left} of them still "
            f"import torch, {bad} with problems, {seconds:.0f} s"
        )
        failed += bad
    print(f"{'FAILED' if failed else 'ok'}: {failed} files with problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
