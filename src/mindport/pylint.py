"""The pylint plugin (``load-plugins=mindport.pylint``): the same engine, with pylint's ids and symbols.

pylint itself handles ``# pylint: disable``; ``# noqa`` comments are honoured here.
"""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pylint.checkers import BaseRawFileChecker
from pylint.interfaces import HIGH, INFERENCE, UNDEFINED

from mindport.catalog import Catalog, CatalogError, load_catalog
from mindport.config import ConfigError, load_config
from mindport.detectors import DetectorError
from mindport.engine import Engine, Honour, Result
from mindport.findings import Confidence

if TYPE_CHECKING:
    from astroid import nodes
    from pylint.lint import PyLinter

_CONFIDENCE = {
    Confidence.CERTAIN: HIGH,
    Confidence.INFERRED: INFERENCE,
    Confidence.POSSIBLE: UNDEFINED,
}


def _messages(catalog: Catalog, family: str) -> dict[str, Any]:
    return {
        check.pylint_id: ("%s", check.name, f"{check.text('en').title}. {check.text('en').what}")
        for check in catalog.checks
        if check.family == family
    }


class _FamilyChecker(BaseRawFileChecker):
    """One family of checks; pylint wants the ids of a checker to share their first three characters."""

    family = ""

    def process_module(self, node: nodes.Module) -> None:
        """Add a message per finding of this family in one module."""
        with node.stream() as stream:
            data = stream.read()
        engine = _engine()
        for finding in _check(data, node.file or node.name).findings:
            check = engine.catalog.by_code[finding.code]
            if check.family == self.family:
                self.add_message(
                    check.pylint_id,
                    line=finding.line,
                    col_offset=finding.column,
                    end_lineno=finding.span.end_line,
                    end_col_offset=finding.span.end_column,
                    args=(f"{finding.message}; {finding.suggestion}",),
                    confidence=_CONFIDENCE[finding.confidence],
                )


@lru_cache(maxsize=2)
def _check(data: bytes, path: str) -> Result:
    """Check a module once for all families."""
    file = Path(path)
    return _engine().check_bytes(data, path, file if file.is_file() else None, Honour(pylint=False))


@cache
def _engine() -> Engine:
    from mindport.deep import AstroidOracle

    try:
        return Engine(load_config(Path.cwd()), oracle=AstroidOracle(), counting=False)
    except (ConfigError, CatalogError, DetectorError) as error:
        print(f"mindport: {error}", file=sys.stderr)
        raise SystemExit(32) from error  # pylint's exit code for a usage error


def register(linter: PyLinter) -> None:
    """Called by pylint: add a checker per family."""
    catalog = load_catalog()
    for family in dict.fromkeys(check.family for check in catalog.checks):
        members = {"name": f"mindport-{family}", "family": family, "msgs": _messages(catalog, family)}
        linter.register_checker(type(f"Mindport{family.title()}Checker", (_FamilyChecker,), members)(linter))
