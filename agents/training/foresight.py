"""Whether critics foresee what episodes return.

Critics are of the policy, and the planner acts at least as well: what comes may be more.
"""

import numpy as np
import tensorflow as tf

from agents.episodes.layout import first_rows
from agents.study.insight.open_loop import filter_latents, stack
from agents.system.seeds import fold


def value_report(model, value, episodes, seed):
    """What critics expect of the means of first states of episodes, beside what came.

        G = sum over k of discount^k r[k + 1]

    Args:
        model: `agents.planet.model.world_model.WorldModel`.
        value: `agents.planet.value.actor_critic.ActorCritic`.
        episodes: of the agent without exploration, see `agents.episodes.layout`.
        seed: [2], of the noise that dequantizes images.

    Returns:
        Dict, in rewards: `expected`, the mean value of the first states; `returned`, the
        mean of G; `error`, the mean of |value - G|.
    """
    first = [first_rows(episode, 1) for episode in episodes]
    embedding = model.encode(model.preprocess(stack(first, "observation"), fold(seed, 0)))
    noise = tf.zeros([len(episodes), 1, model.rssm.latent_size])
    known = (stack(first, "action"), stack(first, "is_first"), noise)
    latent = filter_latents(model, embedding, *known, model.central_weights())
    expected = value.value(latent.features)[:, 0].numpy()
    returned = np.array([discounted_return(e["reward"], value.discount) for e in episodes])
    return {
        "expected": float(expected.mean()),
        "returned": float(returned.mean()),
        "error": float(np.abs(expected - returned).mean()),
    }


def discounted_return(rewards, discount):
    """The sum of rewards, each worth less by the steps before it.

    Args:
        rewards: [T + 1], of which the first belongs to no action.
        discount: of one step.

    Example:
        >>> discounted_return([0.0, 1.0, 1.0], discount=0.5)
        1.5
    """
    rewards = np.asarray(rewards, np.float64)[1:]
    return float(np.sum(discount ** np.arange(len(rewards)) * rewards))
