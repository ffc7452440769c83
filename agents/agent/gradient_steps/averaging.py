"""Averages of weights over the last gradient steps, by which an agent acts."""

import contextlib

import tensorflow as tf


class WeightAverage(tf.Module):
    """Keeps two values of each variable: what was learned last, and its running average.

        average_t = average_{t-1} + (learned_t - average_{t-1}) / (1 + share (t - 1))

    So what step k has learned counts as k^(1 / share - 1) does: it is about `share` of all
    steps old in the mean, however long a run is. Single steps are noisy; their average
    predicts and plans better than any of them.

    Variables hold their averages, but within `learning` what was learned last.

    Source: Shamir and Zhang, 2013, Stochastic Gradient Descent for Non-smooth Optimization,
    section 4, polynomial-decay averaging with eta + 1 = 1 / share.

    Args:
        variables: those that act.
        share: of all gradient steps, above 0 and at most 1, which averages all steps alike.

    Example:
        >>> weight = tf.Variable(0.0)
        >>> average = WeightAverage([weight], share=1.0)
        >>> with average.learning():
        ...     for step, learned in enumerate([1.0, 3.0, 8.0], 1):
        ...         _ = weight.assign(learned)
        ...         average.follow(step)
        >>> float(weight)
        4.0
        >>> with average.learning():
        ...     float(weight)
        8.0
    """

    def __init__(self, variables, share):
        super().__init__("weight_average")
        self._share = share
        self._own = list(variables)
        self._others = [tf.Variable(each, trainable=False) for each in variables]
        self._swap = tf.function(self._exchange, autograph=False)

    @contextlib.contextmanager
    def learning(self):
        """Within it variables hold what was learned last; not to be entered twice."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def follow(self, step):
        """Moves the averages on; within `learning`.

        Args:
            step: t, of the gradient step that was just taken, from 1.
        """
        rate = 1.0 / (1.0 + self._share * (tf.cast(step, tf.float32) - 1.0))
        for average, learned in zip(self._others, self._own, strict=True):
            average.assign_add(rate * (learned - average))

    def _exchange(self):
        mine, others = (
            [tf.identity(v) for v in each] for each in (self._own, self._others)
        )
        for variable, value in zip(self._own + self._others, others + mine, strict=True):
            variable.assign(value)
