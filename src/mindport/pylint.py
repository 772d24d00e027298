"""The pylint plugin (``load-plugins=mindport.pylint``): the same engine, with pylint's ids and symbols.

pylint itself handles ``# pylint: disable``; ``# noqa`` comments are honoured here.
"""

from __future__ import annotations

import sys
from functools import cache
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


def _messages(catalog: Catalog) -> dict[str, Any]:
    return {
        check.pylint_id: ("%s", check.name, f"{check.text('en').title}. {check.text('en').what}")
        for check in catalog.checks
    }


class MindportChecker(BaseRawFileChecker):
    """Runs the engine on each module pylint checks."""

    name = "mindport"
    msgs = _messages(load_catalog())

    def process_module(self, node: nodes.Module) -> None:
        """Check one module and add a message per finding."""
        with node.stream() as stream:
            data = stream.read()
        file = Path(node.file) if node.file and Path(node.file).is_file() else None
        engine = _engine()
        result: Result = engine.check_bytes(data, node.file or node.name, file, Honour(pylint=False))
        catalog = engine.catalog
        for finding in result.findings:
            self.add_message(
                catalog.by_code[finding.code].pylint_id,
                line=finding.line,
                col_offset=finding.column,
                end_lineno=finding.span.end_line,
                end_col_offset=finding.span.end_column,
                args=(f"{finding.message}; {finding.suggestion}",),
                confidence=_CONFIDENCE[finding.confidence],
            )


@cache
def _engine() -> Engine:
    try:
        return Engine(load_config(Path.cwd()))
    except (ConfigError, CatalogError, DetectorError) as error:
        print(f"mindport: {error}", file=sys.stderr)
        raise SystemExit(32) from error  # pylint's exit code for a usage error


def register(linter: PyLinter) -> None:
    """Called by pylint: add the checker."""
    linter.register_checker(MindportChecker(linter))
