"""The rewriter: names, argument maps, defaults, templates, and what it refuses."""

from __future__ import annotations

import pytest

from mindport.catalog import ApiRow, Target, load_catalog
from mindport.catalog.model import Difference
from mindport.catalog.signature import read_signature
from mindport.catalog.surface import signature_of, surface
from mindport.fixes.rewrite import ExpressionRewriter, Refused

CATALOG = load_catalog()


def rewrite(code: str, api: str = "nn") -> str:
    return ExpressionRewriter(CATALOG.api, signature_of, api).rewrite(code)


@pytest.mark.parametrize(
    ("torch", "mindspore"),
    [
        (
            "torch.nn.Conv2d(4, 6, 3, 2, 1, bias=False)(x)",
            "mindspore.nn.Conv2d(4, 6, 3, 2, padding=1, has_bias=False, pad_mode='pad')(x)",
        ),
        ("torch.nn.BatchNorm2d(3, momentum=0.1)", "mindspore.nn.BatchNorm2d(3, momentum=0.9)"),
        ("torch.nn.MaxPool2d(2)(x)", "mindspore.nn.MaxPool2d(2, 2)(x)"),
        ("torch.nn.functional.softmax(x, dim=-1)", "mindspore.ops.softmax(x, axis=-1)"),
        ("torch.nn.GELU()", "mindspore.nn.GELU(approximate=False)"),
        ("torch.nn.Linear(3, 4)(x + 1)", "mindspore.nn.Dense(3, 4)(x + 1)"),
        ("torch.float32", "mindspore.float32"),
        ("x.sigmoid()", "x.sigmoid()"),
        ("f(x).unknown_method(torch.float32)", "f(x).unknown_method(mindspore.float32)"),
        ("x.shape", "x.shape"),
        ("g(x.something)", "g(x.something)"),
    ],
)
def test_nn_side(torch, mindspore):
    assert rewrite(torch) == mindspore


def test_mint_side():
    assert rewrite("torch.nn.Conv2d(3, 4, 3)", "mint") == "mindspore.mint.nn.Conv2d(3, 4, 3)"
    with pytest.raises(Refused, match="has no mint target"):
        rewrite("torch.nn.Module", "mint")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("torch.nn.Conv2d(*sizes)", "hides"),
        ("torch.nn.Conv2d(3, 4, 3, padding_mode='reflect')", "padding_mode='reflect'"),
        ("torch.nn.Conv2d(3, 4, 3, colour=1)", "is no parameter"),
        ("torch.nn.Conv2d(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)", "more positional"),
        ("torch.no_such_name(x)", "has no row"),
        ("torch.no_such_name", "has no row"),
        ("torch.load(path)", "rewrite"),
    ],
)
def test_refused(code, reason):
    with pytest.raises(Refused, match=reason):
        rewrite(code)


def row(target: Target, signature: str = "(a, b=1, *, out=None)", kind: str = "function") -> ApiRow:
    return ApiRow("torch.f", kind, None, target, None, {"en": "", "zh": ""}, signature)


def target(name: str = "mindspore.g", **fields) -> Target:
    return Target(name, Difference.ARGUMENTS, "", "", **fields)


def with_row(code: str, found: ApiRow, signatures=None) -> str:
    names = {"torch.f": found, "torch.Tensor.m": found, "torch.Tensor.p": found}
    return ExpressionRewriter(names.get, (signatures or {}).get, "nn").rewrite(code)  # type: ignore[arg-type]


def test_argument_rules():
    rules = {
        "a": "x",
        "b": {"to": "y", "value": "float({})"},
        "out": {"refuse": True},
    }
    found = row(target(arguments=rules, omitted={"y": "2"}, always={"z": "True"}))
    assert with_row("torch.f(1)", found) == "mindspore.g(x=1, y=2, z=True)"
    assert (
        with_row("torch.f(1, 3)", found, {"mindspore.g": "(x, y, z)"}) == "mindspore.g(1, float(3), z=True)"
    )
    with pytest.raises(Refused, match="no counterpart"):
        with_row("torch.f(1, out=o)", found)
    dropped = row(target(arguments={"b": {"drop": True}}))
    assert with_row("torch.f(1, b=2)", dropped, {"mindspore.g": "(a)"}) == "mindspore.g(1)"
    mapped = row(target(arguments={"b": {"values": {"'x'": "1", "'y'": ""}}}))
    assert with_row("torch.f(1, b='x')", mapped) == "mindspore.g(1, b=1)"
    assert with_row("torch.f(1, b='y')", mapped) == "mindspore.g(1)"


