"""Source: what the model asks of a source of uncertainty; the one that has none."""

import abc

from agents.planet.model import networks
from agents.system import replicas
from bayes_rl.weights import kl_divergences, mean_weights, named_signs, sample_weights


class Source(abc.ABC):
    """Makes the transition's layers and says which functions they may be.

    What differs between draws are the stochastic weights of the layers, so that a draw can
    be held. Here stands what a posterior over each of them says; a source whose weights
    know of each other, or cost something else, says it in its own words.

    Attributes:
        batches: of the replay that `renew` wants before the first gradient steps, and after
            those of an episode, or of several short ones; 0: none.
        shares_belief: whether all draws predict the same belief, and differ in what the
            last layer says of it.
        copies: of each sequence of a batch, one after another, that the model learns from.

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
        """The last layer of the head of the reward, deterministic unless a source says."""
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
        """The one function that filters, evaluates, and carries shared trajectories.

        Returns:
            Dict of full name -> [*shape of the weight].
        """
        return mean_weights(model)

    def draw_for_training(self, model, sequences, seed):
        """What a batch of sequences is trained under.

        Args:
            model: that holds the layers.
            sequences: B, of the batch of all devices.
            seed: [2].

        Returns:
            Weights, and the number P of draws. They are [P, *shape], and sequence b keeps
            to draw b mod P; without an axis of draws where P is 0: then all share one draw.
        """
        return sample_weights(model, seed=seed, batch_size=sequences), 0

    def costs(self, model):
        """KL(weight posterior || weight prior) in nats, dict of full name -> []."""
        return kl_divergences(model)

    def divergences(self, model):
        """As `costs`, also of weights whose KL is no cost of learning."""
        return self.costs(model)

    def curved(self, model):
        """Posteriors that IVON moves, not Adam; a batch is trained under one draw.

        Args:
            model: that holds the layers.

        Returns:
            Dict of full name -> what has a trained `mean` and a `stddev` [*shape].
        """
        return {}

    def renew(self, model, batches, rows, seed):  # noqa: B027 most know nothing of it
        """Makes anew what is known from the replay itself, not by gradients.

        Args:
            model: that holds the layers.
            batches: iterable of as many dicts as its attribute says, see
                `agents.episodes.replay.Replay.sample`.
            rows: of the replay, for which the batches stand.
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
