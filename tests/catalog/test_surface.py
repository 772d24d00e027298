"""The names of a framework's versions."""

from __future__ import annotations

import pytest

from mindport.catalog.surface import surface


def test_a_surface_reads_a_line_when_its_name_is_asked_for() -> None:
    names = surface("mindspore")
    relu = names["mindspore.nn.ReLU"]
    assert relu is names["mindspore.nn.ReLU"]
    assert relu.kind == "cell"
    assert relu.versions <= names.versions == {"2.7.0", "2.7.1", "2.8.0", "2.9.0", "2.10.0"}
    assert len(list(names)) == len(names) > 1000
    assert names.get("mindspore.nn.NoSuchThing") is None
    with pytest.raises(KeyError):
        names["mindspore.nn.NoSuchThing"]
