"""``[tool.mindport]`` in ``pyproject.toml``, validated; the same for every front end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from mindport.catalog.model import DEVICES
from mindport.findings import Confidence, Effort, Severity

VERSIONS = ("2.7", "2.7.0", "2.7.1", "2.8", "2.8.0", "2.9", "2.9.0", "2.10", "2.10.0")
_CHOICES = {
    "device": DEVICES,
    "mode": ("graph", "pynative"),
    "api": ("nn", "mint"),
    "language": ("en", "zh"),
    "mindspore-version": VERSIONS,
    "min-severity": tuple(s.value for s in Severity),
    "min-confidence": tuple(c.value for c in Confidence),
}


class ConfigError(Exception):
    """A wrong setting, said in one line: where, which key, what to do."""


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of a run; see README for each key."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    mindspore_version: str = "2.10"
    device: str = "ascend"
    mode: str = "graph"
    api: str = "nn"
    language: str = "en"
    min_severity: str = "info"
    min_confidence: str = "inferred"
    effort: Mapping[str, Effort] = field(default_factory=dict)
    root: Path | None = None


_KEYS = {f.name.replace("_", "-"): f.name for f in fields(Config) if f.name != "root"}


def find_pyproject(start: Path) -> Path | None:
    """The nearest ``pyproject.toml`` with a ``[tool.mindport]`` table, from a file or folder upwards."""
    folder = start if start.is_dir() else start.parent
    try:
        folder = folder.resolve()
    except (OSError, RuntimeError):
        return None
    for candidate in (folder, *folder.parents):
        file = candidate / "pyproject.toml"
        try:
            if file.is_file() and b"mindport" in file.read_bytes():
                return file
        except OSError:
            continue
    return None


def load_config(start: Path, overrides: Iterable[str] = ()) -> Config:
    """Settings for a path: the nearest ``pyproject.toml``, then ``KEY=VALUE`` overrides (TOML values)."""
    import tomli

    config = Config()
    file = find_pyproject(start)
    if file is not None:
        try:
            data = tomli.loads(file.read_text(encoding="utf-8"))
        except (tomli.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{file}: not valid TOML: {error}") from error
        tool = data.get("tool", {})
        table = tool.get("mindport", {}) if isinstance(tool, dict) else {}
        if not isinstance(table, dict):
            raise ConfigError(f"{file}: tool.mindport must be a table")
        config = replace(apply(config, table, f"{file}: tool.mindport"), root=file.parent)
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise ConfigError(f"--config {override}: write KEY=VALUE, for example --config 'mode=\"graph\"'")
        try:
            table = tomli.loads(f"{key.strip()} = {value}")
        except tomli.TOMLDecodeError:
            try:
                table = tomli.loads(f"{key.strip()} = {_quoted(value)}")
            except tomli.TOMLDecodeError as error:
                raise ConfigError(f"--config {override}: the value is not valid TOML: {error}") from error
        config = apply(config, table, "--config")
    return config


def _quoted(value: str) -> str:
    return '"' + value.strip().replace("\\", "\\\\").replace('"', '\\"') + '"'


def apply(config: Config, table: Mapping[str, Any], where: str) -> Config:
    """Settings with the keys of a table laid over; raises `ConfigError` naming ``where`` and the key."""
    changes: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KEYS:
            raise ConfigError(f"{where}.{key}: unknown key; known keys are {', '.join(sorted(_KEYS))}")
        if key in _CHOICES:
            if value not in _CHOICES[key]:
                raise ConfigError(f"{where}.{key}: {value!r} is not one of {', '.join(_CHOICES[key])}")
            changes[_KEYS[key]] = value
        elif key == "effort":
            changes["effort"] = _efforts(value, f"{where}.effort")
        elif key == "per-file-ignores":
            if not isinstance(value, dict):
                raise ConfigError(f"{where}.{key}: must be a table of pattern = [codes]")
            changes[_KEYS[key]] = {p: _strings(v, f"{where}.{key}.{p}") for p, v in value.items()}
        else:
            changes[_KEYS[key]] = _strings(value, f"{where}.{key}")
    for name in ("select", "ignore"):
        for code in changes.get(name, ()):
            check_code(code, f"{where}.{name}")
    for pattern, codes in changes.get("per_file_ignores", {}).items():
        for code in codes:
            check_code(code, f"{where}.per-file-ignores.{pattern}")
    return replace(config, **changes)


def check_code(code: str, where: str) -> None:
    """Raise `ConfigError` for a code that is no prefix of any check's code."""
    if code.upper() != "ALL" and not re.fullmatch(r"MSP\d{0,3}", code.upper()):
        raise ConfigError(f"{where}: {code!r} is not a code; write MSP, MSP2 or MSP201")


def _strings(value: object, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part for part in re.split(r"[,\s]+", value) if part)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ConfigError(f"{where}: must be a list of texts")


def _efforts(value: object, where: str) -> dict[str, Effort]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: must be a table of severity or code = [low, likely, high]")
    result = {}
    severities = {s.value for s in Severity}
    for key, minutes in value.items():
        if key not in severities and not re.fullmatch(r"MSP\d{3}", key):
            raise ConfigError(f"{where}.{key}: is neither a severity nor a code")
        numbers = isinstance(minutes, list) and all(
            isinstance(m, int | float) and not isinstance(m, bool) for m in minutes
        )
        if not numbers or len(minutes) != 3 or not 0 <= minutes[0] <= minutes[1] <= minutes[2]:
            raise ConfigError(f"{where}.{key}: must be three rising numbers of minutes: [low, likely, high]")
        result[key] = Effort(*minutes)
    return result
