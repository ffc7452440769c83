"""Source: what the model asks of a source of uncertainty; the one that has none."""

import abc

from agents.planet.model import networks
from agents.system import replicas
from bayes_rl.weights import kl_divergences, mean_weights, named_signs, sample_weights


class Source(abc.ABC):
    """Makes the transition's layers and draws their weights.

    Draws differ in the stochastic weights of the layers, so a draw can be held. These
    methods use the posterior of each layer by itself. A source whose weights depend on each
    other, or whose cost is another, overrides them.

    Attributes:
        batches: number of batches of the replay that `renew` needs. It is called before the
            first gradient steps, and after those of an episode or of several short ones;
            0: never.
        shares_belief: whether all draws predict the same belief, and differ in what the
            last layer says of it.
        copies: number of copies of each sequence of a batch that the model learns from.

    Args:
        settings: see `agents.planet.model.transitions.make_source`.
        dtype: Keras dtype policy of the layers.
    """

    batches = 0
    shares_belief = False
    copies = 1

    def __init__(self, settings, dtype="float32"):
        self.settings = settings
        self.dtype = dtype

    @abc.abstractmethod
    def dense(self, units, activation, name):
        """A dense layer of the transition; the last one is named `LAST_LAYER`."""

    def reward_dense(self, units):
        """The last layer of the reward head; deterministic unless a source overrides it."""
        return networks.Dense(units, dtype=self.dtype)

    def draw(self, model, count, seed):
        """Draws of all weights, to be held.

        Args:
            model: that holds the layers.
            count: S.
            seed: [2].

        Returns:
            Dict of full name -> [S, *shape of the weight].
        """
        return sample_weights(model, [count], seed)

    def central(self, model):
        """The weights that filter, evaluate, and make trajectories that draws share.

        Returns:
            Dict of full name -> [*shape of the weight].
        """
        return mean_weights(model)

    def draw_for_training(self, model, sequences, seed):
        """The weights with which a batch of sequences is trained.

        Args:
            model: that holds the layers.
            sequences: B, of the batch of all devices.
            seed: [2].

        Returns:
            Weights, and the number P of draws. Weights are [P, *shape], and sequence b uses
            draw b mod P. With P = 0, they have no axis of draws, and all share one draw.
        """
        return sample_weights(model, seed=seed, batch_size=sequences), 0

    def costs(self, model):
        """KL(weight posterior || weight prior) in nats, dict of full name -> []."""
        return kl_divergences(model)

    def divergences(self, model):
        """As `costs`, but also of weights whose KL is not part of the loss."""
        return self.costs(model)

    def curved(self, model):
        """Posteriors that IVON updates, not Adam; a batch is trained with one draw.

        Args:
            model: that holds the layers.

        Returns:
            Dict of full name -> what has a trained `mean` and a `stddev` [*shape].
        """
        return {}

    def renew(self, model, batches, rows, seed):  # noqa: B027 most know nothing of it
        """Computes again what comes from the replay directly, not from gradients.

        Args:
            model: that holds the layers.
            batches: iterable of as many dicts as its attribute says, see
                `agents.episodes.replay.Replay.sample`.
            rows: number of rows of the replay, which the batches represent.
            seed: [2].
        """


class Deterministic(Source):
    """The transition of PlaNet. Nothing is drawn, and strategies that need draws refuse it.

    Source: Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels.

    Args: as in `Source`.
    """

    def dense(self, units, activation, name):
        return networks.Dense(units, activation, dtype=self.dtype, name=name)


def own_draws(model, size, seed, replica):
    """A replica's share of what a batch of sequences is trained under.

    Weights to hold, and how many draws they are, see `Source.draw_for_training`. The seed
    is the same on all replicas, each of which has `size` sequences.

    Raises:
        ValueError: the sequences cannot be shared equally among the draws.
    """
    weights, draws = model.source.draw_for_training(model, size * replicas.count(), seed)
    if draws > size:  # each replica has sequences of its own, so also draws
        weights = {name: replicas.own_rows(w, size, replica) for name, w in weights.items()}
        draws = size
    for name in named_signs(model):
        weights[name] = replicas.own_rows(weights[name], size, replica)
    if draws and size % draws:
        raise ValueError(
            f"a batch must hold equally many sequences for each of {draws} draws, "
            f"got {size} on each device"
        )
    return weights, draws
