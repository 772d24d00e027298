"""The vocabulary of code shapes. Importing the package registers every shape."""

from mindport.detectors import (  # noqa: F401
    api,
    arguments,
    binding,
    classes,
    compiled,
    defaults,
    graph,
    graph_recompile,
    graph_trace,
    losses,
    review,
    target,
)
from mindport.detectors.base import SHAPES, Detector, DetectorError, FileView, Stage, build_detectors

__all__ = ["SHAPES", "Detector", "DetectorError", "FileView", "Stage", "build_detectors"]
