"""Adam, with a rate of its own for stddevs of weight posteriors; averages of weights."""

import contextlib

import tensorflow as tf


class Optimizer(tf.Module):
    """Clips the gradient's norm, then takes one Adam step for each group of variables.

    The stddevs of weights, unconstrained, move at a rate of their own: too narrow a
    posterior explores nothing, too wide a one drowns the gradient in noise. The norm is
    that over all variables.
    """

    def __init__(self, variables, learning_rate, stddev_learning_rate, epsilon, clip_norm):
        super().__init__("optimizer")
        self._clip_norm = clip_norm
        adam = tf.keras.optimizers.Adam
        self._adam = adam(learning_rate, epsilon=epsilon)
        self._stddev_adam = adam(stddev_learning_rate, epsilon=epsilon)
        self._adam.build([v for v in variables if not is_stddev(v)])
        self._stddev_adam.build([v for v in variables if is_stddev(v)])

    def apply(self, gradients, variables):
        """One step; gradients are summed over replicas. Their norm, [], is not clipped."""
        gradients, norm = tf.clip_by_global_norm(gradients, self._clip_norm)
        pairs = list(zip(gradients, variables, strict=True))
        for adam, group in (
            (self._adam, [pair for pair in pairs if not is_stddev(pair[1])]),
            (self._stddev_adam, [pair for pair in pairs if is_stddev(pair[1])]),
        ):
            if group:
                adam.apply_gradients(group, skip_gradients_aggregation=True)
        return norm


class ValueOptimizer(tf.Module):
    """Adam for groups of variables, the gradient of each clipped by its own norm."""

    def __init__(self, groups, learning_rate, clip_norm):
        super().__init__("value_optimizer")
        self._clip_norm = clip_norm
        self._groups = [list(group) for group in groups]
        self._variables = [variable for group in self._groups for variable in group]
        self._adam = tf.keras.optimizers.Adam(learning_rate)
        self._adam.build(self._variables)

    def apply(self, gradients):
        """One step; gradients of all variables in turn, already summed over replicas."""
        clipped = []
        for group in self._groups:
            own = gradients[len(clipped) : len(clipped) + len(group)]
            clipped += tf.clip_by_global_norm(own, self._clip_norm)[0]
        pairs = zip(clipped, self._variables, strict=True)
        self._adam.apply_gradients(pairs, skip_gradients_aggregation=True)


def is_stddev(variable) -> bool:
    """Whether a variable is the unconstrained stddev of a weight posterior."""
    return variable.name.split("/")[-1].startswith("stddev")


class WeightAverage(tf.Module):
    """Running averages of variables, which take their place where they are asked for.

        average_t = average_{t-1} + (learned_t - average_{t-1}) / (1 + share (t - 1))

    What many steps k have learned counts as k^(1 / share - 1) does, and is share / (1 +
    share) of all steps old in the mean, however many there are. What a single step leaves
    behind is noisy: averages predict and plan better.

    Source: Shamir and Zhang, 2013, Stochastic Gradient Descent for Non-smooth Optimization,
    section 4, polynomial-decay averaging with eta + 1 = 1 / share. A share of 1 averages
    all steps alike.

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
        self.exchange = tf.function(self._exchange, autograph=False)

    def follow(self, step):
        """Moves the averages on, after gradient step t from 1."""
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

    def _exchange(self):
        """Puts averages in the place of what was learned; called again, that back."""
        both = self._variables + self._averages
        values = [tf.identity(each) for each in self._averages + self._variables]
        for variable, value in zip(both, values, strict=True):
            variable.assign(value)
