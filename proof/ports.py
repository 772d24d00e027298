"""Port every model of ``tests/models`` with one command, and prove the ports equal on MindSpore (CPU).

``mindport check --fix --unsafe-fixes --api nn`` runs on a copy; each port is then built in a process of its own, gets
torch's weights, and is compared in PyNative and GRAPH_MODE: outputs in evaluation mode to 1e-5, gradients of all
parameters to 1e-4 of their scale. ``python proof/ports.py [NAME...]``; run like ``proof/examples.py``.
``--folder FOLDER``: the files of the public CIFAR-10 model collection instead of our own. ``--api mint``: mint has
few kernels on CPU, so each port is compiled as far as GRAPH_MODE gets: to the choice of kernels, or it runs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent / "tests" / "models"
IMAGE = ((2, 3, 32, 32), "f4")
CASES: dict[str, list[tuple[str, tuple[tuple[int, ...], str]]]] = {
    "lenet": [("LeNet()", IMAGE)],
    "vgg": [("VGG('tiny')", IMAGE)],
    "resnet": [("ResNet10()", IMAGE), ("ResNet14()", IMAGE)],
    "preact_resnet": [("PreActResNet10()", IMAGE)],
    "googlenet": [("GoogLeNet()", IMAGE)],
    "densenet": [("densenet_tiny()", IMAGE)],
    "resnext": [("ResNeXt_2x4()", IMAGE)],
    "mobilenet": [("MobileNet()", IMAGE)],
    "mobilenetv2": [("MobileNetV2()", IMAGE)],
    "dpn": [("DPNTiny()", IMAGE)],
    "shufflenet": [("ShuffleNetG2()", IMAGE)],
    "shufflenetv2": [("ShuffleNetV2(0.5)", IMAGE)],
    "senet": [("SENetTiny()", IMAGE), ("SENetPlain()", IMAGE)],
    "efficientnet": [("EfficientNetTiny()", IMAGE)],
    "regnet": [("RegNetTiny()", IMAGE)],
    "dla": [("DLA()", IMAGE)],
    "simple_dla": [("SimpleDLA()", IMAGE)],
    "pnasnet": [("PNASNetA()", IMAGE), ("PNASNetB()", IMAGE)],
    "unet": [("UNet(3, 2)", IMAGE), ("UNet(3, 2, bilinear=True)", IMAGE)],
    "gpt": [("GPT(Config())", ((2, 12), "i8"))],
    "vit": [("VisionTransformer()", IMAGE)],
    "gpt_heads": [("GPT()", ((2, 12), "i8"))],
    "vit_prenorm": [("ViT()", IMAGE)],
    "mixed": [("Net()", IMAGE)],
    "lstm": [("LSTMClassifier()", ((3, 7), "i8"))],
    "dcgan": [("Generator()", ((2, 16, 1, 1), "f4")), ("Discriminator()", ((4, 3, 16, 16), "f4"))],
}
"""What is built of each file, and the shape and type of its input; integers are below 40."""
PUBLIC = {
    "lenet": "LeNet()",
    "vgg": "VGG('VGG11')",
    "resnet": "ResNet18()",
    "preact_resnet": "PreActResNet18()",
    "googlenet": "GoogLeNet()",
    "densenet": "densenet_cifar()",
    "resnext": "ResNeXt29_2x64d()",
    "mobilenet": "MobileNet()",
    "mobilenetv2": "MobileNetV2()",
    "dpn": "DPN26()",
    "shufflenet": "ShuffleNetG2()",
    "shufflenetv2": "ShuffleNetV2(0.5)",
    "senet": "SENet18()",
    "efficientnet": "EfficientNetB0()",
    "regnet": "RegNetX_200MF()",
    "dla": "DLA()",
    "dla_simple": "SimpleDLA()",
    "pnasnet": "PNASNetA()",
}
"""The same for the public CIFAR-10 collection our own models follow; its files are given with ``--folder``."""


def port(folder: Path, *paths: str, api: str = "nn") -> str:
    """Run the command on files of a folder; gives what it printed."""
    command = [
        sys.executable,
        "-m",
        "mindport",
        "check",
        "--fix",
        "--unsafe-fixes",
        "--api",
        api,
        "--exit-zero",
    ]
    done = subprocess.run(
        [*command, *(paths or (".",))], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def run_all(worker: list[str], names: list[str]) -> dict[str, Any]:
    """Run a worker that prints one JSON line per case; a worker that dies loses one case only."""
    results: dict[str, Any] = {}
    left = list(names)
    while left:
        environment = {**os.environ, "GLOG_v": "4"}
        done = subprocess.run([*worker, *left], capture_output=True, text=True, check=False, env=environment)
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                found = json.loads(line)
                results[found["name"]] = found
        before = len(left)
        left = [name for name in left if name not in results]
        if len(left) == before or left:
            if not left:
                break
            reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
            results[left[0]] = {"name": left[0], "cases": [], "error": f"the process died: {reason[:300]}"}
            left = left[1:]
    return results


def cases_of(models: Path) -> dict[str, list[tuple[str, tuple[tuple[int, ...], str]]]]:
    """What is built of a folder's files."""
    if models == MODELS:
        return CASES
    return {name: [(code, IMAGE)] for name, code in PUBLIC.items() if (models / f"{name}.py").exists()}


