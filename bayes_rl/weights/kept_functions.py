"""Functions of a model that are traced once, and kept while the model is what it was."""

import tensorflow as tf

from bayes_rl.random_variables.tracing import is_tracing
from bayes_rl.weights.naming import modules_of

_ATTRIBUTE = "_bayes_rl_kept_functions"
_PLAIN = (bool, int, float, str, tuple, type(None))


class _Kept:
    """Functions, and what the model was when they were traced; copies of it have none."""

    def __init__(self):
        self.state, self.functions = [], {}

    def __deepcopy__(self, memo):
        return _Kept()

    def __reduce__(self):
        return _Kept, ()


def kept_function(model, key, make):
    """The function that was made for a model and a key, or a new one, as `make` gives it.

    It is new where a layer of the model is another one, or has another attribute of Python,
    such as an activation: a traced function would not see it.
    """
    if is_tracing():
        return make()  # A tracer of this moment would stay in the function for ever.
    # Keras would track and save what its own way of setting an attribute sees.
    kept = vars(model).setdefault(_ATTRIBUTE, _Kept())
    state = list(_state_of(model))
    if not _is_same(state, kept.state):
        kept.state, kept.functions = state, {}
    if key not in kept.functions:
        kept.functions[key] = make()
    return kept.functions[key]


def _state_of(model):
    for module in modules_of(model):
        yield module
        for name, value in vars(module).items():
            is_seen = isinstance(value, (*_PLAIN, tf.Variable)) or callable(value)
            if is_seen and not name.startswith("_"):
                yield from (name, value)


def _is_same(state, other):
    return len(state) == len(other) and all(
        one is two or (isinstance(one, _PLAIN) and type(one) is type(two) and one == two)
        for one, two in zip(state, other, strict=True)
    )
