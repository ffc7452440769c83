"""The last layer of each head as a Bayesian linear regression, in closed form."""

import tensorflow as tf

from agents.planet.model import networks
from agents.planet.model.rssm import LAST_LAYER
from agents.planet.model.transitions.posterior import Centre
from agents.planet.model.transitions.source import Source
from agents.system.seeds import fold, normal, split
from bayes_rl.layers import DenseReparameterization
from bayes_rl.weights import hold, named_weights

_LAST_OF_REWARD = "reward_last"
_BATCHES = 8  # of the replay: enough steps for a few hundred features, in a second


class Laplace(Source):
    """A normal posterior about trained weights: of the prior's mean, and of the reward.

    For a number y that a last layer says of x, its inputs and a 1:

        y ~ Normal(x w, stddev^2),  w ~ Normal(0, prior_scale^2)
        posterior: Normal(trained w, precision^-1)
        precision = sum over the replay of x x^T / stddev^2 + I / prior_scale^2

    The transition predicts the mean of the filter's latent, and stddev is the one that the
    prior gives to that step. The head of the reward predicts the reward, and stddev^2 is
    1 / reward_scale, in units of the reward that counts 1 in the loss. So x x^T / stddev^2
    is the Gauss-Newton matrix of the loss, free nats and `kl_scale` aside. The stddevs that
    the prior says are certain, and so are all layers before.

    Gradient steps are those of the deterministic transition, without noise and at its cost.
    Before the first ones, and after those of an episode or of several with few steps, the
    precision is made anew, for the features have moved: from sequences of the replay, as
    gradient steps see them, counted up to all its steps.

    The centre are the trained weights, not the solution of the regression: by them the
    agent filters and is judged, as its deterministic twin, and at an optimum of the loss
    both are one. `last_layer` differs: it learns mean and stddev of each element by
    gradients through draws, pays for them with a KL, keeps elements independent, and leaves
    the reward certain.

    Source: MacKay, 1992, A Practical Bayesian Framework for Backpropagation Networks;
    Daxberger et al., 2021, Laplace Redux, section 2; Riquelme et al., 2018, Deep Bayesian
    Bandits Showdown (neural linear models); Bishop, 2006, Pattern Recognition and Machine
    Learning, equations 3.53 and 3.54.

    Args: as in `Source`.
    """

    batches = _BATCHES
    shares_belief = True

    def dense(self, units, activation, name):
        if name == LAST_LAYER:
            return self._last(units, units // 2, name)
        return networks.Dense(units, activation, dtype=self.dtype, name=name)

    def reward_dense(self, units):
        return self._last(units, units, _LAST_OF_REWARD)

    def _last(self, units, uncertain, name):
        return DenseLaplace(
            units,
            uncertain=uncertain,
            prior_stddev=self.settings.prior_scale,
            kernel_initializer=Centre("glorot_uniform"),
            bias_initializer=Centre("zeros"),
            kernel_regularizer=None,
            dtype=self.dtype,
            name=name,
        )

    def draw(self, model, count, seed):
        drawn = {}
        for number, (name, layer) in enumerate(_layers(model).items()):
            kernel, bias = layer.drawn(count, fold(seed, number))
            drawn |= {f"{name}/kernel": kernel, f"{name}/bias": bias}
        return drawn

    def draw_for_training(self, model, sequences, seed):
        del sequences, seed
        return self.central(model), 0

    def costs(self, model):
        return {}

    def divergences(self, model):
        found = {}
        for name, layer in _layers(model).items():  # both are drawn together
            found |= {f"{name}/kernel": layer.divergence(), f"{name}/bias": tf.zeros([])}
        return found

    def renew(self, model, batches, rows, seed):
        grams, seen = (0.0, 0.0), 0
        for number, batch in enumerate(batches):
            tensors = {key: tf.convert_to_tensor(array) for key, array in batch.items()}
            found = _grams(model, tensors, fold(seed, number))
            grams = [a + b for a, b in zip(grams, found, strict=True)]
            seen += batch["reward"].size
        of_prior, of_reward = (gram * (rows / seen) for gram in grams)
        of_reward *= self.settings.world_model.reward_scale
        of_layer = {LAST_LAYER: of_prior, _LAST_OF_REWARD: of_reward}
        for layer in _layers(model).values():
            layer.learn(of_layer[layer.name])


class DenseLaplace(DenseReparameterization):
    """A dense layer whose first outputs, D, are a Bayesian linear regression.

    Kernel and bias are drawn together, by `drawn`; each alone has the posterior's stddevs,
    0 where an output is certain. Where they are not held they are the trained ones.
    """

    own_arguments = ("uncertain", "prior_stddev")

    def build(self, input_shape):
        super().build(input_shape)
        inputs = input_shape[-1] + 1
        shape = [self.uncertain, inputs, inputs]
        self.factor = self.add_weight(
            "factor", shape, dtype="float32", initializer="zeros", trainable=False
        )
        self.learn(tf.zeros(shape, tf.float64))

    def learn(self, gram):
        """Makes the posterior anew.

        The gram [D, inputs + 1, inputs + 1] is the sum of x x^T / stddev^2 of each output.
        """
        gram = tf.cast(gram, tf.float64)
        prior = tf.eye(gram.shape[-1], dtype=tf.float64) / self.prior_stddev**2
        root = tf.linalg.cholesky(gram + prior)
        # factor factor^T is the covariance; rounding is float32's from here on.
        factor = tf.linalg.adjoint(
            tf.linalg.triangular_solve(
                root, tf.eye(root.shape[-1], batch_shape=root.shape[:1], dtype=root.dtype)
            )
        )
        self.factor.assign(tf.cast(factor, tf.float32))
        stddev = tf.transpose(tf.norm(self.factor, axis=-1))
        kernel, bias = _kernel_and_bias(stddev, self.units)
        self.stochastic_weights["kernel"].initializer.stddev.assign(kernel)
        self.stochastic_weights["bias"].initializer.stddev.assign(bias)

    def divergence(self):
        """KL(posterior || prior) of the uncertain outputs, in nats, [].

            sum over d of (tr(C_d) / p^2 + |w_d|^2 / p^2 - k - ln det(C_d / p^2)) / 2

        p: stddev of the prior; w_d: the k weights of output d, of covariance C_d.
        """
        factor = tf.cast(self.factor, tf.float64) / self.prior_stddev
        means = [weight.mean() for weight in self.stochastic_weights.values()]
        means = [tf.cast(x[..., : self.uncertain], tf.float64) for x in means]
        of_means = sum(tf.reduce_sum(x**2) for x in means) / self.prior_stddev**2
        log_det = 2.0 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
        count = tf.cast(tf.reduce_prod(factor.shape[:2]), tf.float64)
        return tf.cast(
            (tf.reduce_sum(factor**2) + of_means - count - log_det) / 2.0, tf.float32
        )

    def drawn(self, count, seed):
        """Kernels [S, inputs, units] and biases [S, units]."""
        uncertain, inputs, _ = self.factor.shape
        noise = normal([uncertain, inputs, count], seed)
        change = tf.transpose(tf.matmul(self.factor, noise), [2, 1, 0])
        kernel, bias = _kernel_and_bias(change, self.units)
        weights = self.stochastic_weights
        return weights["kernel"].mean() + kernel, weights["bias"].mean() + bias

    def draw(self, key, dtype=None):
        value = self.given(key)
        value = self.stochastic_weights[key].mean() if value is None else value
        return tf.cast(value, dtype or self.compute_dtype)


def _kernel_and_bias(rows, units):
    """[..., inputs + 1, D] -> [..., inputs, units] and [..., units], 0 beyond D."""
    leading = [[0, 0]] * (rows.shape.rank - 1)
    rows = tf.pad(rows, [*leading, [0, units - rows.shape[-1]]])
    return rows[..., :-1, :], rows[..., -1, :]


def _layers(model):
    """Full name -> layer: that of the prior, and that of the reward where it is there."""
    return {
        name.removesuffix("/kernel"): layer
        for name, (layer, weight) in named_weights(model).items()
        if weight.key == "kernel"
    }


@tf.function(autograph=False)
def _grams(model, batch, seed):
    """Sums of x x^T / stddev^2 over a batch for the prior's mean, of x x^T for the reward.

    They are [D, inputs + 1, inputs + 1] and [1, inputs + 1, inputs + 1], float64.
    """
    rssm, seeds = model.rssm, split(seed, 2)
    seen = model.embed(batch, seeds[0])
    noise = normal([*batch["reward"].shape, rssm.latent_size], seeds[1])
    with hold(model, model.central_weights()):
        latents = seen, batch["action"], batch["is_first"], noise
        posterior, prior = rssm.observe(*latents)
        of_prior = rssm.prior_inputs(posterior.belief)
        of_reward = model.reward_inputs(posterior.features)
    precision = 1.0 / tf.square(prior.stddev)
    return _gram(of_prior, precision), _gram(of_reward, tf.ones_like(precision[..., :1]))


def _gram(inputs, precision):
    """[..., inputs] and [..., D] -> [D, inputs + 1, inputs + 1], float64."""
    inputs, precision = (
        tf.cast(tf.reshape(x, [-1, x.shape[-1]]), tf.float64) for x in (inputs, precision)
    )
    inputs = tf.pad(inputs, [[0, 0], [0, 1]], constant_values=1.0)
    weighted = tf.transpose(precision)[:, :, tf.newaxis] * inputs
    return tf.matmul(weighted, inputs[tf.newaxis], transpose_a=True)
