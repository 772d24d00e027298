"""Forward flow analysis: what the names and expressions of a file are."""

from mindport.semantics.flow.analysis import Flow, Flows

__all__ = ["Flow", "Flows"]
