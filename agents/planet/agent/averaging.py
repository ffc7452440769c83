"""Averages of weights over the last gradient steps, by which an agent is judged."""

import contextlib

import tensorflow as tf


class WeightAverage(tf.Module):
    """Running averages of variables, which take their place where they are asked for.

        average_t = average_{t-1} + (learned_t - average_{t-1}) / (1 + share (t - 1))

    What many steps k have learned counts as k^(1 / share - 1) does, and is share / (1 +
    share) of all steps old in the mean, however many there are. What a single step leaves
    behind is noisy: averages predict and plan better.

    Source: Shamir and Zhang, 2013, Stochastic Gradient Descent for Non-smooth Optimization,
    section 4, polynomial-decay averaging with eta + 1 = 1 / share.

    Args:
        variables: those of which averages are kept.
        share: above 0 and at most 1, which averages all steps alike.

    Example:
        >>> weight = tf.Variable(0.0)
        >>> average = WeightAverage([weight], share=1.0)
        >>> for step, learned in enumerate([1.0, 3.0, 8.0], 1):
        ...     _ = weight.assign(learned)
        ...     average.follow(step)
        >>> with average.in_place():
        ...     float(weight)
        4.0
        >>> float(weight)
        8.0
    """

    def __init__(self, variables, share):
        super().__init__("weight_average")
        self._share = share
        self._variables = list(variables)
        self._averages = [tf.Variable(each, trainable=False) for each in variables]
        self._exchange = tf.function(self._exchanged, autograph=False)

    def follow(self, step):
        """Moves the averages on.

        Args:
            step: t, of the gradient step that was just taken, from 1.
        """
        rate = 1.0 / (1.0 + self._share * (tf.cast(step, tf.float32) - 1.0))
        for average, learned in zip(self._averages, self._variables, strict=True):
            average.assign_add(rate * (learned - average))

    @contextlib.contextmanager
    def in_place(self):
        """Within it variables hold their averages; not to be entered twice."""
        self.exchange()
        try:
            yield
        finally:
            self.exchange()

    def exchange(self):
        """Puts averages in the place of what was learned; called again, that back."""
        self._exchange()

    def _exchanged(self):
        both = self._variables + self._averages
        values = [tf.identity(each) for each in self._averages + self._variables]
        for variable, value in zip(both, values, strict=True):
            variable.assign(value)
