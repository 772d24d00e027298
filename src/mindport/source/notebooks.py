"""Notebooks: the code cells as one Python text, magics commented out, and which lines are which cell."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from mindport.source.text import SourceError

_MAGIC = re.compile(r"^\s*(?:[%!?]|[\w.]+\?{1,2}\s*$)")
_ASSIGNED = re.compile(r"^\s*[\w, ]+=\s*[%!]")


@dataclass(frozen=True, slots=True)
class Notebook:
    """``text``: the code; ``cells``: for each code cell its 1-based number and its first line in the text."""

    text: str
    cells: tuple[tuple[int, int], ...]


def read_notebook(data: bytes) -> Notebook:
    """The code of an ``.ipynb`` file; raises `SourceError` when it is none."""
    try:
        document = json.loads(data)
        cells = document["cells"]
        language = document.get("metadata", {}).get("language_info", {}).get("name", "python")
        sources = [(number, _source(cell)) for number, cell in enumerate(cells, 1) if _is_code(cell)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(f"not a notebook: {error}") from error
    if language.lower() not in ("python", "ipython", "python3"):
        return Notebook("", ())
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    for number, source in sources:
        starts.append((number, len(lines) + 1))
        lines += _plain(source)
    return Notebook("".join(f"{line}\n" for line in lines), tuple(starts))


def _is_code(cell: dict[str, object]) -> bool:
    return cell["cell_type"] == "code"


def _source(cell: dict[str, object]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(str(part) for part in source)  # type: ignore[attr-defined]


def _plain(source: str) -> list[str]:
    """The lines of a cell; what only IPython understands becomes a statement without meaning."""
    lines = source.splitlines()
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not re.match(r"%%(time|timeit|capture)\b", first):
        return [f"# {line}" for line in lines]  # another language, or a file to write
    return [_statement(line) if _MAGIC.match(line) or _ASSIGNED.match(line) else line for line in lines]


def _statement(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}pass  # {line.strip()}"
