"""Critics and policy: networks on features of the latent."""

import math

import tensorflow as tf

from agents.planet.model.observed import over_leading_axes

_LOG_STDDEVS = (-5.0, 1.0)  # of actions before tanh
_EPSILON = 1e-6
_ANY_CATEGORY = 0.01  # share of uniform probabilities in those of a policy


class _Follower(tf.Module):
    def follow(self, other, rate):
        """Takes over a share of the weights of another one of the same shape."""
        for mine, theirs in zip(self.variables, other.variables, strict=True):
            mine.assign_add(rate * (theirs - mine))


class Perceptrons(_Follower):
    """M perceptrons of one shape, computed together: one product for each layer.

        h = elu(LayerNorm(x W + b)) in hidden layers, h W + b in the last

    The last kernels are 0 at first, so that nothing is worth anything before it is learned.
    """

    def __init__(self, members, sizes, name):
        super().__init__(name)
        self._layers = []
        for number, (before, after) in enumerate(zip(sizes, sizes[1:], strict=False)):
            is_last = number == len(sizes) - 2
            self._layers.append(_make_layer(members, before, after, is_last, number))

    def __call__(self, inputs, fixed=False):
        """Outputs [M, N, ...] of inputs [N, ...]; no gradient to the weights if `fixed`."""
        outputs = inputs[tf.newaxis]
        for layer in self._layers:
            weights = tf.nest.map_structure(tf.stop_gradient, layer) if fixed else layer
            outputs = tf.matmul(outputs, weights["kernel"]) + weights["bias"]
            if "scale" in weights:
                outputs = _normalized(outputs) * weights["scale"] + weights["offset"]
                outputs = tf.nn.elu(outputs)
        return outputs


class Critics(_Follower):
    """What a state and an action are worth, by two networks of so many hidden layers.

    An `offset()`, [], is added to what the networks say.
    """

    def __init__(self, features, action_size, layers, units, name, offset=lambda: 0.0):
        super().__init__(name)
        self._offset = offset
        sizes = [features + action_size, *[units] * layers, 1]
        self._networks = Perceptrons(2, sizes, name)

    def __call__(self, features, action, fixed=False):
        """[2, ...] of features [..., F] and actions [..., A]."""
        inputs = tf.concat([features, action], -1)
        flat = tf.reshape(inputs, [-1, inputs.shape[-1]])
        outputs = self._networks(flat, fixed)
        outputs = tf.reshape(outputs, tf.concat([[2], tf.shape(inputs)[:-1]], 0))
        return outputs + self._offset()


class _Policy(_Follower):
    def __init__(self, features, outputs, layers, units):
        super().__init__("policy")
        sizes = [features, *[units] * layers, outputs]
        self._network = Perceptrons(1, sizes, "policy")

    def _outputs(self, features):
        return over_leading_axes(lambda flat: self._network(flat)[0], features, 1)


class SquashedNormal(_Policy):
    """A policy whose actions are tanh(mean + stddev noise).

    Source: Haarnoja et al., 2018, Soft Actor-Critic, appendix C.
    """

    def __init__(self, features, action_size, layers, units):
        super().__init__(features, 2 * action_size, layers, units)

    def mode(self, features):
        """tanh(mean), [..., A] of features [..., F]."""
        return tf.tanh(self._mean_and_log_stddev(features)[0])

    def sample(self, features, noise):
        """Actions and their log density, [...].

            log p(a) = sum of log N(u | mean, stddev) - log(1 - tanh(u)^2)

        The noise is standard normal, [..., A].
        """
        mean, log_stddev = self._mean_and_log_stddev(features)
        action = tf.tanh(mean + tf.exp(log_stddev) * noise)
        normal = -0.5 * (noise**2 + math.log(2.0 * math.pi)) - log_stddev
        squash = tf.math.log(1.0 - action**2 + _EPSILON)
        return action, tf.reduce_sum(normal - squash, -1)

    def expect(self, function, features, noise):
        """What a function of features and actions gives of those that `sample` draws.

        And the log density of these actions, [...].
        """
        action, log_density = self.sample(features, noise)
        return function(features, action), log_density

    def _mean_and_log_stddev(self, features):
        mean, raw = tf.split(self._outputs(features), 2, -1)
        low, high = _LOG_STDDEVS
        return mean, low + 0.5 * (high - low) * (tf.tanh(raw) + 1.0)


class OneHotCategories(_Policy):
    """A policy that chooses categories: the softmax of a network, 1 % of it uniform.

    Source: Christodoulou, 2019, Soft Actor-Critic for Discrete Action Settings; the share
    that is uniform: Hafner et al., 2023, Mastering Diverse Domains through World Models.
    """

    def __init__(self, features, space, layers, units):
        super().__init__(features, sum(space.categories), layers, units)
        self._space = space

    def mode(self, features):
        """The most probable categories, one-hot [..., A] of features [..., F]."""
        return self._space.mode(self._outputs(features))

    def sample(self, features, noise):
        """One-hot actions of standard normal noise [..., A], and the mean log probability.

        The latter, [...], is the sum over parts of sum of p log p.
        """
        probabilities, log_density = self._probabilities(features)
        return self._space.draw(probabilities, None, noise), log_density

    def expect(self, function, features, noise):
        """As of `SquashedNormal`, but its mean, see `Categories.expectation`."""
        probabilities, log_density = self._probabilities(features)
        action = self._space.draw(tf.stop_gradient(probabilities), None, noise)

        def of_neighbours(actions):
            repeated = tf.repeat(features[tf.newaxis], actions.shape[0], 0)
            return function(repeated, actions)

        found = self._space.expectation(of_neighbours, action, probabilities)
        return found, log_density

    def _probabilities(self, features):
        log_p = self._space.log_probabilities(self._outputs(features), _ANY_CATEGORY)
        probabilities = tf.exp(log_p)
        return probabilities, tf.reduce_sum(probabilities * log_p, -1)


def make_policy(features, space, action_size, layers, units):
    """The policy of a space of actions: `SquashedNormal` or `OneHotCategories`."""
    if space.categories:
        return OneHotCategories(features, space, layers, units)
    return SquashedNormal(features, action_size, layers, units)


def _make_layer(members, before, after, is_last, number):
    shape = [members, before, after]
    limit = math.sqrt(6.0 / (before + after))  # Glorot and Bengio, 2010
    kernel = tf.zeros(shape) if is_last else tf.random.uniform(shape, -limit, limit)
    values = {"kernel": kernel, "bias": tf.zeros([members, 1, after])}
    if not is_last:
        values["scale"] = tf.ones([members, 1, after])
        values["offset"] = tf.zeros([members, 1, after])
    return {name: tf.Variable(v, name=f"{name}_{number}") for name, v in values.items()}


def _normalized(inputs):
    """Layer normalization without its scale and offset (Ba et al., 2016)."""
    mean, variance = tf.nn.moments(inputs, axes=[-1], keepdims=True)
    return (inputs - mean) * tf.math.rsqrt(variance + 1e-3)
