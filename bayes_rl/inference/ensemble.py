"""Deep ensembles: models that differ by where their training began."""

import numpy as np
import tensorflow as tf

from bayes_rl import checks
from bayes_rl.inference.posterior import (
    Posterior,
    check_has_no_posterior,
    kind_of_posterior,
    members_of_draws,
    values_of,
)
from bayes_rl.weights import named_variables


@kind_of_posterior("ensemble")
class Ensemble(Posterior):
    """Weights of several trained models; made by `bayes_rl.inference.ensemble`.

    A draw is one of the members; S draws are each of them in turn, from a random one on, so
    that S = members are all.

    Attributes:
        members: dict of full name -> [members, *shape of the variable].
        models: the models, in the order of `members`; the first one after loading.
    """

    def __init__(self, model, members, models=None):
        super().__init__(model, {name: x.mean(axis=0) for name, x in members.items()})
        self.members = {name: np.asarray(x) for name, x in members.items()}
        self.models = [model] if models is None else models

    def __len__(self):
        return len(next(iter(self.members.values())))

    def predict(self, inputs, draws=None, seed=None, batch_size=32, verbose="auto"):
        """Outputs of the members.

        Args:
            inputs: as in `bayes_rl.predict`.
            draws: S, a number of draws; None for each member once.
            seed: as in `sample`.
            batch_size: number of inputs that the model takes at a time.
            verbose: as in `bayes_rl.predict`.

        Returns:
            [S, N, ...], in the structure of the model's outputs.
        """
        draws = len(self) if draws is None else draws
        return super().predict(inputs, draws, seed, batch_size, verbose)

    def _draws(self, count, seed):
        chosen = members_of_draws(count, len(self), seed)
        return {name: tf.constant(value[chosen]) for name, value in self.members.items()}

    def _state(self):
        return {}, self.members

    @classmethod
    def _from_state(cls, model, settings, arrays):
        return cls(model, arrays)


def ensemble(make, members=5, *args, **kwargs):
    """Trains several models from different starts, all at once.

        p(y | x) = mean over members of p(y | x, weights of the member)

    They see the same batches, in one function of training: each makes its own train step
    there, so all that `fit` can train is trained so. Without arguments of `fit` models are
    taken as `make` returns them: trained by it, one after the other.

    Source: Lakshminarayanan et al., 2017, Simple and Scalable Predictive Uncertainty
    Estimation using Deep Ensembles, algorithm 1.

    Args:
        make: function without arguments to a Keras model; compiled where it is to be
            trained here. Its layers have to start from different weights in each call.
        members: number of models, at least 1.
        *args: of `tf.keras.Model.fit`, such as inputs and targets.
        **kwargs: of `tf.keras.Model.fit`.

    Returns:
        An `Ensemble`.

    Raises:
        ValueError: a model is not compiled, has stochastic weights, other variables than
            the first, or all start from the same weights.

    Example:
        >>> import bayes_rl as ed
        >>> def make():
        ...     model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        ...     model.compile("adam", "mse")
        ...     return model
        >>> inputs, targets = tf.ones([4, 2]), tf.ones([4, 1])
        >>> posterior = ed.inference.ensemble(make, 3, inputs, targets, verbose=0)
        >>> posterior.predict(inputs, verbose=0).shape
        (3, 4, 1)
    """
    models = [make() for _ in range(checks.as_size("members", members))]
    if args or kwargs:
        if not all(getattr(model, "_is_compiled", False) for model in models):
            raise ValueError(
                "make must return compiled models, or trained ones where ensemble has no "
                "arguments of fit: call model.compile(optimizer, loss) in it"
            )
        _check_starts(models)
        with models[0].distribute_strategy.scope():
            at_once = _AtOnce(models)
        at_once.fit(*args, **kwargs)
    check_has_no_posterior(models, "ed.inference.ensemble")
    named = [values_of(named_variables(model)) for model in models]
    shapes = [[value.shape for value in each.values()] for each in named]
    if any(other != shapes[0] for other in shapes):
        raise ValueError("make must return models of equal variables, got different shapes")
    columns = zip(*(each.values() for each in named), strict=True)
    stacked = dict(zip(named[0], map(np.stack, columns), strict=True))
    return Ensemble(models[0], stacked, models)


def _check_starts(models):
    if len(models) < 2 or not all(model.built and model.weights for model in models):
        return
    starts = [model.get_weights() for model in models[:2]]
    if all(np.array_equal(one, other) for one, other in zip(*starts, strict=True)):
        raise ValueError(
            "members start from the same weights; make must return models of different "
            "seeds"
        )


class _AtOnce(tf.keras.Model):
    """Compiled models whose training steps are made in one function."""

    def __init__(self, models):
        super().__init__(name="ensemble")
        self._models = models
        for model in models:
            model.make_train_function()  # optimizers may change a training step there
        jit_compile = any(model._jit_compile for model in models)
        eagerly = any(model.run_eagerly for model in models)
        self.compile(run_eagerly=eagerly, jit_compile=jit_compile and not eagerly)

    def call(self, inputs, training=None):
        return [model(inputs, training=training) for model in self._models]

    def train_step(self, data):
        return _means([model.train_step(data) for model in self._models])

    def test_step(self, data):
        return _means([model.test_step(data) for model in self._models])

    def reset_metrics(self):
        super().reset_metrics()
        for model in self._models:
            model.reset_metrics()


def _means(logs):
    columns = zip(*(each.values() for each in logs), strict=True)
    means = [tf.add_n(column) / len(logs) for column in columns]
    return dict(zip(logs[0], means, strict=True))  # names have those of layers
