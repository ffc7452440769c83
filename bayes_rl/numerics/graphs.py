"""Which graph operations go to, and which graphs' tensors they may use."""

import tensorflow as tf

_CONTROL_FLOW = ("WhileBodyFuncGraph", "WhileCondFuncGraph", "CondBranchFuncGraph")


def current():
    """The graph being built, or None in eager mode."""
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


def outer():
    """The graph being built and those that it is built in; none in eager mode."""
    graph = current()
    while graph is not None:
        yield graph
        graph = getattr(graph, "outer_graph", None)


def enclosing():
    """Graphs of the function being traced, from the innermost loop or branch outwards.

    Their tensors can be used in the current one; None stands for eager mode.
    """
    graph = current()
    yield graph
    while type(graph).__name__ in _CONTROL_FLOW:
        graph = graph.outer_graph
        # What lies outside of a loop in eager mode is an empty graph.
        yield graph if hasattr(graph, "outer_graph") else None
