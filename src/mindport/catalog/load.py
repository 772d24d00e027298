"""Reading ``checks/``: every mistake is reported with file, key and reason.

The parsed tables are cached as JSON in the user's cache folder, keyed by the names, sizes and times of the
TOML files, because parsing them at each start would cost more than checking a file. Without a writable cache
folder everything works, only slower.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NoReturn

from mindport import __version__
from mindport.catalog.model import (
    DEVICES,
    LANGUAGES,
    ApiRow,
    Check,
    Detection,
    Difference,
    Example,
    ExampleKind,
    Proof,
    Target,
    Text,
)
from mindport.findings import DEFAULT_EFFORT, Effort, Severity

EXPECT = re.compile(r"#\s*expect:\s*(?P<codes>MSP\d{3}(?:\s*,\s*MSP\d{3})*)")
_CODE = re.compile(r"MSP[1-9]\d\d")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")


class CatalogError(Exception):
    """A mistake in a TOML file: which file, which key, and what is wrong."""

    def __init__(self, file: str, key: str, reason: str) -> None:
        super().__init__(f"{file}: {key}: {reason}" if key else f"{file}: {reason}")
        self.file = file
        self.key = key
        self.reason = reason


def checks_directory() -> Path:
    """Where the tables lie: beside the package in a wheel, in the repository in an editable install."""
    package = Path(__file__).resolve().parent.parent
    shipped = package / "checks"
    return shipped if shipped.is_dir() else package.parent.parent / "checks"


@dataclass(frozen=True)
class Catalog:
    """All checks and tables. ``checks`` is ordered by code; ``apis`` maps torch names to rows."""

    checks: tuple[Check, ...]
    raw_apis: Mapping[str, Mapping[str, Any]]
    concepts: Mapping[str, Any]

    @cached_property
    def by_code(self) -> Mapping[str, Check]:
        """Checks by code."""
        return {check.code: check for check in self.checks}

    @cached_property
    def by_key(self) -> Mapping[str, Check]:
        """Checks by every name people use: code, pylint id, symbol (upper case)."""
        return {
            key.upper(): check for check in self.checks for key in (check.code, check.pylint_id, check.name)
        }

    @cached_property
    def keys(self) -> frozenset[str]:
        """All the names of `by_key`."""
        return frozenset(self.by_key)

    @cached_property
    def sets(self) -> Mapping[str, frozenset[str]]:
        """The named sets of qualified names from ``concepts.toml``."""
        return {name: frozenset(values) for name, values in self.concepts.get("sets", {}).items()}

    def canonical(self, name: str) -> str:
        """The public name of an external thing (``torch.nn.modules.conv.Conv2d`` -> ``torch.nn.Conv2d``)."""
        known = self._canonical.get(name)
        if known is None:
            aliases = self.concepts.get("aliases", {})
            known = self.concepts.get("names", {}).get(name)
            if known is None:  # a module keeps its name: what follows may need it whole
                known = name if name in aliases else self._shorten(name)
            self._canonical[name] = known
        return known

    def _shorten(self, name: str) -> str:
        aliases = self.concepts.get("aliases", {})
        prefix, _, rest = name.rpartition(".")
        while prefix:
            public = aliases.get(prefix)
            if public is not None:
                return self.canonical(f"{public}.{rest}") if public != prefix else name
            prefix, _, head = prefix.rpartition(".")
            rest = f"{head}.{rest}"
        return name

    @cached_property
    def _canonical(self) -> dict[str, str]:
        return {}

    @cached_property
    def api_names(self) -> tuple[str, ...]:
        """The names of all rows, other spellings left out, in order."""
        return tuple(sorted(name for name, raw in self.raw_apis.items() if raw["name"] == name))

    def api(self, name: str) -> ApiRow | None:
        """The row of a torch name or of another spelling of it, or None."""
        rows = self._rows
        if name not in rows:
            raw = self.raw_apis.get(name)
            rows[name] = None if raw is None else _row(raw["name"], raw)
        return rows[name]

    @cached_property
    def _rows(self) -> dict[str, ApiRow | None]:
        return {}


def load_catalog(directory: Path | None = None, *, examples: bool = False) -> Catalog:
    """Load and validate ``checks/``; raises `CatalogError`. ``examples`` are left out unless asked for."""
    if directory is None:
        return _installed(examples)
    return _build(_parse_directory(directory), examples)


@cache
def _installed(examples: bool) -> Catalog:
    directory = checks_directory()
    files = _files(directory)
    stamp = [__version__, [[str(f), f.stat().st_size, f.stat().st_mtime_ns] for f in files]]
    store = _cache_file()
    raw: dict[str, Any] | None = None
    if not examples and store is not None:
        try:
            data = json.loads(store.read_bytes())
            raw = data["raw"] if data.get("stamp") == stamp else None
        except (OSError, ValueError, KeyError, AttributeError):
            raw = None
    if raw is not None:
        return _build(raw, examples, trusted=True)
    raw = _parse_directory(directory)
    catalog = _build(raw, examples)
    if not examples and store is not None:
        slim = {
            **raw,
            "checks": {k: {**v, "examples": []} for k, v in raw["checks"].items()},
            "apis": {n: {k: v for k, v in r.items() if k not in _PROOF_ONLY} for n, r in raw["apis"].items()},
        }
        _write_quietly(store, json.dumps({"stamp": stamp, "raw": slim}, separators=(",", ":")))
    return catalog


_PROOF_ONLY = {"samples", "setup"}
"""What only the proof reads; left out of the cache."""


def cache_folder() -> Path | None:
    """Where mindport keeps what it can compute again; None where that is switched off or there is no place."""
    if os.environ.get("MINDPORT_NO_CACHE"):
        return None
    base = os.environ.get("MINDPORT_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    try:
        root = Path(base) if base else Path.home() / ".cache"
    except RuntimeError:  # no home folder
        return None
    return root / "mindport"


def _cache_file() -> Path | None:
    folder = cache_folder()
    return folder / "catalog.json" if folder is not None else None


def _write_quietly(file: Path, text: str) -> None:
    temporary = file.with_suffix(f".{os.getpid()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(file)
    except OSError:
        return


def _files(directory: Path) -> list[Path]:
    return sorted([*directory.glob("*.toml"), *directory.glob("api/*.toml")])


def _parse_directory(directory: Path) -> dict[str, Any]:
    import tomli

    raw: dict[str, Any] = {"checks": {}, "apis": {}, "concepts": {}}
    files = _files(directory)
    if not files:
        raise CatalogError(str(directory), "", "no TOML file found; is mindport installed completely?")
    for file in files:
        try:
            data = tomli.loads(file.read_text(encoding="utf-8"))
        except (tomli.TOMLDecodeError, UnicodeDecodeError) as error:
            raise CatalogError(file.name, "", f"not valid TOML: {error}") from error
        if file.parent.name == "api":
            _merge_table(raw["apis"], data, f"api/{file.name}")
        elif file.name.startswith("concepts"):
            for key, value in data.items():
                raw["concepts"].setdefault(key, {}).update(value)
        else:
            raw["checks"][file.name] = data
    return raw


def _merge_table(apis: dict[str, Any], data: dict[str, Any], file: str) -> None:
    namespace = data.pop("namespace", None)
    if not isinstance(namespace, str) or not namespace:
        raise CatalogError(file, "namespace", "missing: the torch namespace all rows belong to")
    for key, row in data.items():
        if not isinstance(row, dict):
            raise CatalogError(file, key, "is not a table")
        name = f"{namespace}.{key}"
        if name in apis and apis[name]["name"] == name:  # another row's spelling gives way to a row
            raise CatalogError(file, key, f"{name} already has a row in {apis[name]['file']}")
        apis[name] = {**row, "file": file, "name": name}
        for alias in row.get("aliases", []):
            apis.setdefault(alias, apis[name])


def _build(raw: Mapping[str, Any], examples: bool, *, trusted: bool = False) -> Catalog:
    checks: dict[str, Check] = {}
    names: dict[str, str] = {}
    for file, data in raw["checks"].items():
        check = _check(file, data, examples, trusted)
        if check.code in checks:
            raise CatalogError(file, "code", f"{check.code} is already taken")
        if check.name in names:
            raise CatalogError(file, "name", f"{check.name} is already taken by {names[check.name]}")
        checks[check.code] = check
        names[check.name] = check.code
    if not trusted:
        for row in raw["apis"].values():
            _row(row["name"], row)
    ordered = tuple(checks[code] for code in sorted(checks))
    return Catalog(ordered, raw["apis"], raw["concepts"])


# --- checks ---------------------------------------------------------------------------------------------

_CHECK_KEYS = {
    "code",
    "name",
    "severity",
    "before-port",
    "severity-on",
    "effort",
    "enabled",
    "detect",
    "en",
    "zh",
    "examples",
}
_TEXT_KEYS = {"title", "message", "suggestion", "what", "why", "fix"}
_EXAMPLE_KEYS = {"kind", "code", "note", "proof", "original"}
_PROOF_KEYS = {"run", "fails", "torch", "differs", "modes", "unproven"}


def _fail(file: str, key: str, reason: str) -> NoReturn:
    raise CatalogError(file, key, reason)


def _keys(file: str, where: str, data: Mapping[str, Any], allowed: Iterable[str]) -> None:
    known = set(allowed)
    for key in data:
        if key not in known:
            _fail(file, f"{where}{key}", f"unknown key; known are {', '.join(sorted(known))}")


def _string(file: str, data: Mapping[str, Any], key: str, where: str = "") -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value.strip():
        _fail(file, f"{where}{key}", "missing or not a text")
    return value.strip()


def _severity(file: str, key: str, value: object) -> Severity:
    try:
        return Severity(value)
    except ValueError:
        _fail(file, key, f"unknown severity {value!r}; known are {', '.join(s.value for s in Severity)}")


def _severity_on(file: str, value: object) -> dict[str, Severity]:
    if not isinstance(value, dict):
        _fail(file, "severity-on", "must be a table of devices and severities")
    _keys(file, "severity-on.", value, DEVICES)
    return {device: _severity(file, f"severity-on.{device}", severity) for device, severity in value.items()}


def _effort(file: str, key: str, value: object) -> Effort:
    if (
        isinstance(value, list)
        and len(value) == 3
        and all(isinstance(v, int | float) for v in value)
        and 0 <= value[0] <= value[1] <= value[2]
    ):
        return Effort(*value)
    _fail(file, key, "must be three rising numbers of minutes: [low, likely, high]")


def _check(file: str, data: Mapping[str, Any], examples: bool, trusted: bool) -> Check:
    if not trusted:
        _keys(file, "", data, _CHECK_KEYS)
    code, name = _string(file, data, "code"), _string(file, data, "name")
    if not _CODE.fullmatch(code):
        _fail(file, "code", f"{code!r} is not MSP and three digits")
    if not _NAME.fullmatch(name):
        _fail(file, "name", f"{name!r} must be two or more lower-case words joined by dashes")
    severity = _severity(file, "severity", data.get("severity"))
    before = data.get("before-port")
    effort = data.get("effort")
    detect = data.get("detect")
    if not isinstance(detect, list) or not detect:
        _fail(file, "detect", "missing: at least one [[detect]] table with a shape")
    detections = tuple(
        Detection(
            _string(file, item, "shape", f"detect[{i}]."), {k: v for k, v in item.items() if k != "shape"}
        )
        for i, item in enumerate(detect)
    )
    texts = {language: _text(file, language, data.get(language)) for language in LANGUAGES}
    shown = () if trusted else tuple(_examples(file, code, data.get("examples", [])))
    return Check(
        code,
        name,
        severity,
        None if before is None else _severity(file, "before-port", before),
        _severity_on(file, data.get("severity-on", {})),
        DEFAULT_EFFORT[severity] if effort is None else _effort(file, "effort", effort),
        bool(data.get("enabled", True)),
        detections,
        texts,
        shown if examples else (),
    )


def _text(file: str, language: str, data: object) -> Text:
    if not isinstance(data, dict):
        _fail(file, language, "missing: every check has English and Chinese text")
    _keys(file, f"{language}.", data, _TEXT_KEYS)
    return Text(**{key: _string(file, data, key, f"{language}.") for key in sorted(_TEXT_KEYS)})


def _examples(file: str, code: str, data: object) -> Iterable[Example]:
    if not isinstance(data, list):
        _fail(file, "examples", "must be an array of tables")
    kinds = set()
    for index, item in enumerate(data):
        where = f"examples[{index}]."
        _keys(file, where, item, _EXAMPLE_KEYS)
        try:
            kind = ExampleKind(item.get("kind"))
        except ValueError:
            _fail(file, f"{where}kind", f"{item.get('kind')!r} is not bad, good or near-miss")
        kinds.add(kind)
        source = item.get("code")
        if not isinstance(source, str):
            _fail(file, f"{where}code", "missing or not a text")
        expected = [c for m in EXPECT.finditer(source) for c in re.split(r"\s*,\s*", m["codes"])]
        if kind is ExampleKind.BAD and code not in expected:
            _fail(file, f"{where}code", f"a bad example needs a line marked `# expect: {code}`")
        if kind is not ExampleKind.BAD and code in expected:
            _fail(file, f"{where}code", f"only a bad example may expect {code}")
        proof = _proof(file, where, item.get("proof"))
        yield Example(kind, source, str(item.get("note", "")), proof, str(item.get("original", "")))
    for kind in ExampleKind:
        if kind not in kinds:
            _fail(file, "examples", f"at least one {kind.value} example is needed")


def _proof(file: str, where: str, data: object) -> Proof | None:
    if data is None:
        return None
    if not isinstance(data, dict):
        _fail(file, f"{where}proof", "must be a table")
    _keys(file, f"{where}proof.", data, _PROOF_KEYS)
    modes = tuple(data.get("modes", ("pynative", "graph")))
    if not set(modes) <= {"pynative", "graph"} or not modes:
        _fail(file, f"{where}proof.modes", "known modes are pynative and graph")
    if not data.get("run") and not data.get("unproven"):
        _fail(file, f"{where}proof", "needs `run`, or `unproven` with the reason")
    return Proof(
        str(data.get("run", "")),
        str(data.get("fails", "")),
        str(data.get("torch", "")),
        bool(data.get("differs", False)),
        modes,
        str(data.get("unproven", "")),
    )


# --- API rows -------------------------------------------------------------------------------------------


def _row(name: str, data: Mapping[str, Any]) -> ApiRow:
    file = data.get("file", "api")
    targets = {side: _target(file, name, side, data.get(side)) for side in ("mint", "nn")}
    if name.startswith("torch.Tensor.") and targets["mint"] is None:
        targets["mint"] = targets["nn"]  # there is one Tensor class for both sides
    if not any(targets.values()):
        _fail(file, name, "has neither a mint nor an nn target table")
    notes = data.get("note", {})
    effort = data.get("effort")
    return ApiRow(
        name,
        data.get("kind", "function"),
        targets["mint"],
        targets["nn"],
        None if effort is None else _effort(file, f"{name}.effort", effort),
        {language: str(notes.get(language, "")) for language in LANGUAGES},
        str(data.get("signature", "")),
    )


def _target(file: str, name: str, side: str, data: Any) -> Target | None:
    if data is None:
        return None
    try:
        difference = Difference(data.get("difference"))
    except ValueError:
        _fail(file, f"{name}.{side}.difference", f"unknown difference {data.get('difference')!r}")
    variants = data.get("variants") or []
    if not variants and data.get("template"):
        variants = [{"template": data["template"]}]
    template = data.get("template") or (variants[0].get("template", "") if variants else "")
    return Target(
        data.get("target", ""),
        difference,
        template,
        data.get("unproven", ""),
        data.get("arguments", {}),
        data.get("omitted", {}),
        data.get("always", {}),
        tuple(variants),
    )
