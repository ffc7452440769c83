"""What layers with vectors for each member of an ensemble share."""

import tensorflow as tf

from bayes_rl import initializers, regularizers
from bayes_rl.initializers.seeding import fresh
from bayes_rl.layers import products
from bayes_rl.layers.base import StochasticLayer
from bayes_rl.layers.ensembles.example_vectors import ExampleVectors


def _initializer(identifier):
    """An object of its own: one of Keras' gives each weight the same initial values."""
    return fresh(initializers.get(identifier))


_GET = {
    "initializer": _initializer,
    "regularizer": regularizers.get,
    "constraint": tf.keras.constraints.get,
}


class MemberVectors(StochasticLayer):
    """Mixin, left of a Keras layer or cell: vectors for each member of an ensemble.

    A batch is [ensemble_size * examples, ...], the examples of the first member first. The
    bias has a row for each member too.
    """

    def declare_vectors(self, ensemble_size, **parts):
        """Keeps arguments of the constructor.

        Args:
            ensemble_size: number of members.
            **parts: `<weight>_initializer`, `_regularizer` and `_constraint` of vectors.

        Raises:
            ValueError: `ensemble_size` is below 1, or an object is unknown.
        """
        if ensemble_size < 1:
            raise ValueError(f"ensemble_size must be at least 1, got {ensemble_size}")
        self.ensemble_size = ensemble_size
        self._vector_parts = tuple(parts)
        for name, value in parts.items():
            setattr(self, name, _GET[name.rpartition("_")[2]](value))

    def add_vectors(self, key, size, rank=1):
        """Adds a weight [ensemble_size, size] or, with a rank, [rank, ensemble_size, size].

        Args:
            key: name within the layer; its initializer and the like are attributes.
            size: of a vector.
            rank: number of vectors of a member.

        Returns:
            What `add_weight` does; None without initializer.
        """
        if getattr(self, f"{key}_initializer") is None:
            return None
        parts = {kind: getattr(self, f"{key}_{kind}", None) for kind in _GET}
        shape = [self.ensemble_size, size]
        return self.add_weight(key, shape if rank == 1 else [rank, *shape], **parts)

    def add_weight(self, name=None, shape=None, **kwargs):
        """As in `StochasticLayer`; the bias gets a row for each member."""
        # Costs need more digits than float16 has; `draw` casts for the product.
        kwargs.setdefault("experimental_autocast", False)
        if name == "bias":
            kwargs["initializer"] = _for_each_row(
                kwargs["initializer"], self.ensemble_size, shape
            )
            shape = (self.ensemble_size, *shape)
        return super().add_weight(name, shape, **kwargs)

    def examples(self, batch_size):
        """Number of examples of each member.

        Args:
            batch_size: int or tensor [].

        Returns:
            Of the type of `batch_size`.

        Raises:
            ValueError: `batch_size` is no multiple of the number of members;
                InvalidArgumentError where it is only known when the graph runs.
        """
        rest = batch_size % self.ensemble_size
        examples = batch_size // self.ensemble_size
        message = f"the batch size must be a multiple of ensemble_size {self.ensemble_size}"
        if not tf.is_tensor(batch_size):
            if rest:
                raise ValueError(f"{message}, got {batch_size}")
            return examples
        with tf.control_dependencies([tf.debugging.assert_equal(rest, 0, message)]):
            return tf.identity(examples)

    def rows(self, key, examples):
        """A weight's row for each example, that of its member.

        Args:
            key: name of a weight [..., ensemble_size, size].
            examples: number of examples of each member.

        Returns:
            [..., B, size], with a leading axis S where S draws are held.
        """
        return tf.repeat(self.draw(key), examples, axis=-2)

    def get_config(self):
        parts = {name: getattr(self, name) for name in self._vector_parts}
        parts = {
            name: None if value is None else initializers.serialize(value)
            for name, value in parts.items()
        }
        return {**super().get_config(), **parts, "ensemble_size": self.ensemble_size}


def _for_each_row(initializer, count, shape):
    if isinstance(initializer, tf.keras.layers.Layer):
        return initializer
    return initializers.get_condconv_initializer(initializer, count, shape)


class MemberProduct(ExampleVectors, MemberVectors):
    """Mixin, left of a layer with a kernel: its product between vectors of each example.

        outputs = activation(sum over pairs((inputs * alpha) @ kernel * gamma) + bias)

    The layer has `kernel_key`, `product(inputs, kernel)`, `channels(shape)` and `layout`,
    as for `flipout.Flipout`. A subclass gives `pairs(examples)`.
    """

    join = staticmethod(tf.multiply)
    rank_of_vectors = 1

    def build(self, input_shape):
        super().build(input_shape)
        key = self.kernel_key
        kernel = self.stochastic_weights.get(key) or getattr(self, key)
        sizes = self.channels(tuple(kernel.shape))
        for key, size in zip(("alpha", "gamma"), sizes, strict=True):
            setattr(self, key, self.add_vectors(key, size, self.rank_of_vectors))

    def call(self, inputs):
        pairs = self.pairs(self.examples_in(inputs))
        kernel = self.draw(self.kernel_key)
        return self.finish(self.product_between(inputs, kernel, pairs))

    def pairs(self, examples):
        """Vectors before and after the product, for each example.

        Args:
            examples: number of examples of each member.

        Returns:
            List of (alpha [..., B, inputs], gamma [..., B, units]).
        """
        raise NotImplementedError

    def product_between(self, inputs, kernel, pairs):
        """Sum of the products between pairs of vectors, without bias and activation."""
        products_of_pairs = [
            self._after(self.product(self._after(inputs, alpha), kernel), gamma)
            for alpha, gamma in pairs
        ]
        return sum(products_of_pairs[1:], products_of_pairs[0])

    def _after(self, tensor, vectors):
        if vectors is None:
            return tensor
        return self.join(tensor, self.align(vectors, tensor))

    @tf.autograph.experimental.do_not_convert
    def finish(self, outputs):
        """Bias of the members and activation."""
        if self.use_bias:
            bias = self.rows("bias", self.examples_in(outputs))
            outputs += self.align(bias, outputs)
        return outputs if self.activation is None else self.activation(outputs)

    @tf.autograph.experimental.do_not_convert
    def examples_in(self, tensor):
        """Number of examples of each member in inputs or outputs."""
        axis = 1 if self.has_draws(tensor) else 0
        return self.examples(products.sizes(tensor)[axis])
