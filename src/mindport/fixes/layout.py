"""Where things stand in a file's text: character offsets of nodes, brackets, and the arguments of a call."""

from __future__ import annotations

import ast
import bisect
import io
import re
import tokenize
from dataclasses import dataclass
from functools import cached_property

from mindport.findings import Span
from mindport.source.text import Source

_LINE_END = re.compile(r"\r\n|\r|\n")
_OPEN, _CLOSE = "([{", ")]}"
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


@dataclass(frozen=True, slots=True)
class Token:
    """A token that is code, by character offsets."""

    start: int
    end: int
    text: str


class Layout:
    """The text of one parsed file, addressed by character offset."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    # --- offsets ---------------------------------------------------------------------------------------

    def offset(self, line: int, column: int) -> int:
        """The offset of a 1-based line and 0-based character column."""
        return self.starts[line - 1] + column

    def place(self, offset: int) -> tuple[int, int]:
        """The 1-based line and 0-based character column of an offset."""
        line = bisect.bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1]

    def span(self, start: int, end: int) -> Span:
        """Two offsets as a span."""
        return Span(*self.place(start), *self.place(end))

    def range(self, node: ast.AST) -> tuple[int, int]:
        """The offsets of a node."""
        span = self.source.span(node)
        return self.offset(span.line, span.column), self.offset(span.end_line, span.end_column)

    def range_of(self, span: Span) -> tuple[int, int]:
        """The offsets of a span."""
        return self.offset(span.line, span.column), self.offset(span.end_line, span.end_column)

    @property
    def newline(self) -> str:
        """The line end the file uses."""
        match = _LINE_END.search(self.text)
        return match[0] if match else "\n"

    # --- tokens ----------------------------------------------------------------------------------------

    @cached_property
    def tokens(self) -> list[Token]:
        """The tokens that are code, in order; as many as can be read."""
        result: list[Token] = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(self.text, newline="").readline):
                if token.type in _NO_CODE or token.type == tokenize.ENDMARKER:
                    continue
                start = self.offset(*token.start)
                result.append(Token(start, self.offset(*token.end), token.string))
        except (tokenize.TokenError, IndentationError, SyntaxError):
            pass
        return result

    @cached_property
    def _token_starts(self) -> list[int]:
        return [token.start for token in self.tokens]

    @cached_property
    def brackets(self) -> dict[int, int]:
        """The offset of each closing bracket's partner, by the offset of the closing one."""
        stack: list[int] = []
        result: dict[int, int] = {}
        for token in self.tokens:
            if len(token.text) != 1:
                continue
            if token.text in _OPEN:
                stack.append(token.start)
            elif token.text in _CLOSE and stack:
                result[token.start] = stack.pop()
        return result

    def between(self, start: int, end: int) -> list[Token]:
        """The tokens that start inside a range."""
        first = bisect.bisect_left(self._token_starts, start)
        last = bisect.bisect_left(self._token_starts, end)
        return self.tokens[first:last]

    def before(self, offset: int) -> Token | None:
        """The last token that ends at or before an offset."""
        index = bisect.bisect_left(self._token_starts, offset) - 1
        return self.tokens[index] if index >= 0 else None

    def after(self, offset: int) -> Token | None:
        """The first token that starts at or after an offset."""
        index = bisect.bisect_left(self._token_starts, offset)
        return self.tokens[index] if index < len(self.tokens) else None

    def open_bracket(self, call: ast.Call) -> int | None:
        """The offset of the bracket that opens a call's arguments."""
        return self.brackets.get(self.range(call)[1] - 1)

    def arguments(self, call: ast.Call) -> list[tuple[int, int]] | None:
        """The ranges of a call's arguments in order, names and brackets included; None when unclear."""
        opened = self.open_bracket(call)
        if opened is None:
            return None
        close = self.range(call)[1] - 1
        result: list[tuple[int, int]] = []
        depth, first, last = 0, -1, -1
        for token in self.between(opened + 1, close):
            if token.text == "," and depth == 0:
                if first >= 0:
                    result.append((first, last))
                first = -1
                continue
            if len(token.text) == 1:
                depth += (token.text in _OPEN) - (token.text in _CLOSE)
            first = token.start if first < 0 else first
            last = token.end
        if first >= 0:
            result.append((first, last))
        return result if len(result) == len(call.args) + len(call.keywords) else None