def work(models: Path, folder: Path, api: str, names: list[str]) -> None:
    """Compare, or compile, the models of some files; prints one JSON line each."""
    import numpy as np
    import running

    for name in names:
        result: dict[str, Any] = {"name": name, "cases": [], "error": ""}
        try:
            theirs = running.load(models / f"{name}.py", f"torch_{name}")
            mine = running.load(folder / f"{name}.py", f"port_{name}")
            for expression, (shape, kind) in cases_of(models)[name]:
                random = np.random.default_rng(11)
                array = (
                    random.integers(0, 40, shape) if kind == "i8" else random.standard_normal(shape)
                ).astype(kind)
                build = partial(eval, expression, vars(mine))
                if api == "mint":
                    steps = running.compiled(build, [array])
                    case = {"passes": True, "shown": str(steps), "error": ""}
                else:
                    outcome = running.compare(partial(eval, expression, vars(theirs)), build, [array])
                    shown = {
                        mode: f"forward {outcome.forward.get(mode, -1):.1e} "
                        f"gradient {outcome.gradient.get(mode, -1):.1e}"
                        for mode in ("pynative", "graph")
                    }
                    case = {"passes": outcome.passes(), "shown": str(shown), "error": outcome.error}
                result["cases"].append({"code": expression, **case})
        except Exception as error:
            lines = [line for line in str(error).splitlines() if line.strip("- ")]
            result["error"] = f"{type(error).__name__}: {' '.join(lines[:2])[:300]}"
        print(json.dumps(result), flush=True)


def main() -> int:
    """Port, run, print a line per model."""
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], sys.argv[5:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=Path, default=MODELS)
    parser.add_argument("--api", choices=("nn", "mint"), default="nn")
    options = parser.parse_args()
    models = options.folder.resolve()
    names = options.names or list(cases_of(models))
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "ports"
        shutil.copytree(models, folder)
        print(port(folder, api=options.api).splitlines()[0])
        left = [f.name for f in folder.glob("*.py") if _uses_torch(f)]
        print(f"files that still import torch: {', '.join(sorted(left)) or 'none'}")
        worker = [sys.executable, str(Path(__file__).resolve()), "--work"]
        worker += [str(models), str(folder), options.api]
        results = run_all(worker, names)
    good_word = "compiled" if options.api == "mint" else "equal"
    for name in names:
        found = results[name]
        good = bool(found["cases"]) and not found["error"] and all(c["passes"] for c in found["cases"])
        passed, failed = passed + good, failed + (not good)
        for case in found["cases"]:
            word = good_word if case["passes"] else "FAILED"
            print(f"{word} {name} {case['code']}: {case['shown']} {case['error']}")
        if found["error"]:
            print(f"FAILED {name}: {found['error']}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def _uses_torch(file: Path) -> bool:
    import ast

    return any(
        isinstance(node, ast.Import | ast.ImportFrom)
        and any("torch" in (getattr(node, "module", "") or a.name) for a in node.names)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    )


if __name__ == "__main__":
    sys.exit(main())
