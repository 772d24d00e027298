"""flake8, pylint and the command line on published sources: same code at the same place.

``python proof/corpus.py FOLDER [--sample N]`` downloads the wheels of torchvision, timm, mindcv and mindone into
FOLDER (once), and compares the front ends on all files, or on N evenly spaced ones of each. A wheel that cannot be
had is named and skipped. Nothing of it is kept in the repository.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import zipfile
from pathlib import Path

WHEELS = ("torchvision==0.20.1", "timm==1.0.12", "mindcv==0.3.0", "mindone==0.5.0")
Place = tuple[str, int, int, str]


def unpack(requirement: str, folder: Path) -> Path | None:
    """The unpacked wheel, downloaded when it is not there yet; None when it cannot be had."""
    target = folder / requirement.partition("==")[0]
    if target.is_dir():
        return target
    wheels = folder / "wheels"
    command = [
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--python-version",
        "3.11",
    ]
    done = subprocess.run(
        [sys.executable, *command, "--dest", str(wheels), requirement],
        capture_output=True,
        text=True,
        check=False,
    )
    found = sorted(wheels.glob(f"{target.name}-*.whl"))
    if not found:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        print(f"{requirement}: skipped, the wheel cannot be downloaded: {reason}")
        return None
    with zipfile.ZipFile(found[0]) as archive:
        archive.extractall(target, [n for n in archive.namelist() if n.endswith(".py")])
    return target


def run(folder: Path, *arguments: str) -> str:
    """The output of a tool run on a folder."""
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def front_ends(folder: Path, files: list[str]) -> dict[str, set[Place]]:
    """What each front end reports on the files."""
    command = json.loads(run(folder, "mindport", "check", *files, "--output-format", "json"))
    ours = {(f["path"], f["line"], f["column"], f["code"]) for f in command["findings"]}
    flake = set()
    options = ("--isolated", "--select=MSP", "--format=%(path)s|%(row)d|%(col)d|%(code)s")
    for line in run(folder, "flake8", *options, *files).splitlines():
        path, row, column, code = line.split("|")
        flake.add((path.removeprefix("./"), int(row), int(column) - 1, code))
    names = ",".join(
        row["name"] for row in json.loads(run(folder, "mindport", "checks", "--output-format", "json"))
    )
    output = run(
        folder,
        "pylint",
        "--rcfile=",
        "--load-plugins=mindport.pylint",
        "--disable=all",
        f"--enable={names}",
        "--output-format=json2",
        *files,
    )
    lint = {
        (m["path"], m["line"], m["column"], f"MSP{m['messageId'][2:]}")
        for m in json.loads(output)["messages"]
    }
    return {"command": ours, "flake8": flake, "pylint": lint}


def main() -> int:
    """Compare and print one line per project."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sample", type=int, default=0, help="files of each project (0: all)")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    passed = failed = 0
    for requirement in WHEELS:
        folder = unpack(requirement, options.folder)
        if folder is None:
            continue
        files = [f.relative_to(folder).as_posix() for f in sorted(folder.rglob("*.py"))]
        step = max(1, len(files) // options.sample) if options.sample else 1
        found = front_ends(folder, files[::step])
        agree = found["command"] == found["pylint"] and found["flake8"] <= found["pylint"]
        same = found["flake8"] == found["command"]
        passed, failed = passed + agree, failed + (not agree)
        print(
            f"{requirement}: {len(files[::step])} files, {len(found['command'])} findings; "
            f"command == pylint, flake8 a subset: {agree}; flake8 the same: {same}"
        )
        for name, places in found.items():
            for place in sorted(places ^ found["command"])[:5]:
                print(f"  only {'in' if place in places else 'not in'} {name}: {place}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
