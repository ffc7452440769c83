"""What an action is, box or choice of categories; both are vectors [A] to the algorithm.

Model, critics and planners see vectors. Only this module knows which kind they are: it
draws actions, fits them to plans and adds noise. All random numbers come from standard
normal numbers [..., A], one for each number of an action.
"""

import math

from agents.system.errors import UserError
from agents.system.lazy import tf

_LAST_PLAN = 0.5  # share of the last plan in the probabilities that a search begins with


class Box:
    """Actions in [-1, 1]^A. What is fitted to plans is their mean and stddev."""

    categories = ()  # there are none

    def start(self, mean):
        """The mean that a search begins with, of that of the last plan, moved on."""
        return mean

    def draw(self, mean, stddev, noise):
        """clip(mean + stddev noise, -1, 1)."""
        return tf.clip_by_value(mean + stddev * noise, -1.0, 1.0)

    def mode(self, mean):
        """The action that a fit stands for: its mean."""
        return mean

    def spread(self, mean, stddev):
        """How far actions that were fitted lie apart: their stddev."""
        del mean
        return stddev

    def no_spread(self, action):
        """The spread around an action for which there is no other: 0."""
        return tf.zeros_like(action)

    def uninformed(self, plans):
        """In place of plans [B, P, H, A] that know too much: rest."""
        return tf.zeros_like(plans)

    def noisy(self, action, size, spread, noise):
        """The action [B, A] with noise [B, A], see `agents.planet.explore.noise`.

            clip(action + max(size, spread / sqrt(A)) noise, -1, 1)

        `size` is a stddev, []; `spread`, of fitted actions, [B, A], or None. The root of A
        keeps the noise of a body with many joints as large as that of one joint. With the
        whole spread on each number, its actions would be nearly random: few plans hardly
        narrow many numbers.
        """
        if spread is not None:
            size = tf.maximum(size, spread / math.sqrt(action.shape[-1]))
        return self.draw(action, size, noise)


