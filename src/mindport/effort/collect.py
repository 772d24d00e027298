"""From one file on disk to its record."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from mindport.effort.record import Record, frames_of, from_object, to_object
from mindport.engine import Engine, Result, display_path, failed
from mindport.source.notebooks import read_notebook
from mindport.source.text import SourceError, from_text, read_bytes


def record_of(result: Result, file: Path, cells: tuple[tuple[int, int], ...] = ()) -> Record:
    """What an audit keeps of a result."""
    facts = result.facts
    record = Record(
        result.path,
        os.path.realpath(file),
        result.stage.value if result.stage is not None else None,
        result.features,
        findings=tuple(replace(finding, fix=None) for finding in result.findings),
        frames=frames_of(result.findings, result.lines),
        coverage=result.coverage,
        error=result.error,
        cells=cells,
    )
    if facts is None:
        return record
    return replace(
        record,
        apis=facts.apis,
        maybe=facts.maybe,
        imports=facts.imports,
        modules=facts.modules,
    )


def collect(engine: Engine, file: Path) -> Record:
    """Check one file, or one notebook, and keep what the audit needs. The engine must be ``measuring``."""
    if file.suffix == ".ipynb":
        return _notebook(engine, file)
    return record_of(engine.check_file(file, display_path(file)), file)


def _notebook(engine: Engine, file: Path) -> Record:
    path = display_path(file)
    try:
        data = read_bytes(file)
        trace = engine.project.trace
        if trace is not None:
            trace.read(trace.real(str(file)), data)
        notebook = read_notebook(data)
        source = from_text(path, notebook.text, file)
    except SourceError as error:
        return record_of(failed(path, error), file)
    return record_of(engine.check_source(source), file, notebook.cells)


def keep(record: Record) -> Any:
    """What the cache keeps of a record; failures and files without a framework are sooner looked at again."""
    return to_object(record) if record.stage is not None and record.error is None else None


def kept(value: Any, file: Path) -> Record:
    """The record of a kept value."""
    return from_object(value)
