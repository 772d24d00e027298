"""Write tables of the public names a framework really has, and merge the tables of several versions.

``python proof/surface.py walk mindspore -o FILE`` runs inside a Python that has the framework and writes one
row a name: name, kind, signature, platforms, separated by tabs, sorted by name, after one comment line that
names the framework and its version.  ``python proof/surface.py merge -o FILE TABLE...`` joins tables of one
framework, oldest or newest first, and adds a column with the versions that have the name (``*``: all of them).

Kinds: package, opaque (there, but its names are not listed), class, cell (``mindspore.nn.Cell``), module (``torch.nn.Module``), primitive (``mindspore.ops.Primitive``),
exception, function, method, attribute, package.  Signatures are without annotations; a default that is no plain
value reads ``...``; ``-`` is unknown.  Platforms are the letters of Ascend, GPU and CPU found in the docstring.
"""

from __future__ import annotations

import argparse
import enum
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

Row = tuple[str, str, str, str]

MODULES = {
    "mindspore": """
        amp boost common common.api common.dtype common.generator common.initializer common.parameter common.tensor
        communication communication.comm_func communication.management context dataset dataset.audio
        dataset.callback dataset.engine dataset.text dataset.transforms dataset.utils dataset.vision device_context
        device_context.ascend device_context.cpu device_context.gpu device_manager experimental experimental.llm_boost experimental.optim experimental.optim.lr_scheduler graph hal hal.contiguous_tensors_handle
        log mindrecord mint mint.distributed mint.linalg mint.nn mint.nn.functional
        mint.optim mint.special multiprocessing nn nn.utils nn.layer nn.learning_rate_schedule nn.loss nn.metrics nn.optim
        nn.probability nn.probability.bijector nn.probability.distribution nn.wrap numpy numpy.fft
        onnx ops ops.auto_generate ops.communication ops.composite ops.function ops.functional ops.operations parallel parallel.auto_parallel
        parallel.checkpoint_transform parallel.cluster parallel.distributed parallel.nn parallel.shard parallel.strategy profiler rewrite
        runtime safeguard scipy scipy.fft scipy.linalg scipy.optimize tools train
        train.amp train.callback train.data_sink train.loss_scale_manager train.metrics train.model train.serialization
        train.summary train.train_thor utils
    """,
    "torch": """
        accelerator amp autograd autograd.forward_ad autograd.functional autograd.graph autograd.profiler backends
        backends.cpu backends.cuda backends.cudnn backends.mkldnn backends.mps backends.openmp compiler cpu cpu.amp
        cuda cuda.amp cuda.comm cuda.nvtx cuda.random distributed distributed.algorithms
        distributed.algorithms._checkpoint.checkpoint_wrapper distributed.checkpoint distributed.device_mesh
        distributed.elastic distributed.fsdp distributed.nn distributed.optim distributed.pipelining distributed.rpc
        distributed.tensor distributed.tensor.parallel distributions distributions.constraints
        distributions.transforms export fft func futures fx hub jit library linalg masked monitor mps mtia
        multiprocessing nested nn nn.attention nn.attention.flex_attention nn.functional nn.init nn.intrinsic
        nn.modules nn.parallel nn.parameter nn.quantizable nn.quantized nn.utils nn.utils.parametrizations
        nn.utils.parametrize nn.utils.prune nn.utils.rnn nn.utils.stateless onnx optim optim.lr_scheduler
        optim.swa_utils overrides package profiler quantization random serialization signal signal.windows sparse
        special storage testing utils utils.benchmark utils.bottleneck utils.checkpoint utils.cpp_extension utils.data
        utils.data.dataloader utils.data.dataset utils.data.distributed utils.data.sampler utils.dlpack utils.hooks
        utils.mobile_optimizer utils.model_zoo utils.tensorboard xpu
    """,
}
"""Modules walked below each framework; one that a version does not have is left out."""

CLASSES = {
    "mindspore": """
        Tensor Parameter ParameterTuple Generator nn.Cell nn.CellList nn.SequentialCell nn.CellDict nn.Optimizer
        nn.Metric mint.optim.AdamW experimental.optim.Optimizer experimental.optim.lr_scheduler.LRScheduler
        dataset.Dataset dataset.GeneratorDataset train.Model train.Callback train.LossMonitor train.RunContext
        ops.Primitive profiler.Profiler runtime.Stream runtime.Event hal.Stream hal.Event amp.LossScaler
        amp.DynamicLossScaler amp.StaticLossScaler train.LossScaleManager
    """,
    "torch": """
        Tensor Size Generator Storage device dtype finfo iinfo nn.Module nn.Parameter nn.Sequential nn.ModuleList
        nn.ModuleDict nn.ParameterList nn.ParameterDict nn.MultiheadAttention nn.utils.rnn.PackedSequence
        optim.Optimizer optim.lr_scheduler.LRScheduler utils.data.DataLoader utils.data.Dataset amp.GradScaler
        autograd.Function cuda.Stream cuda.Event distributions.Distribution jit.ScriptModule
    """,
}
"""Classes whose public members get rows of their own."""