def test_positions_that_would_shift_become_keywords():
    found = row(target(arguments={"b": "y"}))
    assert with_row("torch.f(1, 2)", found, {"mindspore.g": "(a, z, y)"}) == "mindspore.g(1, y=2)"


def test_variadic_and_stars():
    variadic = row(target("mindspore.Tensor.g"), "(self, *shape)", "method")
    assert with_row("x.m(1, 2)", variadic, {"mindspore.Tensor.g": "(*shape)"}) == "x.g(1, 2)"
    plain = row(Target("mindspore.g", Difference.SAME, "", ""))
    assert with_row("torch.f(*a, **k)", plain) == "mindspore.g(*a, **k)"
    assert with_row("torch.f(1, **k)", plain) == "mindspore.g(1, **k)"
    function = row(target("mindspore.ops.g"), "(self, d=0)", "method")
    assert with_row("x.m(1)", function, {"mindspore.ops.g": "(input, d=0)"}) == "mindspore.ops.g(x, 1)"


def test_templates():
    variants = ({"given": ["b"], "template": "{self}.shape[{b}]"}, {"template": "{self}.shape"})
    size = row(target("mindspore.Tensor.shape", variants=variants), "(self, b=None)", "method")
    assert with_row("(x + y).m(0)", size) == "(x + y).shape[0]"
    assert with_row("x.m()", size) == "x.shape"
    scaled = row(target("", variants=({"template": "{a} * {b=2} + {{'k': 1}}['k']"},)))
    assert with_row("torch.f(p + q)", scaled) == "(p + q) * 2 + {'k': 1}['k']"
    with pytest.raises(Refused, match="no place for `out`"):
        with_row("torch.f(1, out=o)", scaled)
    with pytest.raises(Refused, match="needs `a`"):
        with_row("torch.f()", scaled)
    several = row(target("", variants=({"template": "h(({*sizes},))"},)), "(*sizes)")
    assert with_row("torch.f(1, 2)", several) == "h((1, 2))"
    assert with_row("torch.f(sizes=[1, 2])", several) == "h(([1, 2],))"
    only = row(target("", variants=({"given": ["b"], "template": "{b}"},)))
    with pytest.raises(Refused, match="no template fits"):
        with_row("torch.f(1)", only)
    broken = row(target("", variants=({"template": "{a} +"},)))
    with pytest.raises(Refused, match="is no expression"):
        with_row("torch.f(1)", broken)
    attribute = row(target("", variants=({"template": "{self}.q"},)), "", "attribute")
    assert with_row("x.p", attribute) == "x.q"
    with pytest.raises(Refused, match="names no target"):
        with_row("torch.f(1)", row(target("")))
    with pytest.raises(Refused, match="has no target"):
        with_row("torch.f", row(target("")))


def test_signatures_are_read_even_with_odd_defaults():
    assert read_signature("(a, b=<object>, *, c=1)").positional == ("a", "b", "c")
    assert read_signature("-") is None
    assert read_signature("(a, /, *b, c, **d)").open_keywords
    assert read_signature("(<x>)") is None


def test_surface_has_versions_and_platforms():
    names = surface("mindspore")
    assert names["mindspore.nn.Conv2d"].versions >= {"2.7.0", "2.10.0"}
    assert set(names["mindspore.nn.Conv2d"].platforms) == {"A", "G", "C"}
    assert "torch.nn.Conv2d" in surface("torch")
    assert signature_of("mindspore.no_such_name") == ""


def test_every_target_exists_in_the_surface():
    """Every MindSpore name in a table resolves in 2.10.0."""
    import re

    names = surface("mindspore")
    missing = []
    for name in CATALOG.api_names:
        found = CATALOG.api(name)
        for side in (found.mint, found.nn):
            for target_name in re.findall(r"mindspore(?:\.\w+)+", side.name if side else ""):
                if target_name not in names and not _known_elsewhere(target_name):
                    missing.append((name, target_name))
    assert missing == []


def _known_elsewhere(name: str) -> bool:
    """A member of a class or module whose members the surface does not list."""
    parent = surface("mindspore").get(name.rpartition(".")[0])
    return name == "mindspore.__version__" or (parent is not None and parent.kind != "package")
