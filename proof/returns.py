"""What framework callables give back and which arguments must be Tensors: ``checks/returns.tsv``.

``python proof/returns.py [--write]``: read off torch 2.13.0's operator schemas and annotations and off the
"Returns" and "Outputs" sections of MindSpore 2.10.0's documentation; without ``--write`` the file is compared.
Columns: name, condition (a parameter that is passed, ``param:kind``; a digit: a place), what comes back, and the
parameters that must be Tensors (``name@place``, with ``*`` a list of them).
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "checks" / "returns.tsv"
Row = tuple[str, str, str, str]

KINDS = {
    "Tensor": "tensor",
    "int": "number",
    "SymInt": "number",
    "float": "number",
    "bool": "bool",
    "Tensor[]": "tuple[tensor]",
    "List[Tensor]": "tuple[tensor]",
    "Scalar": "number!",
    "number": "number!",
    "int[]": "shape",
    "Device": "device",
    "ScalarType": "dtype",
    "List[int]": "shape",
    "complex": "number",
}

PAIR = "tuple[tensor,tensor]"
BY_HAND: dict[str, list[tuple[str, str]]] = {
    # A dimension makes a pair of values and places out of one value; the overloads are told apart by the kind.
    **{
        f"{cls}.{name}": [("dim", PAIR), (f"{place}:number", PAIR), ("", "tensor")]
        for cls, place in (("torch", 1), ("torch.Tensor", 0))
        for name in ("max", "min", "median", "nanmedian")
    },
    "torch.Tensor.size": [("dim", "number"), ("0:number", "number"), ("", "shape")],
    "torch.Tensor.stride": [("dim", "number"), ("0:number", "number"), ("", "shape")],
    "torch.Tensor.type": [("dtype", "tensor"), ("0", "tensor"), ("", "str")],
    "torch.Tensor.item": [("", "number!")],
    "torch.Tensor.tolist": [("", "list")],
    "torch.Tensor.numpy": [("", "array")],
    "torch.Tensor.shape": [("", "shape")],
    "torch.Tensor.backward": [("", "none")],
    "torch.Tensor.register_hook": [("", "other")],
    "torch.Tensor.get_device": [("", "number")],
    "torch.Tensor.element_size": [("", "number")],
    "torch.Tensor.dim": [("", "number")],
    "torch.Tensor.numel": [("", "number")],
    "torch.numel": [("", "number")],
    "torch.Tensor.unique": [("return_inverse=True", PAIR), ("return_counts=True", PAIR), ("", "tensor")],
    "torch.unique": [("return_inverse=True", PAIR), ("return_counts=True", PAIR), ("", "tensor")],
    "torch.unique_consecutive": [("return_inverse=True", PAIR), ("return_counts=True", PAIR), ("", "tensor")],
    "torch.nonzero": [("as_tuple=True", "tuple[tensor]"), ("", "tensor")],
    "torch.Tensor.nonzero": [("as_tuple=True", "tuple[tensor]"), ("", "tensor")],
    "torch.where": [("1", "tensor"), ("", "tuple[tensor]")],
    "torch.meshgrid": [("", "tuple[tensor]")],
    "torch.broadcast_tensors": [("", "tuple[tensor]")],
    "torch.atleast_1d": [("1", "tuple[tensor]"), ("", "tensor")],
    "torch.std_mean": [("", PAIR)],
    "torch.var_mean": [("", PAIR)],
    "torch.einsum": [("", "tensor")],
    "torch.finfo": [("", "other")],
    "torch.iinfo": [("", "other")],
    "torch.is_grad_enabled": [("", "bool")],
    "torch.linalg.lstsq": [("", "tuple[tensor]")],
    "torch.nn.functional.max_pool2d": [("return_indices=True", PAIR), ("", "tensor")],
    "torch.nn.functional.max_pool1d": [("return_indices=True", PAIR), ("", "tensor")],
    "torch.nn.functional.max_pool3d": [("return_indices=True", PAIR), ("", "tensor")],
    "torch.nn.functional.multi_head_attention_forward": [("", "tuple[tensor,tensor]")],
    "torch.nn.functional.ctc_loss": [("", "tensor")],
    "torch.nn.LSTM()": [("", "tuple[tensor,tuple[tensor,tensor]]")],
    "torch.nn.GRU()": [("", PAIR)],
    "torch.nn.RNN()": [("", PAIR)],
    "torch.nn.LSTMCell()": [("", PAIR)],
    "torch.nn.MultiheadAttention()": [("", PAIR)],
    "torch.nn.AdaptiveLogSoftmaxWithLoss()": [("", PAIR)],
    "torch.jit.is_scripting": [("", "bool")],
    "torch.jit.is_tracing": [("", "bool")],
    "torch.cuda.is_available": [("", "bool")],
    "torch.cuda.device_count": [("", "number")],
    "torch.distributed.is_initialized": [("", "bool")],
    "torch.distributed.is_available": [("", "bool")],
    "torch.distributed.get_rank": [("", "number")],
    "torch.distributed.get_world_size": [("", "number")],
    "torch.load": [("", "other")],
    "torch.save": [("", "none")],
    "torch.autograd.grad": [("", "tuple[tensor]")],
    "torch.get_default_dtype": [("", "dtype")],
    "torch.nn.utils.rnn.pad_packed_sequence": [("", PAIR)],
    "torch.nn.utils.rnn.pad_sequence": [("", "tensor")],
    "torch.nn.utils.clip_grad_norm_": [("", "tensor")],
    "mindspore.Tensor.type": [("dtype", "tensor"), ("0", "tensor"), ("", "str")],
    "torch.nn.functional.adaptive_max_pool1d": [("return_indices=True", PAIR), ("", "tensor")],
    "torch.nn.functional.adaptive_max_pool2d": [("return_indices=True", PAIR), ("", "tensor")],
    "torch.nn.functional.adaptive_max_pool3d": [("return_indices=True", PAIR), ("", "tensor")],
    "torch.sort": [("", PAIR)],
    "torch.Tensor.sort": [("", PAIR)],
    "mindspore.Tensor.item": [("", "number!")],
    "mindspore.Tensor.asnumpy": [("", "array")],
    "mindspore.Tensor.numpy": [("", "array")],
    "mindspore.Tensor.tolist": [("", "list")],
    "mindspore.Tensor.shape": [("", "shape")],
    "mindspore.Tensor.strides": [("", "shape")],
    "mindspore.Tensor.size": [("", "number")],
    "mindspore.Tensor.ndim": [("", "number")],
    "mindspore.Tensor.dim": [("", "number")],
    "mindspore.Tensor.ndimension": [("", "number")],
    "mindspore.Tensor.dtype": [("", "dtype")],
    "mindspore.Tensor.T": [("", "tensor")],
    "mindspore.Tensor.mT": [("", "tensor")],
    "mindspore.Tensor.max": [
        ("return_indices=True", PAIR),
        ("dim", PAIR),
        ("0:number", PAIR),
        ("", "tensor"),
    ],
    "mindspore.Tensor.min": [
        ("return_indices=True", PAIR),
        ("dim", PAIR),
        ("0:number", PAIR),
        ("", "tensor"),
    ],
    "mindspore.Tensor.sort": [("", PAIR)],
    "mindspore.Tensor.topk": [("", PAIR)],
    "mindspore.ops.topk": [("", PAIR)],
    "mindspore.ops.sort": [("", PAIR)],
    "mindspore.mint.sort": [("", PAIR)],
    "mindspore.mint.topk": [("", PAIR)],
    "mindspore.Tensor.unique": [("return_inverse=True", PAIR), ("return_counts=True", PAIR), ("", "tensor")],
    "mindspore.ops.shape": [("", "shape")],
    "mindspore.ops.rank": [("", "number")],
    "mindspore.ops.size": [("", "number")],
    "mindspore.ops.numel": [("", "number")],
    "mindspore.ops.max": [("axis", PAIR), ("1", PAIR), ("", "tuple[tensor,tensor]")],
    "mindspore.ops.min": [("axis", PAIR), ("1", PAIR), ("", "tuple[tensor,tensor]")],
    "mindspore.mint.max": [("dim", PAIR), ("axis", PAIR), ("1:number", PAIR), ("", "tensor")],
    "mindspore.mint.min": [("dim", PAIR), ("axis", PAIR), ("1:number", PAIR), ("", "tensor")],
    "mindspore.mint.median": [("dim", PAIR), ("1:number", PAIR), ("", "tensor")],
    "mindspore.mint.unique": [("return_inverse=True", PAIR), ("return_counts=True", PAIR), ("", "tensor")],
    "mindspore.nn.LSTM()": [("", "tuple[tensor,tuple[tensor,tensor]]")],
    "mindspore.nn.GRU()": [("", PAIR)],
    "mindspore.nn.RNN()": [("", PAIR)],
    "mindspore.nn.LSTMCell()": [("", PAIR)],
    "mindspore.nn.MultiheadAttention()": [("", PAIR)],
    "mindspore.get_context": [("", "other")],
    "mindspore.set_context": [("", "none")],
    "mindspore.set_seed": [("", "none")],
    "mindspore.load_checkpoint": [("", "dict[parameter]")],
    "mindspore.save_checkpoint": [("", "none")],
    "mindspore.grad": [("", "function")],
    "mindspore.value_and_grad": [("", "function")],
    "mindspore.jit": [("", "function")],
}
"""Where the overloads are told apart by what is passed, and where the sources do not say: read in the documentation."""

CALLED = {
    "tuple[tensor,tensor]": (
        "mindspore.Tensor.aminmax",
        "mindspore.Tensor.cummax",
        "mindspore.Tensor.cummin",
        "mindspore.Tensor.geqrf",
        "mindspore.Tensor.log_matrix_determinant",
        "mindspore.Tensor.median",
        "mindspore.Tensor.nanmedian",
        "mindspore.Tensor.qr",
        "mindspore.Tensor.slogdet",
        "mindspore.Tensor.top_k",
        "mindspore.numpy.histogram",
        "torch.nn.functional.adaptive_max_pool1d_with_indices",
        "torch.nn.functional.adaptive_max_pool2d_with_indices",
        "torch.nn.functional.adaptive_max_pool3d_with_indices",
        "torch.nn.functional.max_pool1d_with_indices",
        "torch.nn.functional.max_pool2d_with_indices",
        "torch.nn.functional.max_pool3d_with_indices",
        "torch.nn.functional.fractional_max_pool2d_with_indices",
        "torch.nn.functional.fractional_max_pool3d_with_indices",
    ),
    "tuple[tensor]": (
        "mindspore.Tensor.dsplit",
        "mindspore.Tensor.hsplit",
        "mindspore.Tensor.vsplit",
        "mindspore.Tensor.tensor_split",
        "mindspore.Tensor.unbind",
        "mindspore.mint.meshgrid",
        "mindspore.numpy.unravel_index",
        "mindspore.numpy.meshgrid",
        "mindspore.ops.meshgrid",
    ),
    "tuple[tensor,tensor,tensor]": ("mindspore.Tensor.svd",),
    "list[tensor]": ("mindspore.numpy.indices",),
    "tensor": (
        "mindspore.mint.greater_equal",
        "mindspore.mint.isfinite",
        "mindspore.numpy.isclose",
        "mindspore.mint.unique_consecutive",
        "mindspore.ops.unique_consecutive",
        "mindspore.ops.function.unique_consecutive",
        "mindspore.ops.functional.unique_consecutive",
        "torch.Tensor.unique_consecutive",
    ),
    "bool": (
        "mindspore.Tensor.is_complex",
        "mindspore.Tensor.is_floating_point",
        "mindspore.Tensor.const_arg",
        "mindspore.Tensor.has_init",
        "mindspore.Tensor.init_finished",
        "mindspore.Tensor.virtual_flag",
        "torch.nn.functional.has_torch_function",
        "torch.nn.functional.has_torch_function_unary",
        "torch.nn.functional.has_torch_function_variadic",
    ),
    "number": (
        "mindspore.Tensor.data_ptr",
        "mindspore.Tensor.nelement",
        "mindspore.Tensor.numel",
        "mindspore.Tensor.delta_seed",
        "mindspore.ops.function.rank",
        "mindspore.ops.functional.rank",
    ),
    "str": (
        "mindspore.Tensor.device",
        "mindspore.Tensor.offload_file_path",
    ),
    "none": (
        "mindspore.Tensor.data_sync",
        "mindspore.Tensor.flush_from_cache",
        "mindspore.Tensor.remove_hook",
        "mindspore.Tensor.requires_grad_",
        "mindspore.Tensor.reverse",
        "mindspore.Tensor.wait_pipeline",
        "mindspore.ops.tuple_to_array",
        "mindspore.ops.function.tuple_to_array",
        "mindspore.ops.functional.tuple_to_array",
    ),
    "other": (
        "mindspore.Tensor.get_bytes",
        "mindspore.Tensor.storage",
        "mindspore.Tensor.untyped_storage",
        "mindspore.Tensor.to_coo",
        "mindspore.Tensor.to_csr",
        "mindspore.Tensor.to_dlpack",
        "mindspore.Tensor.hooks",
        "mindspore.manual_seed",
    ),
    "dtype": ("torch.result_type",),
    "": (
        "mindspore.Tensor.copy",
        "mindspore.Tensor.stride",
        "mindspore.numpy.unique",
        "mindspore.numpy.histogramdd",
        "mindspore.numpy.atleast_1d",
        "mindspore.numpy.atleast_2d",
        "mindspore.numpy.atleast_3d",
        "mindspore.ops.atleast_1d",
        "mindspore.ops.atleast_2d",
        "mindspore.ops.atleast_3d",
        "mindspore.ops.function.atleast_1d",
        "mindspore.ops.function.atleast_2d",
        "mindspore.ops.function.atleast_3d",
        "mindspore.ops.functional.atleast_1d",
        "mindspore.ops.functional.atleast_2d",
        "mindspore.ops.functional.atleast_3d",
        "mindspore.ops.adaptive_max_pool3d",
        "mindspore.ops.clip_by_global_norm",
        "mindspore.ops.function.adaptive_max_pool3d",
        "mindspore.ops.function.clip_by_global_norm",
        "mindspore.ops.functional.adaptive_max_pool3d",
        "mindspore.ops.functional.clip_by_global_norm",
    ),
}
"""What 2,974 names gave when they were called on CPU, where that is not what the sources say; empty: it depends."""

ATTRIBUTES = {
    "dtype": "dtype",
    "device": "device",
    "ndim": "number",
    "itemsize": "number",
    "nbytes": "number",
    "shape": "shape",
    "layout": "other",
    "names": "tuple[str]",
    "grad_fn": "other",
    "name": "str",
    "output_nr": "number",
    "requires_grad": "bool",
    "is_leaf": "bool",
}
TENSOR_ATTRIBUTES = {"T", "H", "mT", "mH", "data", "grad", "imag", "real"}


def surface(framework: str) -> list[tuple[str, str]]:
    """Names and kinds of ``checks/surface``."""
    lines = (ROOT / "checks" / "surface" / f"{framework}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [(line.split("\t")[0], line.split("\t")[1]) for line in lines]


# --- torch ------------------------------------------------------------------------------------------------


def schemas() -> dict[str, list[Any]]:
    """The operator schemas by name that take a Tensor, without those that write into ``out``."""
    result: dict[str, list[Any]] = defaultdict(list)
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::") and not schema.overload_name.endswith(
            ("out", "_out", "names_out")
        ):
            result[schema.name.removeprefix("aten::")].append(schema)
    return result


def returned(overloads: list[Any], need_tensor: bool) -> str:
    """What the overloads that fit give back, if they agree."""
    kinds = set()
    for schema in overloads:
        takes = [str(a.type) for a in schema.arguments]
        if need_tensor and not any("Tensor" in t for t in takes[:1]):
            continue
        parts = [KINDS.get(str(r.type), "") for r in schema.returns]
        kinds.add(
            ("" if "" in parts else parts[0] if len(parts) == 1 else f"tuple[{','.join(parts)}]")
            if parts
            else "none"
        )
    if len(kinds) == 1:
        return kinds.pop()
    return "tensor" if "tensor" in kinds and kinds <= {"tensor", "number", "number!", "bool"} else ""


def required(overloads: list[Any], skip_self: bool) -> str:
    """Parameters that every overload wants to be Tensors (``*``: lists of them)."""
    if not overloads:
        return ""
    found: list[str] = []
    for place, argument in enumerate(overloads[0].arguments[1 if skip_self else 0 :]):
        types = [{str(a.type) for a in schema.arguments if a.name == argument.name} for schema in overloads]
        kinds = set().union(*types)
        name = "input" if argument.name == "self" else argument.name
        if all(types) and kinds == {"Tensor"}:
            found.append(f"{name}@{place}")
        elif all(types) and kinds <= {"Tensor[]", "List[Tensor]"}:
            found.append(f"{name}@{place}*")
    return ",".join(found)


def torch_rows() -> list[Row]:
    """Rows of torch."""
    known = schemas()
    rows: list[Row] = []
    for name, kind in surface("torch"):
        owner, _, last = name.rpartition(".")
        if name in BY_HAND:
            continue
        if kind == "attribute":
            if owner == "torch.Tensor":
                value = (
                    "tensor"
                    if last in TENSOR_ATTRIBUTES
                    else ATTRIBUTES.get(last, "bool" if last.startswith("is_") else "other")
                )
                rows.append((name, "", value, ""))
            elif owner == "torch" and isinstance(getattr(torch, last, None), torch.dtype):
                rows.append((name, "", "dtype", ""))
            continue
        if kind not in ("function", "method"):
            continue
        prefixes = {
            "torch": "",
            "torch.Tensor": "",
            "torch.linalg": "linalg_",
            "torch.fft": "fft_",
            "torch.special": "special_",
        }
        if owner in prefixes:
            overloads = known.get(prefixes[owner] + last, [])
            takes_tensor = [s for s in overloads if any("Tensor" in str(a.type) for a in s.arguments[:1])]
            value = returned(overloads, bool(takes_tensor))
            if owner == "torch.Tensor" and not value and last.endswith("_") and not last.endswith("__"):
                value = "tensor"
            value = value or {"torch": FALLBACK, "torch.Tensor": FALLBACK_METHODS}.get(owner, {}).get(
                last, ""
            )
            if value:
                rows.append((name, "", value, required(takes_tensor, owner == "torch.Tensor")))
        elif owner == "torch.nn.functional":
            rows.append((name, "", "tensor", annotated(last)))
    return rows


FALLBACK = dict.fromkeys(
    [
        "tensor",
        "as_tensor",
        "from_numpy",
        "asarray",
        "stft",
        "istft",
        "norm",
        "cdist",
        "tensordot",
        "block_diag",
        "cartesian_prod",
        "chain_matmul",
        "frombuffer",
        "sparse_coo_tensor",
        "randint",
        "rand",
        "randn",
        "zeros",
        "ones",
        "full",
        "empty",
        "arange",
        "linspace",
        "logspace",
        "eye",
        "zeros_like",
        "ones_like",
        "rand_like",
        "randn_like",
        "full_like",
        "empty_like",
        "randperm",
        "normal",
        "bernoulli",
        "multinomial",
    ],
    "tensor",
)
FALLBACK |= {
    "split": "tuple[tensor]",
    "is_tensor": "bool",
    "is_floating_point": "bool",
    "is_complex": "bool",
    "allclose": "bool!",
    "equal": "bool!",
    "compile": "first",
    "set_grad_enabled": "other",
    "no_grad": "other",
    "manual_seed": "other",
    "lu_solve": "tensor",
    "unravel_index": "tuple[tensor]",
}
FALLBACK_METHODS = dict.fromkeys(
    [
        "to",
        "cpu",
        "cuda",
        "xpu",
        "npu",
        "float",
        "double",
        "half",
        "bfloat16",
        "long",
        "int",
        "short",
        "char",
        "byte",
        "bool",
        "view_as",
        "reshape_as",
        "type_as",
        "expand",
        "expand_as",
        "repeat",
        "new_tensor",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_empty",
        "contiguous",
        "detach",
        "clone",
        "requires_grad_",
        "norm",
        "unflatten",
        "stft",
        "istft",
        "data_sync",
        "reshape",
        "permute",
        "flip",
        "as_subclass",
        "rename",
        "align_to",
        "share_memory_",
        "pin_memory",
        "masked_fill",
        "scatter",
        "index_add",
        "sort_",
        "apply_",
        "map_",
    ],
    "tensor",
)
FALLBACK_METHODS |= {
    "split": "tuple[tensor]",
    "is_floating_point": "bool",
    "is_complex": "bool",
    "is_contiguous": "bool",
    "data_ptr": "number",
    "nelement": "number",
    "ndimension": "number",
    "storage": "other",
    "untyped_storage": "other",
    "retain_grad": "none",
    "has_names": "bool",
}


def annotated(name: str) -> str:
    """The parameters a Python function annotates as Tensors without a default."""
    function = getattr(torch.nn.functional, name, None)
    try:
        parameters = list(inspect.signature(function).parameters.values())  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return BUILTIN.get(name, "input@0")
    found = [
        f"{p.name}@{place}"
        for place, p in enumerate(parameters)
        if p.default is p.empty and (p.annotation is torch.Tensor or p.annotation == "Tensor")
    ]
    first = parameters[0] if parameters else None
    if (
        not found
        and first is not None
        and first.name in ("input", "query")
        and first.annotation is first.empty
    ):
        found = [f"{first.name}@0"]
    return ",".join(found)


BUILTIN = {
    **{f"conv{n}d": "input@0,weight@1" for n in (1, 2, 3)},
    "linear": "input@0,weight@1",
    "scaled_dot_product_attention": "query@0,key@1,value@2",
}
"""Functions written in C that have no Python signature."""


# --- MindSpore --------------------------------------------------------------------------------------------

_SECTION = re.compile(
    r"^\s*(Returns|Outputs):\s*\n(?P<text>(?:.*\n)*?)(?=^\s*(?:Raises|Supported|Examples|Note|\.\. note|Inputs|Args|Tutorial)|\Z)",
    re.M,
)


def documented(text: str) -> str:
    """The kind a documentation's section of results names first."""
    found = _SECTION.search(text + "\n")
    if found is None:
        return ""
    first = (
        " ".join(found["text"].split())[:160]
        .lower()
        .replace("`", "")
        .replace(":class:", "")
        .replace("mindspore.", "")
    )
    first = re.sub(r"^[-*]\s*\*{0,2}\w+\*{0,2}\s*\(", "(", first)
    if re.match(r"^\(?(a |the )?(tuple|list|tuples)\b", first):
        return "tuple[tensor]" if "tensor" in first else ""
    if re.match(r"^\(?(a |an |the |new |output |one |input |scalar )*(tensor|parameter)s?\b", first):
        names = re.findall(r"^\s*[-*]\s+\*\*\w+\*\*\s*\(Tensor", found["text"], re.M)
        return f"tuple[{','.join(['tensor'] * len(names))}]" if len(names) > 1 else "tensor"
    if re.match(r"^\(?(a |an |the )?(bool|boolean)\b", first):
        return "bool"
    if re.match(r"^\(?(a |an |the )?(int|float|number|python scalar)\b", first):
        return "number"
    return ""