PLATFORMS = {"Ascend": "A", "GPU": "G", "CPU": "C"}
SUPPORTED = re.compile(r"Supported Platforms:?[^\S\n]*\n?\s*([^\n]*)")
MEMBER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")


# --- one row --------------------------------------------------------------------------------------------


def default(value: Any) -> str:
    """The default of a parameter as text that is the same in every process and on every machine."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if value is None or isinstance(value, (bool, int, float, complex)):
        return repr(value)
    if isinstance(value, str):
        return "..." if len(value) > 60 or (len(value) > 1 and os.sep in value) else repr(value)
    if isinstance(value, (tuple, list)) and len(value) < 10:
        inner = ",".join(default(item) for item in value)
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, dict) and not value:
        return "{}"
    if inspect.isclass(value) or inspect.isroutine(value):
        return str(getattr(value, "__name__", "..."))
    text = str(value).lower() if _value(value) else "..."  # a dtype: Float32 of MindSpore is float32
    return text if re.fullmatch(r"(torch\.)?[a-z]\w{0,30}", text) else "..."


def signature(thing: Any) -> str:
    """The signature without annotations, ``-`` where Python does not know it."""
    try:
        found = inspect.signature(thing)
    except Exception:  # frameworks raise whatever they like here
        return "-"
    parts: list[str] = []
    previous = None
    for parameter in found.parameters.values():
        if previous is inspect.Parameter.POSITIONAL_ONLY and parameter.kind is not previous:
            parts.append("/")
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and previous not in (
            inspect.Parameter.KEYWORD_ONLY,
            inspect.Parameter.VAR_POSITIONAL,
        ):
            parts.append("*")
        text = parameter.name
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            text = "*" + text
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            text = "**" + text
        if parameter.default is not inspect.Parameter.empty:
            text += "=" + default(parameter.default)
        parts.append(text)
        previous = parameter.kind
    if previous is inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    return ADDRESS.sub("...", f"({', '.join(parts)})")


def platforms(thing: Any) -> str:
    """The letters of the platforms the docstring names; overloads of one name are taken together."""
    text = getattr(thing, "__doc__", None)
    if not isinstance(text, str):
        return "-"
    lines = " ".join(SUPPORTED.findall(text))
    return "".join(letter for name, letter in PLATFORMS.items() if name in lines) or "-"


def kind(thing: Any, bases: dict[str, type], member: bool) -> str:
    """What a public name is."""
    if isinstance(thing, ModuleType):
        return "package"
    if inspect.isclass(thing):
        if issubclass(thing, BaseException):
            return "exception"
        return next((name for name, base in bases.items() if issubclass(thing, base)), "class")
    if callable(thing) and not _value(thing):
        return "method" if member else "function"
    return "attribute"


def _value(thing: Any) -> bool:
    """Whether something is a dtype, which is a value even where it can be called."""
    return type(thing).__name__ == "dtype" or type(thing).__module__ == "mindspore._c_expression.typing"


def row(name: str, thing: Any, bases: dict[str, type], *, member: bool = False) -> Row:
    """The row of a name."""
    what = kind(thing, bases, member)
    shown = "-" if what in {"package", "attribute"} else signature(thing)
    return name, what, shown, "-" if what == "package" else platforms(thing)


# --- the names ------------------------------------------------------------------------------------------


def belongs(thing: Any, framework: str) -> bool:
    """Whether a name of a module is the framework's own, not something it imported from elsewhere."""
    if isinstance(thing, ModuleType):
        return thing.__name__.partition(".")[0] == framework
    if type(thing).__module__ == "typing":
        return False
    home = getattr(thing, "__module__", None)
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return (
            home is None or str(home).partition(".")[0] == framework
        )  # builtin functions of torch have no home
    if not isinstance(home, str):
        home = type(thing).__module__
    return home.partition(".")[0] in {framework, "builtins"}


def names(module: ModuleType, framework: str) -> Iterator[tuple[str, Any]]:
    """Public names of a module with what they stand for."""
    exported = {name for name in getattr(module, "__all__", ()) if isinstance(name, str)}
    for name in sorted({*dir(module), *exported}):
        if not MEMBER.match(name):
            continue
        try:
            thing = getattr(module, name)
        except Exception:  # listed, yet not there (an optional part is not installed)
            continue
        if name in exported or belongs(thing, framework):
            yield name, thing


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """Public members of a class with what they stand for; properties are not evaluated."""
    for name in sorted(dir(owner)):
        if MEMBER.match(name):
            yield name, inspect.getattr_static(owner, name)


def _bases(framework: str) -> dict[str, type]:
    if framework == "torch":
        return {"module": importlib.import_module("torch.nn").Module}
    return {
        "cell": importlib.import_module("mindspore.nn").Cell,
        "primitive": importlib.import_module("mindspore.ops").Primitive,
    }