class Categories:
    """One category of each of several parts, as one-hot vectors side by side, [A].

    What is fitted to plans is the mean of their one-hot vectors: how often each category
    is chosen. So the fit of elites is that of the cross-entropy method for categories, and
    momentum its smoothing:

        p_c = (1 - momentum) (share of elites with category c) + momentum p_c

    Source: de Boer et al., 2005, A Tutorial on the Cross-Entropy Method, section 5 and
    remark 3.3 (smoothing); Rubinstein, 1999, The Cross-Entropy Method for Combinatorial and
    Continuous Optimization.

    Args:
        categories: ints of at least 2, how many there are in each part; A is their sum.

    Example:
        >>> space = Categories([2, 3])
        >>> space.mode(tf.constant([0.4, 0.6, 0.1, 0.2, 0.7])).numpy().tolist()
        [0.0, 1.0, 0.0, 0.0, 1.0]
    """

    def __init__(self, categories):
        self.categories = tuple(int(count) for count in categories)

    def start(self, mean):
        """The probabilities that a search begins with: the last ones, half uniform.

            p = 1/2 last + (1 - 1/2 sum of last) / categories

        Before the first plan the last ones are 0, so all is uniform then.
        """

        def mixed(part):
            rest = 1.0 - _LAST_PLAN * tf.reduce_sum(part, -1, keepdims=True)
            return _LAST_PLAN * part + rest / part.shape[-1]

        return self._each(mixed, mean)

    def draw(self, mean, stddev, noise):
        """One-hot categories with probabilities `mean`, by the Gumbel-max trick.

            argmax over c of log p_c - log(-log Phi(noise_c))

        Phi is the normal distribution function, so the probabilities are exact; noise that
        is correlated in time makes choices that are.

        Source: Gumbel, 1954, Statistical Theory of Extreme Values; Maddison et al., 2014,
        A* Sampling, section 2.
        """
        del stddev
        return self.mode(tf.math.log(mean) + _gumbel(noise))

    def mode(self, mean):
        """The most probable category of each part, one-hot; of equals the first."""
        return self._each(lambda p: tf.one_hot(tf.argmax(p, -1), p.shape[-1]), mean)

    def spread(self, mean, stddev):
        """How far choices that were fitted lie apart: their probabilities."""
        del stddev
        return mean

    def no_spread(self, action):
        """The probabilities of an action for which there is no other."""
        return action

    def uninformed(self, plans):
        """In place of plans [B, P, H, A] that know too much: plan k holds category k."""
        count, (rows, _, horizon, _) = plans.shape[1], plans.shape
        held = [
            tf.one_hot(tf.range(count) % categories, categories)
            for categories in self.categories
        ]
        held = tf.concat(held, -1)[tf.newaxis, :, tf.newaxis]
        return tf.tile(held, [rows, 1, horizon, 1])

    def noisy(self, action, size, spread, noise):
        """The action [B, A], or with probability `size` any category, of each part.

            p = (1 - size) (spread or action) + size / categories

        `spread` are the probabilities [B, A] of which an action is drawn, or None.
        """
        size = tf.minimum(size, 1.0)  # a ladder of noise may lead above
        kept = action if spread is None else spread
        mixed = self._each(lambda part: (1.0 - size) * part + size / part.shape[-1], kept)
        return self.draw(mixed, None, noise)

    def split(self, vectors):
        """The parts of vectors [..., A], a list."""
        return tf.split(vectors, self.categories, -1)

    def log_probabilities(self, logits, least):
        """log((1 - least) softmax(logits) + least / categories) of each part, [..., A]."""

        def normalized(part):
            uniform = least / part.shape[-1]
            return tf.math.log((1.0 - least) * tf.nn.softmax(part) + uniform)

        return self._each(normalized, logits)

    def expectation(self, function, action, probabilities):
        """The mean of a function of an action, and its gradient, over one part at a time.

            f = mean over parts of sum over c of p_c function(action with c in this part)

        where the other parts are as in `action`, a draw. Of one part it is the exact mean.
        Its gradient is the sum over parts, the gradient of the exact mean where the other
        parts are drawn: no noise of a part reaches its own gradient.

        Source: Christodoulou, 2019, Soft Actor-Critic for Discrete Action Settings,
        equation 10; of several parts Titsias and Lázaro-Gredilla, 2015, Local Expectation
        Gradients for Black Box Variational Inference, equation 7.

        The function maps actions [A, ..., A] to tensors [A, ...], or a nest of them.
        """
        neighbours = tf.stack(self._neighbours(action))
        weights = tf.transpose(
            probabilities,
            [probabilities.shape.rank - 1, *range(probabilities.shape.rank - 1)],
        )
        parts = len(self.categories)

        def mean(values):
            total = tf.reduce_sum(weights * values, 0)
            return total - tf.stop_gradient((1.0 - 1.0 / parts) * total)

        return tf.nest.map_structure(mean, function(neighbours))

    def _neighbours(self, action):
        """A actions: of each part in turn, with each category of it."""
        parts, found = self.split(action), []
        for number, categories in enumerate(self.categories):
            for category in range(categories):
                one = tf.one_hot(category, categories) * tf.ones_like(parts[number])
                found.append(tf.concat([*parts[:number], one, *parts[number + 1 :]], -1))
        return found

    def _each(self, function, vectors):
        """A function of the last axis, applied to each part."""
        if len(self.categories) == 1:
            return function(vectors)
        return tf.concat([function(part) for part in self.split(vectors)], -1)


BOX = Box()


def make_space(categories):
    """The space of actions with so many categories in each part; of none it is a box."""
    return Categories(categories) if categories else BOX


def check_noise(noise, space):
    """Refuses noise above 1 where it is a probability, because actions are categories."""
    for name in ("stddev", "final_stddev"):
        size = getattr(noise, name)
        if space.categories and size is not None and size > 1:
            raise UserError(
                f"action_noise.{name} must be at most 1 where actions are categories, "
                f"because it is the probability of a random one, got {size:g}"
            )


def _gumbel(noise):
    """Standard Gumbel numbers of standard normal ones; -inf below about -5.4.

    1 - Phi(x) is exact for large x, where Phi(x) is rounded to 1.
    """
    beyond = 0.5 * tf.math.erfc(noise / tf.sqrt(2.0))
    return -tf.math.log(-tf.math.log1p(-beyond))
