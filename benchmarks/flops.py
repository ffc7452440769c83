"""Floating point operations of a train step and of a decision, from the layers' sizes.

Matrix products alone are counted: the product of [N, inputs] and [inputs, units] takes
2 * N * inputs * units operations. Activations, random numbers, losses and the optimizer
count as nothing, so a share of the matrix peak is a lower bound of the work done.
"""


def products(*sizes):
    """Operations per row of dense layers in a chain.

    Args:
        *sizes: inputs of the first layer, then the units of each.

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

    Args:
        config: `agents.config.schema.Train`, from states.
        observation_size: of the state vector.
        action_size: of the action.

    Returns:
        Dict of ints: encoder, transition (the step to the next belief), prior, posterior,
        decoder, reward.
    """
    model = config.world_model
    features = model.belief_size + model.latent_size
    moments = 2 * model.latent_size
    return {
        "encoder": products(
            observation_size,
            *[model.hidden_size] * model.encoder_layers,
            model.embedding_size,
        ),
        "transition": products(model.latent_size + action_size, model.hidden_size)
        + gru(model.hidden_size, model.belief_size),
        "prior": products(model.belief_size, model.hidden_size, moments),
        "posterior": products(
            model.belief_size + model.embedding_size, model.hidden_size, moments
        ),
        "decoder": products(
            features, *[model.hidden_size] * model.decoder_layers, observation_size
        ),
        "reward": products(features, *[model.reward_units] * model.reward_layers, 1),
    }


def train_step(config, observation_size, action_size):
    """Operations of one gradient step: three times those of the forward pass.

    The backward pass counts as twice the forward: one product for the gradient of a
    layer's inputs, one for that of its kernel. Flipout takes a second product in each of
    the transition's dense layers.

    Args and errors: as in `parts`.

    Returns:
        Int.
    """
    rows = config.batch_size * config.sequence_length
    forward = parts(config, observation_size, action_size)
    total = sum(forward.values())
    if config.transition == "flipout":
        model = config.world_model
        total += forward["prior"]
        total += products(model.latent_size + action_size, model.hidden_size)
    return 3 * rows * total


def decision(
    config,
    evaluations,
    observation_size,
    action_size,
    environments=1,
    trajectories="mean",
    draws=1,
):
    """Operations of one decision: filter once, then imagine every plan.

    Every draw rolls each plan out; on a "shared" trajectory each predicts the latents
    alone, beside one rollout.

    Args:
        config: as in `parts`.
        evaluations: plans imagined.
        observation_size: as in `parts`.
        action_size: as in `parts`.
        environments: acted in side by side.
        trajectories: of `agents.planning.imagination.TRAJECTORIES`.
        draws: of the weights.

    Returns:
        Int.
    """
    part = parts(config, observation_size, action_size)
    filtering = part["encoder"] + part["transition"] + part["posterior"]
    latent = part["transition"] + part["prior"]
    step = latent + part["reward"]
    if trajectories == "shared":
        step += draws * latent
    elif trajectories not in ("mean", "group"):
        step *= draws
    return environments * (filtering + evaluations * config.planner.horizon * step)
