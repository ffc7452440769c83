"""Adam, with a rate of its own for stddevs of weight posteriors; averages of weights.

And IVON, for posteriors that Adam does not move.
"""

import contextlib

import tensorflow as tf

_BETA_1, _BETA_2 = 0.9, 0.999  # how long IVON's momentum and curvature remember


class Optimizer(tf.Module):
    """Clips the gradient's norm, then takes one Adam step for each group of variables.

    The stddevs of weights, unconstrained, move at a rate of their own: too narrow a
    posterior explores nothing, too wide a one drowns the gradient in noise. The norm is
    that over all variables. What an `ivon` moves, Adam does not.
    """

    def __init__(
        self,
        variables,
        learning_rate,
        stddev_learning_rate,
        epsilon,
        clip_norm,
        ivon=None,
    ):
        super().__init__("optimizer")
        self._clip_norm = clip_norm
        adam = tf.keras.optimizers.Adam
        self._adam = adam(learning_rate, epsilon=epsilon)
        self._stddev_adam = adam(stddev_learning_rate, epsilon=epsilon)
        self._ivon = ivon
        groups = self._grouped(variables, variables)
        self._adam.build([variable for _, variable in groups[0]])
        self._stddev_adam.build([variable for _, variable in groups[1]])

    def apply(self, gradients, variables, drawn=None, sample_size=None):
        """One step.

        Args:
            gradients: summed over replicas.
            variables: of which they are.
            drawn: of IVON alone, dict of full name -> weight, at which the gradients are.
            sample_size: likewise, the n of its posterior, [].

        Returns:
            The norm of the gradients before they are clipped, [].
        """
        gradients, norm = tf.clip_by_global_norm(gradients, self._clip_norm)
        *groups, curved = self._grouped(gradients, variables)
        for adam, pairs in zip((self._adam, self._stddev_adam), groups, strict=True):
            if pairs:
                adam.apply_gradients(pairs, skip_gradients_aggregation=True)
        if curved:
            self._ivon.apply({v.ref(): g for g, v in curved}, drawn, sample_size)
        return norm

    def _grouped(self, gradients, variables):
        """Pairs of a gradient and a variable: of Adam, of Adam for stddevs, of IVON."""
        means = self._ivon.means if self._ivon else ()
        groups = [], [], []
        for gradient, variable in zip(gradients, variables, strict=True):
            kind = 2 if variable.ref() in means else int(is_stddev(variable))
            groups[kind].append((gradient, variable))
        return groups


class Ivon(tf.Module):
    """Moves normal posteriors whose stddevs follow from the curvature of the loss.

        h_hat = gradient (weight - mean) / stddev^2, at a draw of the weight
        g <- beta_1 g + (1 - beta_1) gradient
        h <- max(0, beta_2 h + (1 - beta_2) h_hat)
        mean <- mean - learning_rate (g / (1 - beta_1^t) + delta mean) / (h + delta + c)
        stddev^2 = 1 / (n (h + delta)),  delta = 1 / (n prior_scale^2)

    for n steps in the replay, at gradient step t from 1; `curvature` is c, and h at first.
    Gradients are those after clipping. Two things differ from IVON, because n is large here
    and h soon forgets its start. First, h is clipped at 0: the term by which IVON keeps it
    above 0 raises h by about n (1 - beta_2) / 2 times the mean square of gradients. Second,
    c damps the steps: otherwise they grow without end where the loss is flat.

    Source: Shen et al., 2024, Variational Learning is Effective for Large Deep Networks,
    algorithm 1.

    Args:
        posteriors: dict of full name -> what has the variables `mean` and `stddev`.
        learning_rate: of the means.
        curvature: c.
        prior_scale: stddev of the prior of a weight.
    """

    def __init__(self, posteriors, learning_rate, curvature, prior_scale):
        super().__init__("ivon")
        self._posteriors = dict(posteriors)
        self._learning_rate, self._damping = learning_rate, curvature
        self._prior_scale = prior_scale
        means = [posterior.mean for posterior in self._posteriors.values()]
        self._momenta = [tf.Variable(tf.zeros_like(mean)) for mean in means]
        self._curvatures = [tf.Variable(tf.fill(x.shape, float(curvature))) for x in means]
        self._steps = tf.Variable(0.0)

    @property
    def means(self):
        """References of the variables that it moves."""
        return {posterior.mean.ref() for posterior in self._posteriors.values()}

    def apply(self, gradients, drawn, sample_size):
        """One step.

        Args:
            gradients: dict of a mean's reference -> the gradient at the draw.
            drawn: dict of full name -> the weight that was drawn.
            sample_size: n, [].
        """
        self._steps.assign_add(1.0)
        unbias = 1.0 - tf.pow(_BETA_1, self._steps)
        decay = 1.0 / (sample_size * self._prior_scale**2)
        slots = zip(self._momenta, self._curvatures, strict=True)
        for (name, posterior), (momentum, curvature) in zip(
            self._posteriors.items(), slots, strict=True
        ):
            gradient, mean = gradients[posterior.mean.ref()], posterior.mean
            estimate = gradient * (drawn[name] - mean) / tf.square(posterior.stddev)
            moved = momentum + (1.0 - _BETA_1) * (gradient - momentum)
            bent = tf.nn.relu(curvature + (1.0 - _BETA_2) * (estimate - curvature))
            slope = moved / unbias + decay * mean
            change = self._learning_rate * slope / (bent + decay + self._damping)
            momentum.assign(moved)
            curvature.assign(bent)
            mean.assign_sub(change)
            posterior.stddev.assign(tf.math.rsqrt(sample_size * (bent + decay)))


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
