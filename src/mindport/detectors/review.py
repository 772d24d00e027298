"""Shapes that only ``mindport review`` looks for: they need the original beside the port."""

from __future__ import annotations

from mindport.detectors.base import Detector, shape


class ReviewShape(Detector):
    """Base: nothing to see in one file alone; the parameters are read by the review."""

    placeholders = frozenset({"name", "parameter", "actual", "wanted", "original"})


@shape("review-argument")
class ReviewArgument(ReviewShape):
    """A call whose argument has another value than the original's call amounts to.

    The parameters are those of `mindport.review.calls.Rules`.
    """

    parameters = {
        "ignored": (list, False),
        "same": (list, False),
        "inverse": (dict, False),
        "complement": (list, False),
        "lost": (list, False),
        "padding": (dict, False),
    }


@shape("review-other-layer")
class ReviewOtherLayer(ReviewShape):
    """A layer that stands for something else than the original's layer of that name."""


@shape("review-missing-layer")
class ReviewMissingLayer(ReviewShape):
    """A layer of the original that the port's class does not have."""


@shape("review-default")
class ReviewDefault(ReviewShape):
    """A parameter of a function or constructor whose default is another; ``ignored``: names that may differ."""

    parameters = {"ignored": (list, False)}


@shape("review-initialisation")
class ReviewInitialisation(ReviewShape):
    """A method that initialises weights in the original (by names that start with ``prefix``) and does nothing here."""

    parameters = {"prefix": (str, True)}
