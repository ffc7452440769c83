"""Members with weights of their own, of which a draw is one."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from agents.planet.model.transitions.source import Source
from agents.system.seeds import uniform
from bayes_rl.initializers.seeding import fresh
from bayes_rl.initializers.trainable import TrainableInitializer
from bayes_rl.layers import DenseReparameterization
from bayes_rl.weights import named_weights


class Ensemble(Source):
    """M transitions, each with kernels and biases of its own; a draw is one of them.

    Member m learns from the sequences m, m + M, m + 2 M, ... of each batch, so no two see
    the same in one step, and a step costs what it costs without members. Batches are drawn
    from all that is replayed, so over many steps all see all of it: they differ by their
    initial values and by the order of what they see, as in the source; none has a
    bootstrap sample of its own.

    Where members do not share batches, each learns from all sequences: of each there are M
    copies, and copy m is of member m. Of the features of the filter, a value then learns
    from those of the first member, which filters when the agent acts.

    S draws are members in a random order; none comes twice before all have come once. The
    average of the members' weights is no member, nor near one: central is the first member,
    at the cost of one. Strategies that average predictions over draws, such as
    `explore=pets`, ask for draws. Points have no density, so there is no KL.

    Source: Lakshminarayanan et al., 2017, Simple and Scalable Predictive Uncertainty
    Estimation using Deep Ensembles, section 2.4.

    Args: as in `Source`.
    """

    @property
    def copies(self):
        settings = self.settings
        return 1 if settings.ensemble_shares_batch else settings.ensemble_members

    def dense(self, units, activation, name):
        count = self.settings.ensemble_members
        return DenseReparameterization(
            units,
            activation,
            kernel_initializer=_Members(count, "glorot_uniform"),
            bias_initializer=_Members(count, "zeros"),
            kernel_regularizer=None,
            dtype=self.dtype,
            name=name,
        )

    def draw(self, model, count, seed):
        chosen = members_of_draws(count, self.settings.ensemble_members, seed)
        return {
            name: tf.gather(members, chosen) for name, members in _members(model).items()
        }

    def central(self, model):
        return {name: members[0] for name, members in _members(model).items()}

    def draw_for_training(self, model, sequences, seed):
        del sequences, seed
        return _members(model), self.settings.ensemble_members

    def costs(self, model):
        return {}


def members_of_draws(draws, members, seed):
    """Which member each draw is: random orders of all, one after another.

    Args:
        draws: S.
        members: M.
        seed: [2].

    Returns:
        [S], int32, from 0.

    Example:
        >>> found = members_of_draws(6, 3, tf.constant([0, 1])).numpy().tolist()
        >>> sorted(found[:3]), sorted(found[3:])
        ([0, 1, 2], [0, 1, 2])
    """
    rounds = -(-draws // members)
    orders = tf.argsort(uniform([rounds, members], seed))
    return tf.reshape(orders, [-1])[:draws]


def _members(model):
    """Dict of full name -> [M, *shape of the weight]."""
    named = named_weights(model).items()
    return {
        name: tf.convert_to_tensor(weight.initializer.members)
        for name, (_, weight) in named
    }


class _Members(TrainableInitializer):
    """One of M trainable points, the whole weight at once."""

    parameter_names = ("members",)

    def __init__(
        self,
        count,
        members_initializer,
        members_regularizer=None,
        members_constraint=None,
        seed=None,
        **kwargs,
    ):
        super().__init__(seed, **kwargs)
        self.count = count
        self._declare(locals())

    def _parameter_shape(self, name):
        return (self.count, *self.weight_shape)

    def _initial_value(self, name, shape, dtype=None, **kwargs):
        del kwargs
        each = [fresh(self.members_initializer) for _ in range(self.count)]
        return tf.stack([initializer(shape[1:], dtype=dtype) for initializer in each])

    def _distribution(self):
        (members,) = self.parameters()
        points = tfd.Independent(tfd.Deterministic(members), len(self.weight_shape))
        return tfd.MixtureSameFamily(tfd.Categorical(tf.zeros([self.count])), points)

    def get_config(self):
        return {**super().get_config(), "count": self.count}
