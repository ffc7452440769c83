"""What dense, convolutional and recurrent rank-1 layers share."""

import tensorflow as tf

from bayes_rl.families import draw_from
from bayes_rl.layers.base import WeightAttribute
from bayes_rl.layers.ensembles.member_vectors import MemberProduct, MemberVectors
from bayes_rl.tracing import is_tracing


class Rank1Vectors(MemberVectors):
    """Mixin: vectors of a member, drawn anew for each of its examples."""

    def vectors(self, key, examples):
        """A draw for each example; what is held or seen by a tracer is for all of them.

        Args:
            key: name of a weight [ensemble_size, size].
            examples: number of examples of each member.

        Returns:
            [B, size], or [S, B, size] where S draws are held.
        """
        if is_tracing() or self.given(key) is not None:
            return self.rows(key, examples)
        draws = draw_from(self.stochastic_weights[key].posterior(), [examples])
        draws = tf.cast(tf.transpose(draws, [1, 0, 2]), self.compute_dtype)
        return tf.reshape(draws, [-1, draws.shape[-1]])


class Rank1(Rank1Vectors, MemberProduct):
    """Mixin, left of a layer with a kernel.

        outputs = activation(product(inputs * alpha, kernel) * gamma + bias)

    Args:
        alpha_initializer: posterior over alpha, [ensemble_size, input channels]; an
            ordinary initializer makes alpha deterministic.
        gamma_initializer: likewise for gamma, [ensemble_size, output channels].
        alpha_regularizer: cost of the posterior over alpha, or None.
        gamma_regularizer: likewise for gamma.
        alpha_constraint: of a deterministic alpha.
        gamma_constraint: of a deterministic gamma.
        use_additive_perturbation: whether vectors are added, not multiplied.
        min_perturbation_value: below which alpha and gamma are clipped.
        max_perturbation_value: above which alpha and gamma are clipped.
        ensemble_size: number of members of the mixture.
        **kwargs: of the layer.
    """

    alpha = WeightAttribute()
    gamma = WeightAttribute()

    def __init__(
        self,
        *,
        alpha_initializer,
        gamma_initializer,
        alpha_regularizer,
        gamma_regularizer,
        alpha_constraint,
        gamma_constraint,
        use_additive_perturbation,
        min_perturbation_value,
        max_perturbation_value,
        ensemble_size,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.declare_vectors(
            ensemble_size,
            alpha_initializer=alpha_initializer,
            gamma_initializer=gamma_initializer,
            alpha_regularizer=alpha_regularizer,
            gamma_regularizer=gamma_regularizer,
            alpha_constraint=alpha_constraint,
            gamma_constraint=gamma_constraint,
        )
        if min_perturbation_value > max_perturbation_value:
            raise ValueError(
                f"min_perturbation_value {min_perturbation_value} is above "
                f"max_perturbation_value {max_perturbation_value}"
            )
        self.use_additive_perturbation = use_additive_perturbation
        self.min_perturbation_value = min_perturbation_value
        self.max_perturbation_value = max_perturbation_value

    @property
    def join(self):
        return tf.add if self.use_additive_perturbation else tf.multiply

    def pairs(self, examples):
        limits = self.min_perturbation_value, self.max_perturbation_value
        pair = [self.vectors(key, examples) for key in ("alpha", "gamma")]
        return [[tf.clip_by_value(vectors, *limits) for vectors in pair]]

    def get_config(self):
        return {
            **super().get_config(),
            "use_additive_perturbation": self.use_additive_perturbation,
            "min_perturbation_value": self.min_perturbation_value,
            "max_perturbation_value": self.max_perturbation_value,
        }
