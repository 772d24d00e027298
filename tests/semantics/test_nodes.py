"""The fast walk sees what `ast.walk` sees, contexts and operators left out."""

from __future__ import annotations

import ast
from pathlib import Path

import mindport
from mindport.semantics.nodes import children, walk

LEAVES = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
ODD = """
match x:
    case {"a": 1, **rest} | [1, *_] | A(b=2) if rest: pass
async def f(a, /, b=1, *c: int, d, e=2, **g) -> None:
    global z
    async with a as b, c: yield
    async for i in j: await k
    lambda q, r=1: f"{q!r:>{r}}"
    return {**a, "b": c}, [d for d in e if f async for g in h], {i: j for i in k}, (x := 1), a[1:2:3], not a < b <= c
try: pass
except* (A, B) as c: del d, e
"""


def test_the_same_nodes_as_the_standard_walk():
    texts = [file.read_text(encoding="utf-8") for file in Path(mindport.__file__).parent.rglob("*.py")]
    try:
        ast.parse(ODD)
        texts.append(ODD)
    except SyntaxError:  # `except*` came with Python 3.11
        texts.append(ODD.replace("except*", "except"))
    for text in texts:
        tree = ast.parse(text)
        seen = list(walk(tree))
        assert len(seen) == len({id(node) for node in seen})
        assert {id(n) for n in seen} == {id(n) for n in ast.walk(tree) if not isinstance(n, LEAVES)}


def test_children_come_in_source_order():
    call = ast.parse("f(a, b=c)").body[0].value
    assert [type(node).__name__ for node in children(call)] == ["Name", "Name", "keyword"]
