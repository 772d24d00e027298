"""``mindport audit --calibrate RECORDS``: the model refitted from a team's own ports."""

from __future__ import annotations

import json
from pathlib import Path

from mindport.effort.calibrate import Example, refit


def calibrate(file: Path) -> str:
    """The refitted tables as TOML, with what they were fitted on.

    RECORDS has one JSON object a line: ``before`` and ``after``, a torch file or folder and its port, relative to
    RECORDS, and ``days``, the person-days it took (or null where only lines are known).
    """
    from mindport.config import Config, ConfigError
    from mindport.effort.collect import collect
    from mindport.engine import Engine
    from mindport.files import find_files

    engine = Engine(Config(min_confidence="possible"), measuring=True)
    examples: list[Example] = []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            before, after = file.parent / entry["before"], file.parent / entry["after"]
            days = None if entry.get("days") is None else float(entry["days"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"{file}:{number}: write an object with before, after and days: {error}"
            ) from error
        for path in (before, after):
            if not path.exists():
                raise ConfigError(f"{file}:{number}: {path}: no such file or folder")
        if before.is_dir() != after.is_dir():
            raise ConfigError(f"{file}:{number}: before and after must both be files or both be folders")
        found = [item for item in find_files([str(before)]) if isinstance(item, Path)]
        pairs = [(f, after / f.relative_to(before) if before.is_dir() else after) for f in found]
        records = [(collect(engine, one), one, other) for one, other in pairs]
        examples.append(Example(str(entry["before"]), tuple(records), days))
    return refit(examples, engine.catalog)
