"""Layers with vectors for each member of an ensemble, and where these meet a batch.

A batch is [ensemble_size * examples, ...], the examples of the first member first. The bias
has a row for each member too.
"""

import tensorflow as tf

from bayes_rl import checks, initializers
from bayes_rl.initializers.seeding import fresh
from bayes_rl.layers import products
from bayes_rl.layers.base import WeightAttribute
from bayes_rl.random_variables.families import draw_from
from bayes_rl.random_variables.tracing import is_tracing


def add_vectors(layer, key, size, rank=1):
    """Adds a weight [ensemble_size, size] or, with a rank, [rank, ensemble_size, size].

    The layer has an attribute `<key>_initializer` and, maybe, `_regularizer` and
    `_constraint`; without initializer it gets no vectors.
    """
    initializer = getattr(layer, f"{key}_initializer")
    if initializer is None:
        return
    parts = {k: getattr(layer, f"{key}_{k}", None) for k in ("regularizer", "constraint")}
    # One object of Keras would give each weight the same initial values.
    parts["initializer"] = fresh(initializer)
    shape = [layer.ensemble_size, size]
    shape = shape if rank == 1 else [rank, *shape]
    setattr(layer, key, layer.add_weight(key, shape, **parts))


def with_rows(layer, name, shape, initializer=None, **options):
    """Arguments of `add_weight` that give the bias a row for each member."""
    # Costs need more digits than float16 has; `draw` casts for the product.
    options = {"experimental_autocast": False, **options}
    if name == "bias":
        size = layer.ensemble_size
        initializer = initializers.get_condconv_initializer(initializer, size, shape)
        shape = (size, *shape)
    return {"name": name, "shape": shape, "initializer": initializer, **options}


def examples_of(layer, batch_size):
    """Number of examples of each member, of the type of `batch_size`, int or tensor [].

    Raises:
        ValueError: `batch_size` is no multiple of the number of members;
            InvalidArgumentError where it is only known when the graph runs.
    """
    examples = batch_size // layer.ensemble_size
    rest = batch_size % layer.ensemble_size
    message = f"the batch size must be a multiple of ensemble_size {layer.ensemble_size}"
    if not tf.is_tensor(batch_size):
        if rest:
            raise ValueError(f"{message}, got {batch_size}")
        return examples
    with tf.control_dependencies([tf.debugging.assert_equal(rest, 0, message)]):
        return tf.identity(examples)


def rows(layer, key, examples):
    """A weight's row for each example, that of its member: [..., B, size]."""
    return repeat(layer.draw(key), examples)


def rows_of_examples(layer, key, examples):
    """As `rows`, with a draw for each example; held and traced ones are the member's."""
    if is_tracing() or layer.given(key) is not None:
        return rows(layer, key, examples)
    draws = draw_from(layer.stochastic_weights[key].posterior(), [examples])
    draws = tf.cast(tf.transpose(draws, [1, 0, 2]), layer.compute_dtype)
    return tf.reshape(draws, [-1, draws.shape[-1]])


def align(layer, vectors, tensor):
    """Vectors [B, channels] or [S, B, channels] with axes that broadcast to a tensor."""
    if vectors.shape.rank == 2 and _has_draws(layer, tensor):
        vectors = vectors[tf.newaxis]
    return products.align(vectors, tensor, layer.layout)


def _has_draws(layer, tensor):
    """Whether inputs or outputs are [S, B, ...], as S draws are held."""
    draws = layer.held_draws()
    if not draws or tensor.shape.rank <= layer.layout.rank + 2:
        return False
    products.check_draws(tensor, tf.get_static_value(draws[0]))
    return True


def vectors_of_members(layer, key, dtype=None):
    """Vectors of each rank, [..., ensemble_size, size], or None where there are none."""
    if getattr(layer, f"{key}_initializer") is None:
        return [None] * layer.rank_of_vectors
    vectors = layer.draw(key, dtype)
    one = layer.rank_of_vectors == 1
    return [vectors] if one else tf.unstack(vectors, layer.rank_of_vectors, axis=-3)


def repeat(vectors, examples):
    """Vectors of members as one for each example; None as it is.

    That is `tf.repeat` along axis -2, whose gradient XLA does not compile within a loop.
    """
    if vectors is None:
        return None
    each = vectors[..., tf.newaxis, :] * tf.ones([examples, 1], vectors.dtype)
    shape = tf.concat([tf.shape(each)[:-3], [-1, vectors.shape[-1]]], 0)
    return tf.reshape(each, shape)


class MemberLayer:
    """Mixin, left of a layer with a kernel: its product between vectors of each example.

        outputs = activation(sum over r(product(inputs * alpha[r], kernel) * gamma[r])
                             + bias)

    with the vectors of the example's member. The layer has `kernel_key`,
    `product(inputs, kernel)`, `channels(shape)` and `layout`, as for `flipout.Flipout`.
    """

    own_arguments = ("ensemble_size", "alpha_initializer", "gamma_initializer")
    join = staticmethod(tf.multiply)
    alpha = WeightAttribute()
    gamma = WeightAttribute()

    def __init__(self, *, ensemble_size, rank=1, **kwargs):
        checks.at_least_1(rank=rank, ensemble_size=ensemble_size)
        super().__init__(ensemble_size=ensemble_size, **kwargs)
        self.rank_of_vectors = rank  # Keras' convolutions have another `rank`.

    def add_weight(self, name=None, shape=None, **kwargs):
        """As in `StochasticLayer`; the bias gets a row for each member."""
        return super().add_weight(**with_rows(self, name, shape, **kwargs))

    def build(self, input_shape):
        super().build(input_shape)
        key = self.kernel_key
        kernel = self.stochastic_weights.get(key) or getattr(self, key)
        sizes = self.channels(tuple(kernel.shape))
        for key, size in zip(("alpha", "gamma"), sizes, strict=True):
            add_vectors(self, key, size, self.rank_of_vectors)

    def call(self, inputs):
        inputs = tf.cast(inputs, self.compute_dtype)
        examples = self.examples_in(inputs)
        vectors = [self.vectors(key, examples) for key in ("alpha", "gamma")]
        return self.finish(
            self.product_between(inputs, self.draw(self.kernel_key), *vectors)
        )

    def vectors(self, key, examples):
        """Vectors of each rank for each example, [..., B, size] or None."""
        return [repeat(x, examples) for x in vectors_of_members(self, key)]

    def product_between(self, inputs, kernel, alphas, gammas):
        """Sum of the products between vectors, without bias and activation."""
        between = [
            self._after(self.product(self._after(inputs, alpha), kernel), gamma)
            for alpha, gamma in zip(alphas, gammas, strict=True)
        ]
        return sum(between[1:], between[0])

    def _after(self, tensor, vectors):
        if vectors is None:
            return tensor
        return self.join(tensor, align(self, vectors, tensor))

    def finish(self, outputs):
        """Bias of the members and activation."""
        if self.use_bias:
            bias = rows(self, "bias", self.examples_in(outputs))
            outputs += align(self, bias, outputs)
        return outputs if self.activation is None else self.activation(outputs)

    def examples_in(self, tensor):
        """Number of examples of each member in inputs or outputs."""
        axis = 1 if _has_draws(self, tensor) else 0
        return examples_of(self, products.sizes(tensor)[axis])

    def get_config(self):
        return {**super().get_config(), "rank": self.rank_of_vectors}
