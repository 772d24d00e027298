"""Shapes of arguments: a value in a range that means something else on the other side."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from decimal import Decimal

from mindport.detectors.base import Detector, FileView, shape
from mindport.detectors.calls import Target, argument, targets
from mindport.findings import Applicability, Confidence, Edit, Fix
from mindport.semantics.scopes import Context
from mindport.semantics.values import Constant


@shape("argument-value")
class ArgumentValue(Detector):
    """A call of ``callee`` whose ``parameter`` is a number in [``minimum``, ``maximum``), or is None.

    ``complement = true`` offers 1 - value. ``advice = true``: the code is right where it stands (torch code
    before the port), so no fix is offered and the check's ``before-port`` severity applies.
    """

    parameters = {
        "callee": (list, True),
        "parameter": (str, True),
        "position": (int, True),
        "minimum": ((int, float), False),
        "maximum": ((int, float), False),
        "none": (bool, False),
        "complement": (bool, False),
        "advice": (bool, False),
    }
    placeholders = frozenset({"callee", "parameter", "value", "converted"})

    def applies(self, view: FileView) -> bool:
        """Whether the file spells the parameter or one of the callees at all."""
        text = view.module.source.text
        words = {self.values["parameter"], *(n.rpartition(".")[2] for n in self.names("callee"))}
        return any(word in text for word in words)

    def node_types(self) -> Iterable[type[ast.AST]]:
        """Calls."""
        return (ast.Call,)

    def visit(self, view: FileView, node: ast.AST, context: Context) -> None:
        """Report the argument."""
        assert isinstance(node, ast.Call)
        parameter, position = self.values["parameter"], self.values["position"]
        if len(node.args) <= position and not any(isinstance(a, ast.Starred) for a in node.args):
            names = [keyword.arg for keyword in node.keywords]
            if parameter not in names and None not in names:
                return  # resolving every call would cost more than all checks together
        for target in targets(view.module, node, context, self.names("callee")):
            if self._report(view, node, context, target):
                return

    def _report(self, view: FileView, node: ast.Call, context: Context, target: Target) -> bool:
        values = self.values
        found = argument(view.module, node, context, values["parameter"], values["position"], target.skip)
        if found.node is None:
            return False
        for constant in self._matching(view.module.constants(found.node, context)):
            converted = _complement(constant.value) if values.get("complement") else ""
            literal = isinstance(found.node, ast.Constant)
            span = view.module.source.span(found.node)
            fix = None
            advice = bool(values.get("advice"))
            if literal and converted and not advice:
                title = f"{values['parameter']}={constant.value} -> {converted}"
                fix = Fix(Applicability.UNSAFE, title, (Edit(span, converted),))
            shown = {
                "callee": target.name,
                "parameter": values["parameter"],
                "value": constant.value,
                "converted": converted or f"1 - {view.module.source.segment(found.node)}",
            }
            sure = constant.confidence.weaker(target.candidate.confidence)
            severity = self.check.before_port if advice else None
            view.report(self.check, span, sure, shown, fix=fix, severity=severity)
            return True
        return False

    def _matching(self, constants: tuple[Constant, ...]) -> Iterator[Constant]:
        found = []
        for constant in constants:
            value = constant.value
            if value is None:
                if self.values.get("none"):
                    found.append(constant)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                minimum, maximum = self.values.get("minimum"), self.values.get("maximum")
                if minimum is not None and maximum is not None and minimum <= value < maximum:
                    found.append(constant)
        if len(found) == len(constants):
            yield from found
        else:  # only some of the possible values match
            for constant in found:
                yield Constant(constant.value, Confidence.POSSIBLE)


def _complement(value: object) -> str:
    return str(1 - Decimal(str(value))) if isinstance(value, int | float) else ""
