"""Compare what the analysis says of method receivers with what they were at run time.

``python proof/receivers.py FOLDER RECORD.json [--list]``: FOLDER holds the unpacked wheel that ``proof/record.py`` ran.
Prints, over the executed sites: how many of the Tensor receivers were found (``certain`` or ``inferred``), how many of
those said to be Tensors were, and what the others were taken for. Exits with 1 below 90 % found or 99 % right.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from click.testing import CliRunner

from mindport.cli.main import cli

FOUND, RIGHT = 0.90, 0.99
Key = tuple[str, int, int, str]


def inventory(folder: Path) -> dict[Key, dict[str, object]]:
    """The sites of a folder by where their attribute ends."""
    with tempfile.TemporaryDirectory() as work:
        out = Path(work) / "sites.jsonl"
        result = CliRunner().invoke(
            cli, ["check", str(folder), "--sites", str(out), "--exit-zero", "--output-format", "jsonl"]
        )
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        sites: dict[Key, dict[str, object]] = {}
        for line in out.read_text(encoding="utf-8").splitlines():
            site = json.loads(line)
            path = Path(site["path"]).resolve().relative_to(folder.resolve()).as_posix()
            sites[path, site["end_line"], site["end_column"], site["attribute"]] = site
        return sites


def compare(folder: Path, record: Path, show: bool) -> bool:
    """Print the figures of one package; whether they reach what is promised."""
    sites = inventory(folder)
    tensors = found = said = right = absent = 0
    table: Counter[tuple[str, str]] = Counter()
    misses: list[str] = []
    wrong: list[str] = []
    for path, line, column, attribute, kinds in json.loads(record.read_text(encoding="utf-8")):
        if attribute == "?":
            continue
        site = sites.get((path, line, column, attribute))
        if site is None:
            absent += 1
            continue
        most = max(kinds, key=kinds.get)
        sure = site["confidence"] in ("certain", "inferred")
        claim = str(site["receiver"]) if sure and site["receiver"] else "unknown"
        table[most, claim] += 1
        is_tensor = "tensor" in kinds
        tensors += is_tensor
        found += is_tensor and claim == "tensor"
        said += claim == "tensor"
        right += is_tensor and claim == "tensor"
        if show and is_tensor and claim != "tensor":
            misses.append(f"missed {path}:{line}:{column} .{attribute} taken for {claim} {kinds}")
        if show and claim == "tensor" and not is_tensor:
            wrong.append(f"wrong {path}:{line}:{column} .{attribute} was {kinds}")
    print("\n".join([*misses, *wrong]))
    print(
        f"{record.stem}: {tensors} Tensor receivers executed, {found} found = {found / max(1, tensors):.1%}"
    )
    print(
        f"{record.stem}: {said} said to be Tensors, {right} were = {right / max(1, said):.2%}; {absent} sites not in the inventory"
    )
    for (was, claim), count in table.most_common(24):
        print(f"  {was:10} taken for {claim:10} {count}")
    return found >= FOUND * tensors and right >= RIGHT * said


def main() -> int:
    """Compare the packages given as FOLDER RECORD pairs."""
    arguments = [a for a in sys.argv[1:] if a != "--list"]
    pairs = zip(arguments[::2], arguments[1::2], strict=True)
    good = [compare(Path(folder), Path(record), "--list" in sys.argv) for folder, record in pairs]
    return 0 if all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main())
