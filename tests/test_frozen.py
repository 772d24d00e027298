"""Values of the analysis: equal and hashed by their fields, without a dictionary of their own."""

from __future__ import annotations

import pickle
from dataclasses import replace

from mindport.findings import Confidence
from mindport.semantics.kinds import Atom, Kind, Known


def test_values_are_equal_and_hashed_by_their_fields() -> None:
    one = Known((Atom(Kind.TENSOR),), Confidence.CERTAIN)
    other = Known((Atom(Kind.TENSOR),), Confidence.CERTAIN)
    assert one == other
    assert hash(one) == hash(other)
    assert replace(one, sure=Confidence.POSSIBLE) != one
    assert not hasattr(one, "__dict__")


def test_confidence_survives_being_sent_to_another_process() -> None:
    sent = pickle.loads(pickle.dumps({Confidence.INFERRED: Kind.TENSOR}))
    assert sent[Confidence.INFERRED] is Kind.TENSOR
