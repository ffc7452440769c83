"""Floating point operations of a train step and of a decision, from the layers' sizes.

Matrix products alone are counted: the product of [N, inputs] and [inputs, units] takes
2 * N * inputs * units operations. Activations, random numbers, losses and the optimizer
count as nothing, so a share of the matrix peak is a lower bound of the work done.
"""

from agents.planet.model.sizes import for_task
from agents.planet.model.transitions import make_source
from agents.planet.planning.planner import PlannerOfGroups
from agents.planet.value import NoValue

_CRITICS = 2


def products(*sizes):
    """Operations per row of dense layers in a chain: inputs of the first, units of each.

    Example:
        >>> products(3, 4, 2)
        40
    """
    return 2 * sum(
        inputs * units for inputs, units in zip(sizes[:-1], sizes[1:], strict=True)
    )


def gru(inputs, units):
    """Operations per row of a GRU: three gates, each of the input and of the belief.

    Example:
        >>> gru(3, 4)
        168
    """
    return 3 * products(inputs + units, units)


def parts(config, observation_size, action_size):
    """Operations per row, which is one step of one sequence, of each part of the model.

    The config is one from states; the transition is the step to the next belief.
    """
    model = for_task(config.world_model, observation_size, action_size)
    belief, latent, hidden = model.belief_size, model.latent_size, model.hidden_size
    encoder, decoder = [hidden] * model.encoder_layers, [hidden] * model.decoder_layers
    reward = [model.reward_units] * model.reward_layers
    return {
        "encoder": products(observation_size, *encoder, model.embedding_size),
        "transition": products(latent + action_size, hidden) + gru(hidden, belief),
        "prior": products(belief, hidden, 2 * latent),
        "posterior": products(belief + model.embedding_size, hidden, 2 * latent),
        "decoder": products(belief + latent, *decoder, observation_size),
        "reward": products(belief + latent, *reward, 1),
    }


def value_parts(config, observation_size, action_size):
    """Operations per row, which is one state, of the policy and of both critics."""
    value = config.value
    if isinstance(value, NoValue):
        return {"policy": 0, "critics": 0}
    model = for_task(config.world_model, observation_size, action_size)
    features = model.belief_size + model.latent_size
    hidden = [value.units] * value.layers
    return {
        "policy": products(features, *hidden, 2 * action_size),
        "critics": _CRITICS * products(features + action_size, *hidden, 1),
    }


def train_step(config, observation_size, action_size):
    """Operations of one gradient step of the model and of the value."""
    sizes = observation_size, action_size
    return _model_step(config, *sizes) + _value_step(config, *sizes)


def _model_step(config, observation_size, action_size):
    """Three times the forward pass.

    The backward pass counts as twice the forward: one product for the gradient of a
    layer's inputs, one for that of its kernel. Flipout takes a second product in each of
    the transition's dense layers.
    """
    rows = config.batch_size * config.sequence_length
    forward = parts(config, observation_size, action_size)
    total = sum(forward.values())
    if config.transition == "flipout":
        model = for_task(config.world_model, observation_size, action_size)
        total += forward["prior"]
        total += products(model.latent_size + action_size, model.hidden_size)
    if config.transition == "ensemble" and not config.ensemble_shares_batch:
        total *= config.ensemble_members  # each learns from a copy of the batch
    return 3 * rows * total


def _value_step(config, observation_size, action_size):
    """Targets, both losses, and their gradients, in each update.

    A target costs the policy and the slow critics, forward. Each loss costs the network
    that learns three forward passes; that of the policy costs two of the critics besides,
    whose kernels get no gradient.
    """
    part = value_parts(config, observation_size, action_size)
    if not any(part.values()):
        return 0
    value = config.value
    learned = -(-(config.sequence_length - value.target_steps) // value.stride)
    policy, critics = (1 + 3) * part["policy"], (1 + 3 + 2) * part["critics"]
    return value.updates * config.batch_size * learned * (policy + critics)


def decision(config, strategy, observation_size, action_size):
    """Operations of one decision: filter once, propose plans, then imagine every plan.

    Every draw rolls each plan out; on a "shared" trajectory each predicts the latents
    alone, beside one rollout. Each state of a rollout costs a policy and two critics.
    With `act=policy` nothing is imagined.
    """
    sizes = observation_size, action_size
    part = parts(config, *sizes) | value_parts(config, *sizes)
    filtering = part["encoder"] + part["transition"] + part["posterior"]
    if config.act == "policy":
        return filtering + part["policy"]
    horizon = config.planner.horizon
    latent = part["transition"] + part["prior"]
    valued = part["policy"] + part["critics"]
    plan = horizon * (latent + part["reward"] + valued)
    if strategy.trajectories == "shared":
        plan += horizon * _predicted(config, strategy.draws, *sizes)
    elif strategy.trajectories not in ("mean", "group"):
        plan *= strategy.draws
    proposing = _proposals(config) * horizon * (part["policy"] + latent)
    return filtering + proposing + evaluations(config, strategy) * plan


def _predicted(config, draws, observation_size, action_size):
    """What draws predict of one state; where they share the belief, by the last layer."""
    if not make_source(config.transition, config).shares_belief:
        part = parts(config, observation_size, action_size)
        return draws * (part["transition"] + part["prior"])
    model = for_task(config.world_model, observation_size, action_size)
    last = products(model.hidden_size, 2 * model.latent_size)
    return products(model.belief_size, model.hidden_size) + draws * last


def evaluations(config, strategy):
    """Plans imagined for one decision: proposals return in every iteration and group."""
    planner, groups = config.planner, strategy.groups
    if groups > 1:
        planner = PlannerOfGroups(planner, groups)
    return planner.evaluations + groups * config.planner.iterations * _proposals(config)


def _proposals(config):
    return getattr(config.value, "proposals", 0)