def mindspore_rows() -> list[Row]:
    """Rows of MindSpore."""
    rows: list[Row] = []
    for name, kind in surface("mindspore"):
        owner, _, last = name.rpartition(".")
        if name in BY_HAND or last.startswith("_"):
            continue
        if (
            kind == "attribute"
            and owner == "mindspore"
            and re.match(r"^(u?int|float|bfloat|bool|complex)\d*_?$", last)
        ):
            rows.append((name, "", "dtype", ""))
        elif kind == "attribute" and owner == "mindspore.Tensor":
            value = (
                "tensor"
                if last in TENSOR_ATTRIBUTES
                else ATTRIBUTES.get(last, "bool" if last.startswith("is_") else "other")
            )
            rows.append((name, "", value, ""))
        elif kind in ("function", "method", "class") and owner in NAMESPACES:
            thing = resolve(name)
            is_cell = kind == "class"
            value = documented(inspect.getdoc(thing) or "") if thing is not None else ""
            if is_cell:
                if value and value != "tensor":
                    rows.append((f"{name}()", "", value, ""))
            elif value:
                rows.append((name, "", value, ""))
            elif owner == "mindspore.Tensor":
                rows.append((name, "", "tensor", ""))
    return rows


NAMESPACES = {
    "mindspore",
    "mindspore.ops",
    "mindspore.mint",
    "mindspore.mint.nn.functional",
    "mindspore.Tensor",
    "mindspore.nn",
    "mindspore.mint.nn",
    "mindspore.mint.linalg",
    "mindspore.mint.special",
    "mindspore.mint.fft",
    "mindspore.numpy",
    "mindspore.ops.function",
    "mindspore.ops.functional",
}


def resolve(name: str) -> Any:
    """The object of a name, None where it cannot be reached."""
    module, _, last = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), last, None)
    except ImportError:
        owner, _, method = module.rpartition(".")
        try:
            return getattr(getattr(importlib.import_module(owner), method), last, None)
        except (ImportError, AttributeError, ValueError):
            return None


def main() -> int:
    """Compare or write the file."""
    rows = [*torch_rows(), *mindspore_rows()]
    called = {name: value for value, names in CALLED.items() for name in names}
    rows = [(n, g, called.get(n, v), t) for n, g, v, t in rows if called.get(n, v)]
    rows += [(name, given, value, "") for name, cases in BY_HAND.items() for given, value in cases]
    rows.sort(key=lambda row: row[0])
    lines = ["name\tgiven\treturns\ttensors", *("\t".join(row) for row in rows)]
    text = "\n".join(lines) + "\n"
    if "--write" in sys.argv:
        FILE.write_text(text, encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != text:
        print(
            "checks/returns.tsv is not what the frameworks say; run proof/returns.py --write and read the difference"
        )
        return 1
    print(f"{len(rows)} rows")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
