"""Evaluating calls and attributes over knowledge."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.kinds import (
    TENSORS,
    UNKNOWN,
    Atom,
    Kind,
    Known,
    container,
    elements,
    items,
    join,
    of,
)
from mindport.semantics.library import Arguments, argument_of
from mindport.semantics.values import ClassValue, FunctionValue, ModuleValue, Named, SelfValue

if TYPE_CHECKING:
    from mindport.semantics.flow.analysis import Flow

_GROWING = {
    "append": False,
    "add": False,
    "insert": False,
    "appendleft": False,
    "extend": True,
    "update": True,
}
"""Methods of Python containers that put something in; True: everything the argument holds."""


class Calls:
    """The part of a frame that follows calls."""

    flow: Flow
    owner: ClassValue | None
    env: dict[str, Known] | None
    self_name: str

    def eval(self, node: ast.expr) -> Known:
        """What an expression is."""
        raise NotImplementedError

    def key(self, node: ast.AST) -> str | None:
        """The name of a place that is kept."""
        raise NotImplementedError

    def set(self, key: str, value: Known) -> None:
        """Change what a place holds."""
        raise NotImplementedError

    # --- attributes ------------------------------------------------------------------------------------

    def attribute(self, base: Known, name: str) -> Known:
        """What an attribute of a value is; a method is a function with its receiver's class in the name."""
        atoms = base.atoms
        if len(atoms) == 1:
            return self._attribute_of(atoms[0], name).weaker(base.sure)
        found = [self._attribute_of(atom, name) for atom in atoms if atom.kind is not Kind.NONE]
        return join(found).weaker(base.sure) if found else UNKNOWN

    def _attribute_of(self, atom: Atom, name: str) -> Known:
        kind, ref = atom.kind, atom.ref
        flow = self.flow
        if kind in TENSORS:
            return flow.external_member(flow.tensors, name)
        if isinstance(ref, Named):
            if kind is Kind.NAMESPACE or kind is Kind.CLASS:
                return flow.named(flow.module.project.canonical(f"{ref.name}.{name}"))
            return flow.named_member(ref.name, name)
        if isinstance(ref, ClassValue):
            return flow.member(ref, name)
        if isinstance(ref, SelfValue):
            return flow.member(ref.owner, name, parent=True)
        if isinstance(ref, ModuleValue):
            return self._module_attribute(ref, name)
        plain = flow.library.class_of(kind)
        return flow.named_member(plain, name) if plain is not None else UNKNOWN

    def _module_attribute(self, value: ModuleValue, name: str) -> Known:
        flow = self.flow.for_module(value.module)
        found = value.module.export(name)
        if found:
            return flow.candidates(found)
        inner = self.flow.module.project.submodule(value.module, name)
        if inner is None:
            return UNKNOWN
        return Known((Atom(Kind.NAMESPACE, ref=ModuleValue(inner)),), Confidence.CERTAIN)

    # --- calls -----------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> Known:
        """What a call gives; on the way receivers and arguments of unclear kind may become Tensors."""
        func = node.func
        receiver: Known | None = None
        if isinstance(func, ast.Attribute):
            callee = self.eval(func)
            receiver = self._receiver(func, node)
            if receiver.is_tensor and not callee.atoms:
                callee = self.flow.external_member(self.flow.tensors, func.attr)
        else:
            callee = self._super(node) if _is_super(func) else None  # type: ignore[assignment]
            if callee is not None:
                return callee
            callee = self.eval(func)
        arguments = self._arguments(node)
        if receiver is not None and isinstance(func, ast.Attribute) and func.attr in _GROWING:
            self._grow_by_call(func, receiver, arguments)
        if callee.atoms:
            results = [self._apply(atom, callee.sure, receiver, arguments, node) for atom in callee.atoms]
            result = join([r for r in results if r is not None] or [UNKNOWN])
            if result.atoms:
                return result
        return self._guess(callee, receiver, arguments)

    def _receiver(self, func: ast.Attribute, node: ast.Call) -> Known:
        """The receiver of a method call, recognised by the method where nothing else is known."""
        facts = self.flow.facts
        known = facts.get(func.value, UNKNOWN)
        if isinstance(func.value, ast.Constant):
            return self.eval(func.value)
        library = self.flow.library
        if not known.atoms:
            sized = func.attr in library.sets["size-method"] and bool(node.args)
            if library.only_tensors_have(func.attr, self.flow.proving) or sized:
                known = of(Kind.TENSOR, Confidence.INFERRED)
        elif known.sure is Confidence.POSSIBLE and known.is_tensor:
            if library.is_tensor_method(func.attr) and func.attr not in library.sets["container-method"]:
                known = of(Kind.TENSOR, Confidence.INFERRED)
        else:
            return known
        if known.is_tensor and known.sure is not Confidence.POSSIBLE:
            self._is_tensor(func.value, known)
        return known

    def _is_tensor(self, place: ast.expr, known: Known) -> None:
        """A value turned out to be a Tensor; so is what it was made from by a method that Tensors have."""
        facts, library = self.flow.facts, self.flow.library
        while True:
            facts[place] = known
            key = self.key(place)
            if key is not None:
                self.set(key, known)
            if not isinstance(place, ast.Call) or not isinstance(place.func, ast.Attribute):
                return
            if not library.is_tensor_method(place.func.attr) or facts.get(place.func.value, known).atoms:
                return
            place = place.func.value

    def _super(self, node: ast.Call) -> Known:
        self.flow.facts[node.func] = UNKNOWN
        for arg in node.args:
            self.eval(arg)
        if self.owner is None:
            return UNKNOWN
        kind = self.flow.instance(self.owner, Confidence.CERTAIN).kind or Kind.INSTANCE
        return Known((Atom(kind, ref=SelfValue(self.owner, parent=True)),), Confidence.CERTAIN)

    def _arguments(self, node: ast.Call) -> Arguments:
        positional: list[Known] = []
        constants: dict[str, object] = {}
        keywords: dict[str, Known] = {}
        for index, arg in enumerate(node.args):
            if isinstance(arg, ast.Starred):
                positional.append(elements(self.eval(arg.value)))
                continue
            positional.append(self.eval(arg))
            if isinstance(arg, ast.Constant):
                constants[str(index)] = arg.value
        for keyword in node.keywords:
            value = self.eval(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
                if isinstance(keyword.value, ast.Constant):
                    constants[keyword.arg] = keyword.value.value
        return Arguments(tuple(positional), keywords, constants)

    def _apply(
        self, atom: Atom, sure: Confidence, receiver: Known | None, arguments: Arguments, node: ast.Call
    ) -> Known | None:
        flow, ref = self.flow, atom.ref
        if atom.kind is Kind.NONE:
            return None
        if isinstance(ref, FunctionValue):
            bound = arguments
            if ref.owner is not None and not isinstance(node.func, ast.Attribute):
                bound = Arguments(arguments.positional[1:], arguments.keywords, {})
            return flow.returned(ref, bound).weaker(sure)
        if atom.kind is Kind.CLASS:
            return self._create(atom, sure, arguments)
        if atom.kind is Kind.MODULE:
            return self._run_module(atom, sure, arguments)
        if isinstance(ref, Named):
            return self._external(ref.name, sure, receiver, arguments, node)
        if isinstance(ref, ClassValue):
            called = flow.member(ref, "__call__")
            found = called.atom
            if found is not None and isinstance(found.ref, FunctionValue):
                return flow.returned(found.ref, arguments).weaker(sure)
        return UNKNOWN

    def _external(
        self, name: str, sure: Confidence, receiver: Known | None, arguments: Arguments, node: ast.Call
    ) -> Known:
        flow, library = self.flow, self.flow.library
        if name in library.sets["registers"] and receiver is not None and self.owner is not None:
            self._register(node, arguments, library.sets["registers-module"], name)
        self._mark_arguments(name, node)
        special = _SPECIAL.get(name)
        if special is not None:
            return special(arguments, receiver or UNKNOWN)
        if name in library.sets["partial"] and arguments.positional:
            return arguments.positional[0].weaker(Confidence.INFERRED)
        found = library.result(name, arguments, receiver)
        if found is None:
            if receiver is not None and receiver.is_tensor:
                return of(Kind.TENSOR, Confidence.POSSIBLE)
            return UNKNOWN
        if receiver is not None and name.startswith(flow.tensors):
            sure = sure.weaker(receiver.sure)
        if (
            found.atoms
            and found.atoms[0].kind is Kind.PARAMETER
            and receiver is not None
            and receiver.is_tensor
        ):
            found = of(Kind.TENSOR, found.sure)
        return found.weaker(sure)

    def _mark_arguments(self, name: str, node: ast.Call) -> None:
        """Arguments of unclear kind at places that only take Tensors are Tensors from here on."""
        for parameter, place, many in self.flow.library.tensor_places(name):
            value = argument_of(node, parameter, place)
            if value is None or many:
                continue
            known = self.flow.facts.get(value)
            if known is not None and (not known.atoms or known.sure is Confidence.POSSIBLE):
                key = self.key(value)
                if key is not None and (not known.atoms or known.is_tensor):
                    self.set(key, of(Kind.TENSOR, Confidence.INFERRED))

    def _register(self, node: ast.Call, arguments: Arguments, modules: frozenset[str], name: str) -> None:
        """``self.register_buffer("name", value)`` and its like store an attribute."""
        if not isinstance(node.func, ast.Attribute) or self.key(node.func) is None:
            return
        text = arguments.constants.get("0", arguments.constants.get("name"))
        if not isinstance(text, str) or self.owner is None:
            return
        value = next(
            iter(
                [*arguments.positional[1:2], *(v for k, v in arguments.keywords.items() if k != "persistent")]
            ),
            UNKNOWN,
        )
        if name not in modules and not value.atoms:
            value = of(Kind.TENSOR, Confidence.INFERRED)
        self.set(f"self.{text}", value)
        self.flow.write(self.owner, text, value)

    def _create(self, atom: Atom, sure: Confidence, arguments: Arguments) -> Known:
        flow, ref = self.flow, atom.ref
        if isinstance(ref, ClassValue):
            return flow.instance(ref, sure)
        if not isinstance(ref, Named):
            return UNKNOWN
        found = flow.library.result(ref.name, arguments)
        if found is not None:
            return found.weaker(sure)
        kind = flow.library.instance_kind(ref.name)
        first = arguments.positional[0] if arguments.positional else None
        if kind is Kind.MODULE:
            return Known((Atom(kind, _parts(arguments), ref=ref),), sure)
        if kind in (Kind.LIST, Kind.TUPLE):
            return container(kind, elements(first) if first is not None else None, sure)
        if kind is Kind.DICT:
            inner = first.atom if first is not None else None
            known = inner.element if inner is not None and inner.kind is Kind.DICT else None
            parts = [*([known] if known is not None else []), *arguments.keywords.values()]
            empty = not arguments.positional and not parts
            return container(kind, join(parts) if parts else None if empty else UNKNOWN, sure)
        if kind in (Kind.INSTANCE, Kind.OPTIMIZER, Kind.LOADER):
            return Known((Atom(kind, ref=ref),), sure)
        return of(kind, sure)

    def _run_module(self, atom: Atom, sure: Confidence, arguments: Arguments) -> Known:
        flow, ref = self.flow, atom.ref
        if isinstance(ref, SelfValue):
            ref = ref.owner
        if isinstance(ref, ClassValue):
            for method in ("forward", "construct", "__call__"):
                found = flow.member(ref, method).atom
                if found is not None and isinstance(found.ref, FunctionValue):
                    return flow.returned(found.ref, arguments).weaker(sure.weaker(Confidence.INFERRED))
            return self._guess(UNKNOWN, None, arguments)
        if isinstance(ref, Named):
            found_result = flow.library.result(f"{ref.name}()", arguments)
            if found_result is not None:
                return found_result.weaker(sure)
            if ref.name in flow.library.modules and ref.name not in flow.library.sets["module-base"]:
                return of(Kind.TENSOR, sure.weaker(Confidence.INFERRED))
        return self._guess(UNKNOWN, None, arguments)

    def _guess(self, callee: Known, receiver: Known | None, arguments: Arguments) -> Known:
        """What an unknown callable gives that takes a Tensor: possibly a Tensor."""
        if callee.atoms and callee.kind not in (Kind.FUNCTION, Kind.MODULE):
            return UNKNOWN
        first = arguments.positional[0] if arguments.positional else None
        if first is not None and first.is_tensor:
            return of(Kind.TENSOR, Confidence.POSSIBLE)
        return UNKNOWN

    # --- containers ------------------------------------------------------------------------------------

    def _grow_by_call(self, func: ast.Attribute, receiver: Known, arguments: Arguments) -> None:
        if not arguments.positional:
            return
        value = arguments.positional[-1]
        if _GROWING[func.attr]:
            atom = value.atom
            inner = atom.element if atom is not None and atom.kind is Kind.DICT else elements(value)
            value = inner or UNKNOWN
        self.grow(func.value, receiver, value)

    def grow(self, place: ast.expr, known: Known, value: Known) -> None:
        """A container at a place now also holds ``value``."""
        atom = known.atom
        key = self.key(place)
        if atom is None or key is None or atom.kind not in (Kind.LIST, Kind.DICT, Kind.MODULE):
            return
        if isinstance(atom.ref, ClassValue):
            return
        element = value if atom.element is None else join((atom.element, value))
        if element == atom.element:
            return
        grown = container(atom.kind, element, known.sure)
        if atom.kind is Kind.MODULE:
            grown = Known((Atom(Kind.MODULE, element, ref=atom.ref),), known.sure)
        self.set(key, grown)
        if key.startswith("self.") and self.owner is not None:
            self.flow.write(self.owner, key.removeprefix("self."), grown)


def _is_super(func: ast.expr) -> bool:
    return isinstance(func, ast.Name) and func.id == "super"


def _parts(arguments: Arguments) -> Known | None:
    """What a container of modules holds: its arguments, or what its one argument holds."""
    parts: list[Known] = []
    for value in arguments.positional:
        atom = value.atom
        if atom is not None and atom.kind is Kind.MODULE:
            parts.append(value)
        elif atom is not None and atom.kind is Kind.DICT:
            parts.append(atom.element or UNKNOWN)
        elif (
            atom is not None
            and (atom.kind in (Kind.LIST, Kind.TUPLE, Kind.OTHER))
            and atom.element is not None
        ):
            parts.append(atom.element)
        elif atom is not None and atom.kind in (Kind.LIST, Kind.TUPLE):
            continue
        else:
            parts.append(UNKNOWN)
    return join(parts) if parts else None


# --- built-ins whose result depends on the parts of their arguments --------------------------------------


def _enumerate(arguments: Arguments, receiver: Known) -> Known:
    return _iterator(items((of(Kind.NUMBER), _each(arguments))))


def _zip(arguments: Arguments, receiver: Known) -> Known:
    return _iterator(items(tuple(elements(value) for value in arguments.positional)))


def _iterator(element: Known) -> Known:
    return Known((Atom(Kind.OTHER, element),), Confidence.CERTAIN)


def _each(arguments: Arguments) -> Known:
    return elements(arguments.positional[0]) if arguments.positional else UNKNOWN


def _same_parts(arguments: Arguments, receiver: Known) -> Known:
    return _iterator(_each(arguments))


def _sorted(arguments: Arguments, receiver: Known) -> Known:
    return container(Kind.LIST, _each(arguments))


def _one(arguments: Arguments, receiver: Known) -> Known:
    return _each(arguments)


def _extreme(arguments: Arguments, receiver: Known) -> Known:
    if len(arguments.positional) == 1:
        return elements(arguments.positional[0])
    return join(arguments.positional) if arguments.positional else UNKNOWN


def _element(receiver: Known) -> Known:
    atom = receiver.atom
    return (atom.element or UNKNOWN) if atom is not None else UNKNOWN


def _held(arguments: Arguments, receiver: Known) -> Known:
    return _element(receiver)


def _held_or_default(arguments: Arguments, receiver: Known) -> Known:
    default = arguments.positional[1] if len(arguments.positional) > 1 else of(Kind.NONE)
    return join((_element(receiver), default))


def _values(arguments: Arguments, receiver: Known) -> Known:
    return _iterator(_element(receiver))


def _pairs(arguments: Arguments, receiver: Known) -> Known:
    return _iterator(items((UNKNOWN, _element(receiver))))


_SPECIAL: dict[str, Callable[[Arguments, Known], Known]] = {
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.reversed": _same_parts,
    "builtins.iter": _same_parts,
    "builtins.sorted": _sorted,
    "builtins.next": _one,
    "builtins.sum": _one,
    "builtins.max": _extreme,
    "builtins.min": _extreme,
    "builtins.list.pop": _held,
    "builtins.list.copy": lambda arguments, receiver: receiver,
    "builtins.dict.copy": lambda arguments, receiver: receiver,
    "builtins.dict.get": _held_or_default,
    "builtins.dict.pop": _held,
    "builtins.dict.setdefault": _held,
    "builtins.dict.values": _values,
    "builtins.dict.items": _pairs,
}
