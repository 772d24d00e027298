"""What the graph compiler makes of a compiled function: its body followed with the values it can have there."""

from mindport.semantics.trace.run import Tracer
from mindport.semantics.trace.values import Event, Shadow, What

__all__ = ["Event", "Shadow", "Tracer", "What"]
