"""``# noqa`` and ``# pylint: disable`` comments, with the meaning flake8 and pylint give them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mindport.source.text import Source

_NOQA = re.compile(
    r"#\s*noqa(?::[\s]?(?P<codes>[A-Z][0-9]*(?:[,\s]+)?(?:[A-Z]+[0-9]*(?:[,\s]+)?)*|"
    r"[A-Za-z]+[0-9]+(?:[,\s]+[A-Za-z]+[0-9]+)*))?",
    re.IGNORECASE,
)
_FILE_NOQA = re.compile(r"#\s*flake8[:=]\s*noqa(?P<codes>:\s?(?P<list>.+))?\s*$", re.IGNORECASE)
_PYLINT = re.compile(
    r"#\s*pylint:\s*(?P<action>disable-next|disable|enable|skip-file)(?:\s*=\s*(?P<names>[^#;]+))?"
)
_CODE = re.compile(r"[A-Za-z]+[0-9]*")

ALL: frozenset[str] = frozenset({"*"})


@dataclass(slots=True)
class Suppressions:
    """Which codes are silenced on which lines of one file."""

    file_wide: frozenset[str] = frozenset()
    noqa: dict[int, frozenset[str]] = field(default_factory=dict)
    pylint: dict[int, set[str]] = field(default_factory=dict)

    def hides(self, keys: Iterable[str], line: int, *, noqa: bool = True, pylint: bool = True) -> bool:
        """Whether a finding known under ``keys`` (its code, pylint id, name) is silenced on a 1-based line.

        ``noqa`` and ``pylint`` say which kinds of comment to honour: a host that handles one itself
        (flake8 its ``noqa``, pylint its ``disable``) leaves it out here.
        """
        names = [key.upper() for key in keys]
        if noqa and (_matches(self.file_wide, names) or _matches(self.noqa.get(line, frozenset()), names)):
            return True
        return pylint and bool(self.pylint.get(line, set()) & {*names, "*", "ALL"})


def _matches(codes: frozenset[str], names: list[str]) -> bool:
    return "*" in codes or any(name.startswith(code) for code in codes for name in names)


def scan(source: Source, *, noqa: bool = True) -> Suppressions:
    """Collect the suppressions of a file, those with ``noqa`` only when asked for.

    Tokenizes only when the text has a suppression word.
    """
    lowered = source.text.lower()
    if not (noqa and "noqa" in lowered) and "pylint:" not in lowered:
        return Suppressions()
    result = Suppressions()
    comments, logical = _tokens(source.text)
    file_codes: set[str] = set()
    for line, (comment, _) in comments.items():
        if match := _FILE_NOQA.search(comment):
            file_codes |= _codes(match["list"]) if match["codes"] else {"*"}
        elif match := _NOQA.search(comment):
            codes = frozenset(_codes(match["codes"])) if match["codes"] else ALL
            first, last = logical.get(line, (line, line))
            for number in range(first, last + 1):
                result.noqa[number] = result.noqa.get(number, frozenset()) | codes
    result.file_wide = frozenset(file_codes)
    if "pylint:" in lowered:
        _pylint_lines(source, comments, logical, result.pylint)
    return result


def _codes(text: str) -> set[str]:
    return {code.upper() for code in _CODE.findall(text)}


def _tokens(text: str) -> tuple[dict[int, tuple[str, bool]], dict[int, tuple[int, int]]]:
    """Comments by line (with: alone on its line?) and the logical line each physical line belongs to."""
    comments: dict[int, tuple[str, bool]] = {}
    logical: dict[int, tuple[int, int]] = {}
    first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                comments[token.start[0]] = (token.string, token.line[: token.start[1]].strip() == "")
            elif token.type == tokenize.NEWLINE:
                for line in range(first or token.start[0], token.end[0] + 1):
                    logical[line] = (first or token.start[0], token.end[0])
                first = 0
            elif token.type not in _LAYOUT and not first:
                first = token.start[0]
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass  # the parser accepted the file; keep the comments read so far
    return comments, logical


_LAYOUT = {tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def _pylint_lines(
    source: Source,
    comments: Mapping[int, tuple[str, bool]],
    logical: Mapping[int, tuple[int, int]],
    hidden: dict[int, set[str]],
) -> None:
    blocks = _blocks(source.tree, len(source.lines))
    for line, (comment, own_line) in sorted(comments.items()):
        match = _PYLINT.search(comment)
        if match is None:
            continue
        names = {name.strip().upper() for name in (match["names"] or "").split(",") if name.strip()}
        action = match["action"]
        if action == "skip-file":
            first, last, names = 1, len(source.lines), {"*"}
        elif action == "disable-next":
            first, last = logical.get(line + 1, (line + 1, line + 1))
        elif own_line:
            first, last = line, _block_end(blocks, line)
        else:
            first, last = logical.get(line, (line, line))
            last = max(last, _opened_block(blocks, first, line))
        for number in range(first, last + 1):
            if action == "enable":
                hidden.get(number, set()).difference_update(names)
            else:
                hidden.setdefault(number, set()).update(names)


@dataclass(frozen=True, slots=True)
class _Block:
    header: int  # line of the opening keyword
    first: int  # first line of the body
    last: int


def _blocks(tree: ast.Module, last_line: int) -> list[_Block]:
    blocks = [_Block(0, 1, last_line)]
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                stack.extend(body)
                if isinstance(body[0], ast.stmt) and isinstance(node, ast.stmt | ast.ExceptHandler):
                    header = node.lineno if name == "body" else body[0].lineno
                    blocks.append(_Block(header, body[0].lineno, body[-1].end_lineno or body[-1].lineno))
    return blocks


def _block_end(blocks: list[_Block], line: int) -> int:
    inside = [block for block in blocks if block.header <= line <= block.last]
    return min(inside, key=lambda block: block.last - block.header).last


def _opened_block(blocks: list[_Block], first: int, line: int) -> int:
    opened = [block.last for block in blocks[1:] if first <= block.header <= line < block.first]
    return max(opened, default=line)


def frozen_lines(source: Source, ours: frozenset[str]) -> frozenset[int]:
    """The lines on which somebody silenced anything of ours; no fix touches them.

    ``ours``: every code, pylint id and name of our checks, in capitals. A file-wide suppression freezes all lines.
    """
    found = scan(source)
    if any(_silences(code, ours) for code in found.file_wide):
        return frozenset(range(1, len(source.lines) + 1))
    lines = {line for line, codes in found.noqa.items() if any(_silences(code, ours) for code in codes)}
    lines |= {line for line, names in found.pylint.items() if names & {"*", "ALL", *ours}}
    return frozenset(lines)


def _silences(code: str, ours: frozenset[str]) -> bool:
    return code == "*" or any(key.startswith(code) for key in ours)
