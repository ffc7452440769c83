"""What a replica's sequences are trained under."""

from agents.system import replicas
from bayes_rl.weights import named_signs


def own_draws(model, size, seed, replica):
    """A replica's share of what a batch of sequences is trained under.

    Args:
        model: `agents.planet.model.world_model.WorldModel`.
        size: sequences of the replica.
        seed: [2], the same on all replicas.
        replica: its number.

    Returns:
        Weights to hold, and how many draws they are, see `Source.draw_for_training`.

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
