"""Run real torch code and record the run-time kind of every method receiver and of every condition.

``python proof/record.py FOLDER OUT.json torchvision|transformers|timm``: FOLDER holds the unpacked wheel. The package's
modules are loaded through an import hook that wraps receivers and conditions; positions stay as they are in the
source. Needs torch (CPU) and what the package imports; the wheel's own compiled operators are not needed.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import json
import sys
import traceback
import types
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import torch

SITES: list[tuple[str, int, int, str]] = []
SEEN: dict[int, Counter[str]] = defaultdict(Counter)
KINDS = (
    (torch.Tensor, "tensor"),
    (torch.nn.Module, "module"),
    (bool, "bool"),
    (torch.Size, "shape"),
    (int | float | complex, "number"),
    (str, "str"),
    (list, "list"),
    (tuple, "tuple"),
    (dict, "dict"),
    (type(None), "none"),
    (numpy.ndarray | numpy.generic, "array"),
    (torch.dtype, "dtype"),
    (torch.device, "device"),
    (types.ModuleType, "namespace"),
    (type, "class"),
)


def kind_of(value: object) -> str:
    """The kind of a run-time value, by the words of the inventory."""
    return next((name for classes, name in KINDS if isinstance(value, classes)), "other")


def seen(value: Any, site: int) -> Any:
    """Count a value at a site and hand it on."""
    SEEN[site][kind_of(value)] += 1
    return value


class Instrument(ast.NodeTransformer):
    """Wrap the receiver of every method call and every condition."""

    def __init__(self, path: str, lines: Sequence[str]) -> None:
        self.path = path
        self.lines = lines

    def wrap(self, node: ast.expr, line: int, column: int, what: str) -> ast.expr:
        """``__seen__(node, site)`` at the place of ``node``."""
        text = self.lines[line - 1].encode()[:column].decode("utf-8", "replace")
        SITES.append((self.path, line, len(text), what))
        call = ast.Call(ast.Name("__seen__", ast.Load()), [node, ast.Constant(len(SITES) - 1)], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Wrap the receiver of a method call."""
        self.generic_visit(node)
        func = node.func
        if isinstance(func, ast.Attribute):
            func.value = self.wrap(func.value, func.end_lineno or 0, func.end_col_offset or 0, func.attr)
        return node

    def _condition(self, node: Any) -> ast.AST:
        self.generic_visit(node)
        node.test = self.wrap(node.test, node.test.lineno, node.test.col_offset, "?")
        return node  # type: ignore[no-any-return]

    visit_If = visit_While = visit_IfExp = _condition

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Positions inside f-strings are not exact before Python 3.12."""
        return node


class Loader(importlib.machinery.SourceFileLoader):
    """Compiles the instrumented tree."""

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> types.CodeType:  # type: ignore[override]
        """Instrument before compiling."""
        text = bytes(data).decode("utf-8")
        tree = ast.parse(text)
        shown = Path(path).relative_to(ROOT).as_posix()
        tree = Instrument(shown, text.split("\n")).visit(tree)
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    def get_code(self, fullname: str) -> types.CodeType:
        """Never from a cache."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class Finder(importlib.abc.MetaPathFinder):
    """Finds the package's modules in the folder."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """The spec with the instrumenting loader."""
        if name.partition(".")[0] != self.package:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path if path is not None else [str(ROOT)])
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


ROOT = Path()


# --- what is run ------------------------------------------------------------------------------------------


def torchvision_operators() -> torch.library.Library:
    """The names of torchvision's compiled operators, so that its modules can be imported without them."""
    library = torch.library.Library("torchvision", "DEF")
    for schema in (
        "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor",
        "_roi_align_backward(Tensor grad, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width, int sampling_ratio, bool aligned) -> Tensor",
        "roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
        "_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
        "ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)",
        "_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
        "ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
        "_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
        "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dil_h, SymInt dil_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor",
        "_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dil_h, SymInt dil_w, SymInt groups, SymInt offset_groups, bool use_mask) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    ):
        library.define(schema)
    return library


def torchvision_runs() -> Iterator[tuple[str, Callable[[], object]]]:
    """Models and transforms of torchvision, small inputs, no weights."""
    library = torchvision_operators()
    library.impl("nms", lambda boxes, scores, threshold: torch.argsort(scores, descending=True)[:50], "CPU")
    import torchvision
    from torchvision import models, ops, transforms
    from torchvision.transforms import v2

    torchvision.extension._assert_has_ops = lambda: None
    boxes_module = sys.modules["torchvision.ops.boxes"]
    boxes_module._assert_has_ops = lambda: None  # type: ignore[attr-defined]

    small = torch.randn(2, 3, 64, 64)
    for name in models.list_models(models):
        builder = models.get_model_builder(name)
        size = 299 if name == "inception_v3" else 224 if name.startswith(("vit", "maxvit", "swin")) else 64
        if any(
            word in name
            for word in (
                "_l_",
                "_h_",
                "_g",
                "256gf",
                "152",
                "201",
                "161",
                "_b7",
                "_b6",
                "_b5",
                "v2_l",
                "128gf",
                "32gf",
                "vit_h",
                "vit_l",
            )
        ):
            continue

        def classify(builder: Any = builder, size: int = size) -> object:
            model = builder(weights=None).eval()
            with torch.no_grad():
                return model(torch.randn(1, 3, size, size))

        yield name, classify
    for name in models.list_models(models.segmentation):

        def segment(name: str = name) -> object:
            return models.get_model(name, weights=None, weights_backbone=None).eval()(small)

        yield name, segment
    for name in (
        "fasterrcnn_mobilenet_v3_large_320_fpn",
        "retinanet_resnet50_fpn",
        "fcos_resnet50_fpn",
        "ssdlite320_mobilenet_v3_large",
        "maskrcnn_resnet50_fpn",
        "keypointrcnn_resnet50_fpn",
    ):

        def detect(name: str = name) -> object:
            model = models.get_model(name, weights=None, weights_backbone=None)
            target = {
                "boxes": torch.tensor([[4.0, 4, 30, 40]]),
                "labels": torch.tensor([1]),
                "masks": torch.ones(1, 64, 64, dtype=torch.uint8),
                "keypoints": torch.rand(1, 17, 3),
            }
            model.train()([torch.rand(3, 64, 64), torch.rand(3, 64, 64)], [target, target])
            return model.eval()([torch.rand(3, 64, 64)])

        yield name, detect
    for name in ("r3d_18", "mc3_18", "r2plus1d_18", "s3d", "mvit_v2_s", "swin3d_t"):

        def video(name: str = name) -> object:
            frames, size = (16, 224) if name.startswith(("mvit", "swin")) else (16, 64)
            with torch.no_grad():
                return models.get_model(name, weights=None).eval()(torch.randn(1, 3, frames, size, size))

        yield name, video
    pair = (torch.randn(1, 3, 128, 128), torch.randn(1, 3, 128, 128))
    yield "raft_small", lambda: models.get_model("raft_small", weights=None)(*pair)
    from PIL import Image

    picture = Image.fromarray(numpy.random.randint(0, 255, (70, 80, 3), dtype=numpy.uint8))
    tensor = torch.randint(0, 255, (3, 70, 80), dtype=torch.uint8)
    for module, label in ((transforms, "v1"), (v2, "v2")):
        transforms_of: Sequence[Callable[[Any], Any]] = (
            lambda m: m.Resize(40),
            lambda m: m.RandomCrop(32),
            lambda m: m.CenterCrop(32),
            lambda m: m.RandomResizedCrop(32),
            lambda m: m.ColorJitter(0.2, 0.2, 0.2, 0.1),
            lambda m: m.RandomRotation(20),
            lambda m: m.RandomAffine(10, (0.1, 0.1), (0.8, 1.2), 5),
            lambda m: m.RandomPerspective(),
            lambda m: m.GaussianBlur(3),
            lambda m: m.Grayscale(3),
            lambda m: m.Pad(3),
            lambda m: m.RandomHorizontalFlip(1.0),
            lambda m: m.RandomVerticalFlip(1.0),
            lambda m: m.RandAugment(),
            lambda m: m.AutoAugment(),
            lambda m: m.TrivialAugmentWide(),
            lambda m: m.AugMix(),
            lambda m: m.RandomInvert(1.0),
            lambda m: m.RandomPosterize(3, 1.0),
            lambda m: m.RandomSolarize(100, 1.0),
            lambda m: m.RandomAdjustSharpness(2, 1.0),
            lambda m: m.RandomAutocontrast(1.0),
            lambda m: m.RandomEqualize(1.0),
            lambda m: m.FiveCrop(32),
            lambda m: m.TenCrop(32),
            lambda m: m.ElasticTransform(),
        )
        for create in transforms_of:
            for value in (picture, tensor):
                yield f"transform {label}", partial(create(module), value)
        steps = [module.ToTensor(), module.Normalize([0.5] * 3, [0.5] * 3), module.RandomErasing(1.0)]
        yield f"tensors {label}", partial(module.Compose(steps), picture)
    boxes = torch.tensor([[0.0, 0, 10, 10], [5, 5, 20, 20]])
    yield (
        "ops",
        lambda: (
            ops.box_iou(boxes, boxes),
            ops.generalized_box_iou(boxes, boxes),
            ops.box_convert(boxes, "xyxy", "cxcywh"),
            ops.batched_nms(boxes, torch.rand(2), torch.zeros(2), 0.5),
            ops.sigmoid_focal_loss(torch.randn(4), torch.rand(4)),
            ops.complete_box_iou_loss(boxes, boxes + 1),
            ops.masks_to_boxes(torch.ones(2, 8, 8)),
        ),
    )
    yield (
        "utils",
        lambda: (
            torchvision.utils.make_grid(torch.rand(5, 3, 8, 8)),
            torchvision.utils.draw_bounding_boxes(tensor, boxes),
        ),
    )


SMALL = {
    "hidden_size": 32,
    "d_model": 32,
    "n_embd": 32,
    "embed_dim": 32,
    "dim": 32,
    "num_hidden_layers": 2,
    "n_layer": 2,
    "num_layers": 2,
    "n_layers": 2,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "num_attention_heads": 4,
    "n_head": 4,
    "n_heads": 4,
    "num_heads": 4,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 64,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "ffn_dim": 64,
    "d_ff": 64,
    "d_kv": 8,
    "hidden_dim": 64,
    "vocab_size": 120,
    "max_position_embeddings": 64,
    "n_positions": 64,
    "image_size": 32,
    "patch_size": 8,
    "head_dim": 8,
    "ffn_hidden_size": 64,
    "embedding_size": 32,
    "num_decoder_layers": 2,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
    "word_embed_proj_dim": 32,
    "num_experts": 4,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "n_routed_experts": 4,
    "n_group": 1,
    "topk_group": 1,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "first_k_dense_replace": 1,
    "use_cache": True,
    "rotary_dim": 8,
    "n_inner": 64,
    "conv_dim": (32, 32),
    "conv_stride": (5, 2),
    "conv_kernel": (10, 3),
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 2,
    "state_size": 8,
    "time_step_rank": 8,
    "expand": 2,
    "num_mel_bins": 16,
    "max_source_positions": 50,
    "max_target_positions": 40,
    "block_size": 4,
    "num_random_blocks": 1,
    "rope_scaling": None,
}
TEXT = [
    "bert",
    "roberta",
    "distilbert",
    "albert",
    "electra",
    "gpt2",
    "gpt_neo",
    "gpt_neox",
    "gptj",
    "opt",
    "bloom",
    "llama",
    "mistral",
    "mixtral",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe",
    "gemma",
    "gemma2",
    "gemma3_text",
    "phi",
    "phi3",
    "falcon",
    "mpt",
    "stablelm",
    "starcoder2",
    "cohere",
    "olmo",
    "olmo2",
    "granite",
    "t5",
    "mt5",
    "bart",
    "mbart",
    "pegasus",
    "marian",
    "blenderbot",
    "xlm_roberta",
    "deberta",
    "deberta_v2",
    "mpnet",
    "squeezebert",
    "funnel",
    "longformer",
    "led",
    "big_bird",
    "convbert",
    "mobilebert",
    "roformer",
    "nystromformer",
    "fnet",
    "xlnet",
    "codegen",
    "mamba",
    "mamba2",
    "rwkv",
    "persimmon",
    "nemotron",
    "glm",
    "glm4",
    "deepseek_v3",
    "smollm3",
    "ernie4_5",
    "helium",
    "recurrent_gemma",
    "jamba",
    "xglm",
    "biogpt",
    "ctrl",
    "openai-gpt",
    "switch_transformers",
    "m2m_100",
    "plbart",
    "prophetnet",
    "umt5",
    "ibert",
    "layoutlm",
    "splinter",
    "canine",
]
IMAGE = [
    "vit",
    "deit",
    "beit",
    "convnext",
    "convnextv2",
    "swin",
    "swinv2",
    "resnet",
    "regnet",
    "segformer",
    "mobilevit",
    "mobilevitv2",
    "mobilenet_v2",
    "dinov2",
    "levit",
    "poolformer",
    "cvt",
    "efficientnet",
    "bit",
    "focalnet",
    "pvt",
    "pvt_v2",
    "hiera",
    "vit_mae",
    "data2vec-vision",
    "dpt",
    "glpn",
    "yolos",
    "van",
    "ijepa",
    "siglip_vision_model",
    "clip_vision_model",
]
AUDIO = [
    "wav2vec2",
    "hubert",
    "wavlm",
    "unispeech",
    "unispeech-sat",
    "sew",
    "data2vec-audio",
    "wav2vec2-conformer",
]


def transformers_runs() -> Iterator[tuple[str, Callable[[], object]]]:
    """Small random models of transformers: text, image, audio; three of them generate."""
    from transformers import AutoModel, AutoModelForCausalLM
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    ids = torch.randint(3, 100, (2, 16))

    def config_of(kind: str) -> Any:
        cls = CONFIG_MAPPING[kind]
        plain = cls()
        wanted = {k: v for k, v in SMALL.items() if hasattr(plain, k)}
        if isinstance(getattr(plain, "patch_size", 1), tuple | list):
            wanted.pop("patch_size", None)
        for key in ("num_heads", "num_attention_heads", "hidden_size", "depths", "dim", "expand"):
            if isinstance(getattr(plain, key, 0), tuple | list):
                wanted.pop(key, None)
        return cls(**wanted)

    def text(kind: str, train: bool = False) -> object:
        model = AutoModel.from_config(config_of(kind))
        model.train(train)
        given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if getattr(model.config, "is_encoder_decoder", False):
            given["decoder_input_ids"] = ids
        return model(**given, output_hidden_states=True, output_attentions=False)

    for kind in TEXT:
        yield f"text {kind}", partial(text, kind)
        yield f"text {kind} train", partial(text, kind, True)
    for kind in ("gpt2", "llama", "qwen2", "bloom", "mamba"):

        def generate(kind: str = kind) -> object:
            model = AutoModelForCausalLM.from_config(config_of(kind)).eval()
            model.generate(ids, max_new_tokens=4, do_sample=True, top_k=5, top_p=0.9, repetition_penalty=1.1)
            model.generate(ids, max_new_tokens=4, num_beams=2, no_repeat_ngram_size=2)
            return model(input_ids=ids, labels=ids)

        yield f"generate {kind}", generate
    for kind in IMAGE:

        def image(kind: str = kind) -> object:
            config = config_of(kind)
            size = getattr(config, "image_size", 64)
            size = size if isinstance(size, int) else 64
            model = AutoModel.from_config(config).eval()
            return model(torch.randn(1, 3, size, size))

        yield f"image {kind}", image
    for kind in AUDIO:

        def audio(kind: str = kind) -> object:
            model = AutoModel.from_config(config_of(kind))
            model.eval()(torch.randn(2, 4000))
            return model.train()(torch.randn(2, 4000))

        yield f"audio {kind}", audio


SMALLEST = (
    "atto",
    "femto",
    "pico",
    "nano",
    "xxs",
    "tiny",
    "_t_",
    "xs",
    "small",
    "_s",
    "b0",
    "18",
    "050",
    "t0",
    "0",
)

MAX_SIDE = 512
"""Pixels; attention over larger images needs more memory than most machines have."""


def timm_runs() -> Iterator[tuple[str, Callable[[], object]]]:
    """The smallest model of each module of timm, then optimizers, losses and mixing; needs torchvision's wheel."""
    operators = torchvision_operators()  # they go with it
    import timm
    from timm import data, loss, optim

    def rank(name: str) -> tuple[int, str]:
        return next((i for i, word in enumerate(SMALLEST) if word in name), len(SMALLEST)), name

    def run(name: str, train: bool) -> object:
        model = timm.create_model(name, num_classes=10).train(train)
        size = model.default_cfg["input_size"]
        if size[-1] > MAX_SIDE:
            raise ValueError(f"its input is larger than {MAX_SIDE}")
        image = torch.randn(2, *size)
        return model(image).sum().backward() if train else (model(image), model.forward_features(image))

    for module in timm.list_modules():
        names = sorted(timm.list_models(module=module), key=rank)
        for name in names[:1]:
            yield f"{name} train", partial(run, name, True)
            yield name, partial(run, name, False)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(144, 10))
    for kind in optim.list_optimizers():

        def step(kind: str = kind) -> None:
            optimizer = optim.create_optimizer_v2(model, opt=kind, lr=0.01)
            for _ in range(2):
                optimizer.zero_grad()
                model(torch.randn(2, 3, 8, 8)).square().sum().backward()
                optimizer.step()

        yield f"optimizer {kind}", step
    scores, labels = torch.randn(4, 10), torch.randint(0, 10, (4,))
    soft = torch.softmax(torch.randn(4, 10), -1)
    yield "loss", lambda: loss.LabelSmoothingCrossEntropy()(scores, labels)
    yield "loss soft", lambda: loss.SoftTargetCrossEntropy()(scores, soft)
    yield "loss binary", lambda: loss.BinaryCrossEntropy()(scores, labels)
    yield "loss js", lambda: loss.JsdCrossEntropy(num_splits=2)(scores, labels[:2])
    yield "loss asymmetric", lambda: loss.AsymmetricLossMultiLabel()(scores, soft)
    for mode in ("batch", "pair", "elem"):
        mix = data.Mixup(cutmix_alpha=1.0, mode=mode, num_classes=10)
        yield f"mixup {mode}", partial(mix, torch.randn(4, 3, 16, 16), labels)
    del operators


RUNS = {"torchvision": torchvision_runs, "transformers": transformers_runs, "timm": timm_runs}


def main() -> int:
    """Run everything and write the record; what does not run is said."""
    global ROOT
    ROOT, out, package = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3]
    import builtins

    builtins.__seen__ = seen  # type: ignore[attr-defined]
    sys.meta_path.insert(0, Finder(package))
    torch.manual_seed(0)
    torch.set_num_threads(1)
    good = bad = 0
    for name, action in RUNS[package]():
        try:
            action()
            good += 1
        except Exception as error:
            bad += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            print(f"not run: {name}: {type(error).__name__}: {str(error)[:150]!r} ({place.name})", flush=True)
    rows = [[*SITES[site], dict(kinds)] for site, kinds in sorted(SEEN.items())]
    out.write_text(json.dumps(rows), encoding="utf-8")
    print(f"{package}: {good} runs, {bad} not run, {len(rows)} sites recorded")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
