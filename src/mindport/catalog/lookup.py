"""Finding the row somebody means: full names, short ones (``cat``, ``F.gelu``, ``x.view``) and typos."""

from __future__ import annotations

import difflib

from mindport.catalog.load import Catalog

SHORT = {
    "F": "torch.nn.functional",
    "nn": "torch.nn",
    "optim": "torch.optim",
    "init": "torch.nn.init",
    "dist": "torch.distributed",
    "transforms": "torchvision.transforms",
    "Tensor": "torch.Tensor",
    "functional": "torch.nn.functional",
}
"""How people abbreviate torch's namespaces."""
NAMESPACES = (
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.Tensor",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.utils.data",
    "torch.nn.init",
    "torch.nn.utils",
    "torch.cuda",
    "torch.distributed",
    "torchvision.transforms",
    "torchvision.datasets",
)
"""Where a bare name is looked for, in this order."""


def find_names(catalog: Catalog, asked: str) -> list[str]:
    """The names of the rows a request can mean, the likeliest first; empty when there is none."""
    asked = asked.strip().removesuffix("()").strip(".")
    if not asked:
        return []
    known = catalog.raw_apis
    head, _, rest = asked.partition(".")
    candidates = [asked, catalog.canonical(asked)]
    if head in SHORT and rest:
        candidates.append(f"{SHORT[head]}.{rest}")
    candidates += [f"{namespace}.{asked}" for namespace in NAMESPACES]
    if rest and "." not in rest:  # x.view
        candidates.append(f"torch.Tensor.{rest}")
    exact = [name for name in dict.fromkeys(candidates) if name in known]
    if exact:
        return exact
    lowered = {name.lower(): name for name in known}
    return [lowered[name.lower()] for name in dict.fromkeys(candidates) if name.lower() in lowered]


def similar_names(catalog: Catalog, asked: str, count: int = 3) -> list[str]:
    """Names that look like a request no row fits."""
    last = asked.strip().removesuffix("()").rpartition(".")[2].lower()
    by_last: dict[str, list[str]] = {}
    for name in catalog.api_names:
        by_last.setdefault(name.rpartition(".")[2].lower(), []).append(name)
    found = difflib.get_close_matches(last, list(by_last), count, 0.7)
    names = [name for key in found for name in sorted(by_last[key], key=_rank)]
    return names[:count]


def _rank(name: str) -> tuple[int, str]:
    namespace = name.rpartition(".")[0]
    return (NAMESPACES.index(namespace) if namespace in NAMESPACES else len(NAMESPACES), name)