def _installed(path: str) -> bool:
    """Whether a module is there, importable or not."""
    try:
        return importlib.util.find_spec(path) is not None
    except (ImportError, ValueError):
        return False


def walk(framework: str) -> tuple[list[Row], list[str]]:
    """The rows of the installed framework, and the modules it does not have or cannot import."""
    bases = _bases(framework)
    absent: list[str] = []
    found: dict[str, Row] = {framework: (framework, "package", "-", "-")}
    for path in [framework, *(f"{framework}.{part}" for part in MODULES[framework].split())]:
        try:
            module = importlib.import_module(path)
        except Exception:
            absent.append(path)
            if _installed(path):  # it needs something that is not installed: its names stay unknown
                found[path] = (path, "package", "-", "-")
            continue
        found[path] = (path, "package", "-", "-")
        for name, thing in names(module, framework):
            full = f"{path}.{name}"
            if full not in found:
                found[full] = row(full, thing, bases)
    walked = {framework, *(f"{framework}.{part}" for part in MODULES[framework].split())} - set(absent)
    for path in [name for name, kind, *_ in found.values() if kind == "package"]:
        if path not in walked:
            found[path] = (path, "opaque", "-", "-")
        folders = getattr(sys.modules.get(path), "__path__", ())
        for info in pkgutil.iter_modules(folders):
            full = f"{path}.{info.name}"
            if full not in found and MEMBER.match(info.name):  # there, but its names are not listed
                found[full] = (full, "opaque", "-", "-")
    for path in CLASSES[framework].split():
        owner: Any = sys.modules[framework]
        for part in path.split("."):
            owner = getattr(owner, part, None)
        if not inspect.isclass(owner):
            continue
        for name, thing in members(owner):
            full = f"{framework}.{path}.{name}"
            bound = thing.__func__ if isinstance(thing, (staticmethod, classmethod)) else thing
            if isinstance(bound, property) or inspect.isdatadescriptor(bound):
                found[full] = (full, "attribute", "-", platforms(bound))
            else:
                found[full] = row(full, bound, bases, member=True)
    return sorted(found.values()), absent


# --- tables ---------------------------------------------------------------------------------------------


def write(file: Path, title: str, rows: Iterable[tuple[str, ...]]) -> None:
    """Write a table with its comment line."""
    lines = [f"# {title}", *("\t".join(cells) for cells in rows)]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(file: Path) -> tuple[str, str, list[Row]]:
    """Framework, version and rows of a table written by ``walk``."""
    head, *lines = file.read_text(encoding="utf-8").splitlines()
    _, framework, version = head.split()
    rows: list[Row] = []
    for line in lines:
        name, what, shown, where = line.split("\t")
        rows.append((name, what, shown, where))
    return framework, version, rows


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def merge(files: Iterable[Path]) -> tuple[str, list[tuple[str, ...]]]:
    """The title and the rows of several tables of one framework as one; the newest version describes a name."""
    tables = sorted((read(file) for file in files), key=lambda table: _order(table[1]))
    frameworks = {framework for framework, _, _ in tables}
    if len(frameworks) != 1:
        raise SystemExit(f"tables of one framework are needed, not of {len(frameworks)}")
    versions = [version for _, version, _ in tables]
    if len(set(versions)) != len(versions):
        raise SystemExit(f"a version is given twice: {' '.join(versions)}")
    newest: dict[str, Row] = {}
    having: dict[str, list[str]] = {}
    for _, version, rows in tables:
        for cells in rows:
            newest[cells[0]] = cells
            having.setdefault(cells[0], []).append(version)
    return f"{frameworks.pop()} {' '.join(versions)}", [
        (*newest[name], "*" if having[name] == versions else ",".join(having[name]))
        for name in sorted(newest)
    ]


def main() -> None:
    """Walk the installed framework, or merge tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    walking = commands.add_parser("walk", help="table of the installed framework")
    walking.add_argument("framework", choices=sorted(MODULES))
    merging = commands.add_parser("merge", help="one table of several versions")
    merging.add_argument("tables", nargs="+", type=Path)
    for command in (walking, merging):
        command.add_argument("-o", "--output", required=True, type=Path)
    options = parser.parse_args()
    output: Path = options.output.resolve()
    if options.command == "walk":
        warnings.simplefilter("ignore")
        version = importlib.import_module(options.framework).__version__.partition("+")[0]
        rows, absent = walk(options.framework)
        write(output, f"{options.framework} {version}", rows)
        print(
            f"{options.framework} {version}: {len(rows)} names; absent: {' '.join(absent) or 'nothing'}",
            file=sys.stderr,
        )
    else:
        title, merged = merge(options.tables)
        write(output, title, merged)
        print(f"{title}: {len(merged)} names", file=sys.stderr)


if __name__ == "__main__":
    main()
