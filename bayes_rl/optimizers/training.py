"""What lets an optimizer of `compile` choose the weights of the forward pass.

Keras calls its optimizer after the backward pass alone, and gives it no model. So the first
optimizer that draws weights lets `tf.keras.Model` look, when it makes its function of
training, whether the optimizer has a method `draw`; training steps then run inside of it.
"""

import functools

import tensorflow as tf

from bayes_rl.weights import named_weights

_KEPT = "_bayes_rl_train_step"


def draws_in_training():
    """Lets models whose optimizer has a method `draw` train under its draws."""
    if hasattr(tf.keras.Model, _KEPT):
        return
    own = tf.keras.Model.make_train_function

    @functools.wraps(own)
    def make_train_function(self, *args, **kwargs):
        if _drawing(self) is not None and _KEPT not in vars(self):
            _check(self)
            step = self.train_step
            object.__setattr__(self, _KEPT, step)
            object.__setattr__(self, "train_step", functools.partial(_train_step, self))
        return own(self, *args, **kwargs)

    setattr(tf.keras.Model, _KEPT, None)
    tf.keras.Model.make_train_function = make_train_function


def optimizers_of(model):
    """Optimizers of a compiled model, without what scales its loss; a list."""
    found = tf.nest.flatten(getattr(model, "optimizer", None))
    return [getattr(x, "inner_optimizer", x) for x in found if x is not None]


def _drawing(model):
    """The optimizer of a model that draws weights, or None."""
    found = [x for x in optimizers_of(model) if hasattr(x, "draw")]
    return found[0] if found else None


def _check(model):
    if model.built and (named := named_weights(model)):
        raise ValueError(
            f"{type(_drawing(model)).__name__} takes models without stochastic weights, "
            f"got {next(iter(named))!r}, which has a posterior of its own: use another "
            "optimizer"
        )


def _train_step(model, data):
    optimizer, step = _drawing(model), vars(model)[_KEPT]
    if optimizer is None:  # it was compiled with another one since
        return step(data)
    if not model.built or not model.weights:
        inputs, _, _ = tf.keras.utils.unpack_x_y_sample_weight(data)
        model(inputs, training=False)
        _check(model)
    with optimizer.draw(model.trainable_variables):
        return step(data)
