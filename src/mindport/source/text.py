"""Reading Python source: decoding, parsing, and the one position model of the project."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mindport.findings import Span

MAX_BYTES = 8 * 1024 * 1024
"""Files above this size (bytes) are generated data, not code somebody ports by hand."""


class SourceError(Exception):
    """A file that cannot be read as Python: a 1-based line (0: the whole file), a column and a reason."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


@dataclass(slots=True)
class Source:
    """One parsed file. ``path`` is what people see; ``file`` is where it lies, if it lies anywhere."""

    path: str
    text: str
    tree: ast.Module
    file: Path | None = None
    lines: list[str] = field(default_factory=list)

    def char_column(self, line: int, byte_column: int) -> int:
        """Turn ``ast``'s UTF-8 byte column (0-based) on a 1-based line into a character column."""
        if not 1 <= line <= len(self.lines):
            return byte_column
        text = self.lines[line - 1]
        if text.isascii():
            return byte_column
        return len(text.encode("utf-8", "surrogatepass")[:byte_column].decode("utf-8", "replace"))

    def span(self, node: ast.AST) -> Span:
        """The span of a node that has a position."""
        line: int = node.lineno  # type: ignore[attr-defined]
        end_line: int = getattr(node, "end_lineno", None) or line
        column: int = node.col_offset  # type: ignore[attr-defined]
        end_column: int = getattr(node, "end_col_offset", None) or column
        return Span(line, self.char_column(line, column), end_line, self.char_column(end_line, end_column))

    def name_span(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Span:
        """The span of the name in ``def NAME`` or ``class NAME``."""
        start = self.char_column(node.lineno, node.col_offset)
        text = self.lines[node.lineno - 1] if node.lineno <= len(self.lines) else ""
        match = _DEFINITION.match(text, start)
        if match is None:  # the name stands on a continuation line
            return Span(node.lineno, start, node.lineno, start + 3)
        return Span(node.lineno, match.end(), node.lineno, match.end() + len(node.name))

    def attribute_span(self, node: ast.Attribute) -> Span:
        """The span of the attribute name alone (``forward`` in ``a.b.forward``)."""
        end_line = node.end_lineno or node.lineno
        end = self.char_column(end_line, node.end_col_offset or 0)
        return Span(end_line, max(0, end - len(node.attr)), end_line, end)

    def segment(self, node: ast.AST) -> str:
        """The source text of a node."""
        span = self.span(node)
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.column : span.end_column]
        first = self.lines[span.line - 1][span.column :]
        middle = self.lines[span.line : span.end_line - 1]
        last = self.lines[span.end_line - 1][: span.end_column]
        return "\n".join([first, *middle, last])


_DEFINITION = re.compile(r"(?:async\s+)?(?:def|class)\s+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


def split_lines(text: str) -> list[str]:
    """Split as the Python tokenizer counts lines: form feeds and Unicode separators do not end one."""
    return _LINE_END.split(text) if "\r" in text else text.split("\n")


def decode(data: bytes) -> str:
    """Decode source bytes as Python does (BOM, PEP 263); raises `SourceError` with the reason."""
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise SourceError("contains a NUL byte; is it a Python file?", line)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise SourceError(f"wrong encoding declaration: {error.msg}", 1) from error
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        declared = _CODING.match(data.split(b"\n", 1)[0]) is not None
        hint = "does not match its declaration" if declared else "declare its encoding or save it as UTF-8"
        raise SourceError(f"not valid {encoding}; {hint}", line) from error


def parse(text: str) -> ast.Module:
    """Parse source text; raises `SourceError` for a syntax error or nesting too deep to parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        column = max(0, (error.offset or 1) - 1)
        raise SourceError(f"syntax error: {error.msg}", error.lineno or 0, column) from error
    except (RecursionError, MemoryError) as error:
        raise SourceError("nested too deeply to parse") from error
    except ValueError as error:
        raise SourceError(f"cannot be parsed: {error}") from error


def read_bytes(file: Path) -> bytes:
    """The bytes of a file; raises `SourceError` with the system's reason."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise SourceError(f"larger than {MAX_BYTES // 1024 // 1024} MB, not read")
        return file.read_bytes()
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}") from error


def from_text(path: str, text: str, file: Path | None = None) -> Source:
    """Parse text into a `Source`; raises `SourceError`."""
    if text.startswith("\ufeff"):
        text = text[1:]
    return Source(path, text, parse(text), file, split_lines(text))


def from_tree(path: str, tree: ast.Module, lines: Sequence[str], file: Path | None = None) -> Source:
    """Wrap a tree somebody else parsed (flake8), with its physical lines including line ends."""
    text = "".join(lines)
    return Source(path, text, tree, file, split_lines(text))
