"""Which file, class, attribute and method of a port stands for which of the original."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mindport.files import find_files
from mindport.findings import FileError
from mindport.semantics.module import Module
from mindport.semantics.scopes import Context, NamedFunction

METHODS = {"forward": "construct"}
"""Methods that are called otherwise in a Cell."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A port's file and the original's."""

    port: Path
    original: Path


@dataclass(frozen=True, slots=True)
class Pairs:
    """The files of two trees: those that stand for each other, the port's without an original, and unusable ones."""

    pairs: list[Pair]
    alone: list[Path]
    errors: list[FileError]


def pair_files(port: Path, original: Path) -> Pairs:
    """Which files of two trees stand for each other.

    Two files given by name are a pair. In trees the same path below both roots is one; else the same file name
    where it exists once on both sides.
    """
    if port.is_file() and original.is_file():
        return Pairs([Pair(port, original)], [], [])
    errors: list[FileError] = []
    theirs = (
        {file.relative_to(original): file for file in _python(original, errors)}
        if original.is_dir()
        else {Path(original.name): original}
    )
    ours = _python(port, errors) if port.is_dir() else [port]
    by_name: dict[str, list[Path]] = {}
    for file in theirs.values():
        by_name.setdefault(file.name, []).append(file)
    pairs: list[Pair] = []
    alone: list[Path] = []
    for file in ours:
        same = theirs.get(file.relative_to(port)) if port.is_dir() else None
        named = by_name.get(file.name, [])
        if same is not None:
            pairs.append(Pair(file, same))
        elif len(named) == 1 and file.name != "__init__.py":
            pairs.append(Pair(file, named[0]))
        else:
            alone.append(file)
    return Pairs(pairs, alone, errors)


def _python(folder: Path, errors: list[FileError]) -> list[Path]:
    found = list(find_files((str(folder),)))
    errors += [item for item in found if isinstance(item, FileError)]
    return [item for item in found if not isinstance(item, FileError)]


def pair_classes(port: Module, original: Module) -> Iterator[tuple[ast.ClassDef, ast.ClassDef]]:
    """Top-level classes of the same name."""
    theirs = {
        node.name: node for node, context in original.classes if context.scope is original.scopes.module
    }
    for node, context in port.classes:
        other = theirs.get(node.name)
        if context.scope is port.scopes.module and other is not None:
            yield node, other


def pair_functions(port: Module, original: Module) -> Iterator[tuple[str, NamedFunction, NamedFunction]]:
    """Functions and methods of the same name, with the name people know them by."""
    theirs = _functions(original)
    for key, node in _functions(port).items():
        other = theirs.get(key)
        if other is not None:
            yield ".".join(key), node, other


def _functions(module: Module) -> dict[tuple[str, str], NamedFunction]:
    result: dict[tuple[str, str], NamedFunction] = {}
    for node in module.source.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            result["", node.name] = node
        elif isinstance(node, ast.ClassDef):
            for name, method in module.methods(node).items():
                result[node.name, METHODS.get(name, name)] = method
    return result


def layers_of(module: Module, node: ast.ClassDef) -> dict[str, list[tuple[ast.Call, Context]]]:
    """The calls a class stores on ``self``, by name; a name that gets anything but calls is left out."""
    result: dict[str, list[tuple[ast.Call, Context]]] = {}
    for name, values in module.self_attributes(node).items():
        calls = [(value, context) for value, context in values if isinstance(value, ast.Call)]
        if len(calls) == len(values):
            result[name] = calls
    return result


def inner_calls(module: Module, call: ast.Call) -> list[ast.Call]:
    """A call and the calls among its arguments, in source order: the layers of a Sequential."""
    found = [node for node in ast.walk(call) if isinstance(node, ast.Call)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))
