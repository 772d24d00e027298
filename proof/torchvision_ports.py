"""Port torchvision's classification models from the wheel, and compare each with torch.

The model files and the three modules of layers they share are copied from the wheel of torchvision 0.20.1 into a
temporary folder as one package; what they import for downloads, presets and logging only is replaced, on both sides,
by a few lines of our own. ``mindport check --fix --unsafe-fixes --api nn`` ports the package in one run; nothing is
edited by hand. Then every model is built with random weights and compared as in ``proof/ports.py``.

``python proof/torchvision_ports.py [--wheel FOLDER] [NAME...]``: FOLDER is the unpacked wheel; without it the wheel is
downloaded. Exit code 0 when at least ten of the fifteen families are equal.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import ports

WANTED = 10
SHARED = ("models/_api.py", "models/_utils.py", "models/_meta.py", "ops/misc.py", "ops/stochastic_depth.py")
CASES = {
    "alexnet": ("alexnet", "AlexNet()", 64),
    "vgg": ("vgg", "vgg11_bn()", 32),
    "resnet": ("resnet", "resnet18()", 64),
    "squeezenet": ("squeezenet", "squeezenet1_1()", 64),
    "densenet": ("densenet", "DenseNet(8, (2, 2, 2), 16)", 64),
    "inception": ("inception", "Inception3(aux_logits=False, init_weights=False)", 96),
    "googlenet": ("googlenet", "GoogLeNet(aux_logits=False, init_weights=False)", 64),
    "shufflenetv2": ("shufflenetv2", "shufflenet_v2_x0_5()", 64),
    "mobilenetv2": ("mobilenetv2", "mobilenet_v2()", 64),
    "mobilenetv3": ("mobilenetv3", "mobilenet_v3_small()", 64),
    "mnasnet": ("mnasnet", "mnasnet0_5()", 64),
    "regnet": ("regnet", "regnet_y_400mf()", 64),
    "efficientnet": ("efficientnet", "efficientnet_b0()", 64),
    "convnext": (
        "convnext",
        "ConvNeXt([CNBlockConfig(24, 48, 2), CNBlockConfig(48, None, 2)], stochastic_depth_prob=0.1)",
        64,
    ),
    "vision_transformer": ("vision_transformer", "VisionTransformer(32, 8, 2, 4, 64, 128)", 32),
    "swin_transformer": (
        "swin_transformer",
        "SwinTransformer([4, 4], 24, [2, 2], [2, 4], [4, 4], stochastic_depth_prob=0.1)",
        32,
    ),
}
STAND_INS = {
    "__init__.py": "",
    "models/__init__.py": "",
    "transforms/__init__.py": "",
    "ops/__init__.py": "from .stochastic_depth import StochasticDepth\n",
    "utils.py": (
        "def _log_api_usage_once(obj):\n    pass\n\n\n"
        "def _make_ntuple(x, n):\n    return tuple(x) if isinstance(x, (list, tuple)) else (x,) * n\n"
    ),
    "_utils.py": "def sequence_to_str(seq, separate_last=''):\n    return ', '.join(map(str, seq))\n",
    "_internally_replaced_utils.py": (
        "def load_state_dict_from_url(*args, **kwargs):\n    raise OSError('no downloads here')\n"
    ),
    "transforms/_presets.py": (
        "import enum\n\n\nclass InterpolationMode(enum.Enum):\n    BILINEAR = 'bilinear'\n"
        "    BICUBIC = 'bicubic'\n\n\nclass ImageClassification:\n    def __init__(self, **settings):\n"
        "        self.settings = settings\n"
    ),
}
"""What the models import without needing it to compute."""


def lay_out(wheel: Path, folder: Path) -> None:
    """The package of models, shared layers and stand-ins."""
    package = folder / "torchvision"
    for name, text in STAND_INS.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    for name in (*SHARED, *(f"models/{file}.py" for file, *_ in CASES.values())):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel / "torchvision" / name, package / name)


def load(folder: Path, file: str) -> Any:
    """A model file of one of the two packages, which share a name."""
    import importlib

    for name in [n for n in sys.modules if n == "torchvision" or n.startswith("torchvision.")]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        return importlib.import_module(f"torchvision.models.{file}")
    finally:
        sys.path.pop(0)


def work(original: Path, ported: Path, names: list[str]) -> None:
    """Compare some models; prints one JSON line each."""
    import numpy as np
    import running

    for name in names:
        file, expression, size = CASES[name]
        result: dict[str, Any] = {"name": name, "error": "", "passes": False}
        try:
            theirs = load(original, file)
            mine = load(ported, file)
            array = np.random.default_rng(2).standard_normal((2, 3, size, size)).astype("f4")
            outcome = running.compare(
                partial(eval, expression, vars(theirs)), partial(eval, expression, vars(mine)), [array]
            )
            result |= {
                "passes": outcome.passes(),
                "forward": outcome.forward,
                "gradient": outcome.gradient,
                "error": outcome.error,
            }
        except Exception as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            result["error"] = f"{type(error).__name__}: {(lines or [''])[0][:300]}"
        print(json.dumps(result), flush=True)


def main() -> int:
    """Port, run, print a line per model."""
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--keep", type=Path, help="a folder that receives the ported package")
    options = parser.parse_args()
    names = options.names or list(CASES)
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        wheel = options.wheel
        if wheel is None:
            from corpus import unpack

            wheel = unpack("torchvision==0.20.1", base / "wheels")
            if wheel is None:
                return 1
        lay_out(wheel, base / "original")
        shutil.copytree(base / "original", base / "ported")
        print(ports.port(base / "ported", "torchvision").splitlines()[0])
        if options.keep:
            shutil.copytree(base / "ported", options.keep, dirs_exist_ok=True)
        worker = [sys.executable, str(Path(__file__).resolve()), "--work"]
        results = ports.run_all([*worker, str(base / "original"), str(base / "ported")], names)
    passed = 0
    for name in names:
        found = results[name]
        passed += bool(found.get("passes"))
        word = "equal" if found.get("passes") else "FAILED"
        print(
            f"{word} {name}: forward {found.get('forward')} gradient {found.get('gradient')} {found['error']}"
        )
    print(f"{passed} of {len(names)} models run and are equal")
    return 0 if passed >= min(WANTED, len(names)) else 1


if __name__ == "__main__":
    sys.exit(main())
