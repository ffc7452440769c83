"""One draw a sequence: what a recurrent cell computes once and uses at every time step.

A sequence of a cell begins

- where `tf.keras.layers.RNN` begins it, with or without an explicit initial state: it
  tells cells to forget their dropout masks, once a call and outside of its loop;
- with `cell.get_initial_state(...)`, for loops written by hand;
- with a step from that same initial state again, in eager mode or an unrolled loop.

One of `tf.keras.layers.RNN` lasts as long as its call, others until the next one of the
cell begins. The draw is made at its first step, so that a gradient tape need not see its
beginning, and it is made outside of the loop even where the first step is inside. It has no
gradients on the tapes of later steps that have not seen the first one. A step outside of a
sequence draws anew.

A sequence belongs to the thread and to the `tf.function` in which it begins. Its tensors
are kept with that function's graph, never on the cell, so that cells can be saved, copied
and shared, and each function draws anew at every call.
"""

import contextlib
import threading
import weakref

import tensorflow as tf

from bayes_rl.compatibility import versions
from bayes_rl.numerics import graphs

_eager = threading.local()
_ATTRIBUTE = "_bayes_rl_sequences"


class _Call:
    """What a call of `tf.keras.layers.RNN` keeps alive: it tells no one that it ends."""


class _Sequence:
    def __init__(self, batch_size, initial):
        self.batch_size = batch_size
        self.initial = initial
        self.call = _call_of_rnn()
        self.forget()

    def is_over(self):
        return self.call is not None and self.call() is None

    def forget(self):
        self.value, self.sources = None, None

    def is_made_from(self, sources):
        return self.value is not None and all(
            one is other for one, other in zip(sources, self.sources, strict=True)
        )


def begin(cell, batch_size=None, initial_state=None):
    """Begins a new sequence of a cell, maybe from a state with which it may begin again."""
    initial = None if initial_state is None else weakref.ref(initial_state)
    _sequences(graphs.current())[cell] = _Sequence(batch_size, initial)


def constant(cell, make, batch_size, state, sources=()):
    """What `make`, a function of a batch size or None, gave at a sequence's first step.

    Its tensors can be used in the current graph. Other `sources`, tensors or None of which
    the value is made, make it anew.
    """
    graph, sequence = _find(cell)
    if sequence is None or sequence.is_over():
        return make(batch_size)
    if sequence.initial is not None and sequence.initial() is state:
        sequence.forget()
    if sequence.is_made_from(sources):
        return sequence.value
    is_here = graph is graphs.current()
    if not is_here and any(source is not None for source in sources):
        # Tensors held inside of a loop cannot be used outside of it.
        return make(batch_size)
    with contextlib.nullcontext() if is_here else graph.as_default():
        sequence.value = make(batch_size if is_here else sequence.batch_size)
    sequence.sources = sources
    return sequence.value


def _call_of_rnn():
    """Weak reference to what lives as long as the call of an RNN; None outside of one."""
    context = versions.call_context()
    if not isinstance(context.layer, tf.keras.layers.RNN):
        return None
    return weakref.ref(context._state.setdefault(_ATTRIBUTE, _Call()))


def _find(cell):
    for graph in graphs.enclosing():
        if (sequence := _sequences(graph).get(cell)) is not None:
            return graph, sequence
    return None, None


def _sequences(graph):
    """Cell -> sequence, of this thread."""
    # In a dictionary of ours, a graph's tensors would keep it alive for ever.
    local = _eager if graph is None else getattr(graph, _ATTRIBUTE, None)
    if local is None:
        local = threading.local()
        setattr(graph, _ATTRIBUTE, local)
    if not hasattr(local, "sequences"):
        local.sequences = weakref.WeakKeyDictionary()
    return local.sequences
