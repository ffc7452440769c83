"""What dense and convolutional BatchEnsembles share."""

import tensorflow as tf

from bayes_rl.layers.base import WeightAttribute
from bayes_rl.layers.ensembles.member_vectors import MemberProduct


class BatchEnsemble(MemberProduct):
    """Mixin, left of a layer with a kernel.

        outputs = activation(sum over r(product(inputs * alpha[r, k], kernel)
                                        * gamma[r, k]) + bias[k])

    for the examples of member k.

    Args:
        ensemble_size: number of members.
        alpha_initializer: of alpha, [ensemble_size, input channels] or, for a rank above 1,
            [rank, ensemble_size, input channels]; "random_sign" and normal values around 1
            are usual. A posterior is drawn once a call for each member. With
            None the product has no alpha.
        gamma_initializer: likewise for gamma, [ensemble_size, output channels].
        rank: number of pairs of vectors of a member.
        **kwargs: of the layer.
    """

    alpha = WeightAttribute()
    gamma = WeightAttribute()

    def __init__(
        self, *, ensemble_size, alpha_initializer, gamma_initializer, rank=1, **kwargs
    ):
        if rank < 1:
            raise ValueError(f"rank must be at least 1, got {rank}")
        super().__init__(**kwargs)
        self.declare_vectors(
            ensemble_size,
            alpha_initializer=alpha_initializer,
            gamma_initializer=gamma_initializer,
        )
        self.rank_of_vectors = rank

    def member_pairs(self, dtype=None):
        """Vectors of the members.

        Args:
            dtype: of the vectors; default: the compute type.

        Returns:
            `rank` pairs (alpha [..., ensemble_size, inputs], gamma [..., ensemble_size,
            units]), with a leading axis S where S draws are held.
        """
        each = (self._vectors(key, dtype) for key in ("alpha", "gamma"))
        return list(zip(*each, strict=True))

    def _vectors(self, key, dtype):
        rank = self.rank_of_vectors
        if getattr(self, f"{key}_initializer") is None:
            return [None] * rank
        vectors = self.draw(key, dtype)
        return [vectors] if rank == 1 else tf.unstack(vectors, rank, axis=-3)

    def pairs(self, examples):
        return self.repeated(self.member_pairs(), examples)

    def repeated(self, pairs, examples):
        """Pairs of vectors of members, for each example, in the compute type."""

        def repeat(vectors):
            if vectors is None:
                return None
            return tf.repeat(tf.cast(vectors, self.compute_dtype), examples, axis=-2)

        return [[repeat(vectors) for vectors in pair] for pair in pairs]
