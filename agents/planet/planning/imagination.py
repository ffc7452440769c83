"""What the world model imagines for candidate plans, under one or many weight draws.

`TRAJECTORIES` names the ways in which S draws of the weights can carry a plan forward; a
strategy of `agents.planet.explore` asks for one of them. Each is a function of

    model: `agents.planet.model.world_model.WorldModel`,
    latent: `Latent` [B, ...], where the plans start,
    plans: [B, N, H, A],
    noise: [B, N, H, D], standard normal, shared by all draws, so that they differ by their
        weights alone,
    weights: with a leading axis of B * S, S draws for each environment in turn,
    draws: S,
    seed: [2] or [B, 2], of what else is drawn,
    value: of states as in `agents.planet.planning.rollouts.Layout`, or None,

and gives a `Rollout`. Axes: B environments, N candidates, H steps, S weight draws,
D latent_size.
"""

import tensorflow as tf

from agents.planet.model.rssm import Latent
from agents.planet.planning.rollouts import Layout, Rollout, repeat_candidates, time_first
from agents.system.seeds import fold, uniform
from bayes_rl.layers.products import sizes
from bayes_rl.weights import hold


def imagine_with_mean_weights(
    model, latent, plans, noise, weights=None, draws=0, seed=None, value=None
):
    """Each plan rolled out once, under the central weights: S = 1."""
    del weights, draws, seed
    layout = Layout(plans, 1, value)
    with hold(model, model.central_weights()):
        latents = _roll(model, layout.flat, latent, plans, noise)
    return layout.rollout(model, latents)


def imagine_with_draws(model, latent, plans, noise, weights, draws, seed=None, value=None):
    """Each plan rolled out under every draw; a draw is held for the whole rollout.

    Source: Chua et al., 2018, Deep Reinforcement Learning in a Handful of Trials using
    Probabilistic Dynamics Models (PETS), section 5.1, TS-infinity.
    """
    del seed
    layout = Layout(plans, draws, value)
    with hold(model, weights):
        latents = _roll(model, layout.each_draw, latent, plans, noise)
        return layout.rollout(model, latents)


def imagine_with_switching_draws(
    model, latent, plans, noise, weights, draws, seed, value=None
):
    """S particles of each plan change draws at every step: a new permutation of them.

    The S of the rollout are the particles: each has ended where it ended itself.

    Source: Chua et al., 2018, section 5.1, TS1; there each particle draws by itself.
    """
    layout = Layout(plans, draws, value)
    shape = [layout.environments, layout.draws]
    orders = [tf.argsort(uniform(shape, fold(seed, n))) for n in range(layout.horizon)]
    particles = [tf.broadcast_to(tf.range(layout.draws), shape)]  # under each draw
    for order in orders:
        particles.append(tf.gather(particles[-1], order, batch_dims=1))

    def rearrange(latent, order):
        return layout.across_draws(lambda x: tf.gather(x, order, batch_dims=1), latent)

    with hold(model, weights):
        latents = _roll_mixing(
            model,
            layout,
            latent,
            plans,
            noise,
            before=lambda now, step: rearrange(now, orders[step]),
            shown=lambda now, step: rearrange(now, tf.argsort(particles[step + 1])),
        )
        return layout.rollout(model, latents)  # a particle keeps its draw of the reward


def imagine_average_of_draws(
    model, latent, plans, noise, weights, draws, seed=None, value=None
):
    """The draws' predictions are averaged after every step: S = 1, without noise.

    Source: Chua et al., 2018, section 5.1, E.
    """
    del seed
    layout = Layout(plans, draws, value)

    def average(latent):
        mean = layout.across_draws(
            lambda x: tf.repeat(tf.reduce_mean(x, 1, keepdims=True), layout.draws, 1),
            latent,
        )
        return mean._replace(sample=mean.mean)

    with hold(model, weights):
        latents = _roll_mixing(model, layout, latent, plans, noise, after=average)
    return Rollout(*(values[:1] for values in layout.rollout(model, latents)))


def imagine_with_a_draw_for_each_group(
    model, latent, plans, noise, weights, draws, seed=None, value=None
):
    """The s-th of S equal parts of the plans is rolled out under draw s alone.

    So S = 1, at the cost of one draw. The parts meet the noise of the first. See
    `agents.planet.planning.planner`.
    """
    del seed
    layout = Layout(plans, 1, value)
    noise = tf.tile(noise[:, : layout.candidates // draws], [1, draws, 1, 1])
    with hold(model, weights):
        latents = _roll(
            model, lambda nest: layout.each_group(nest, draws), latent, plans, noise
        )
        return layout.rollout(model, latents)


def imagine_draws_on_shared_trajectory(
    model, latent, plans, noise, weights, draws, seed=None, value=None
):
    """Every draw predicts each next latent from the trajectory of the central weights.

    So the draws are compared at the same latent and action, and their disagreement holds no
    noise of the latents. `reward`, `reached` and `value` are those of the trajectory, with
    S = 1.

    Source: Sekar et al., 2020, Planning to Explore via Self-Supervised World Models,
    section 3.1.
    """
    del seed
    single = Layout(plans, 1, value)
    with hold(model, model.central_weights()):
        latents = _roll(model, single.flat, latent, plans, noise)
    steps = Layout(plans, draws)
    if model.source.shares_belief:
        after = _say_of_belief(model, steps, latents.belief, weights)
    else:
        start = single.flat(repeat_candidates(latent, single.candidates))
        after = _step_with_each_draw(model, steps, start, latents, plans, weights)
    reward = single.to_rollout(model.reward(latents.features))
    mean, stddev = map(steps.steps_to_rollout, (after.mean, after.stddev))
    return Rollout(reward, mean, stddev, *single.counted(model, latents))


def _step_with_each_draw(model, layout, start, latents, plans, weights) -> Latent:
    """What each draw expects after each state of a trajectory, [B * S, H * N, ...]."""
    before = tf.nest.map_structure(
        lambda first, later: tf.concat([first[tf.newaxis], later[:-1]], 0), start, latents
    )
    before = tf.nest.map_structure(layout.from_trajectory, before)
    actions = layout.from_trajectory(time_first(layout.flat(plans)))
    with hold(model, weights):
        return model.rssm.imagine_step(before, actions, noise=0.0)


def _say_of_belief(model, layout, belief, weights) -> Latent:
    """The same where all draws share the belief, [H, B * N, ...]: without its cost."""
    with hold(model, model.central_weights()):
        inputs = model.rssm.prior_inputs(belief)
    belief, inputs = map(layout.from_trajectory, (belief, inputs))
    with hold(model, weights):
        return model.rssm.prior_of(belief, inputs)


TRAJECTORIES = {
    "mean": imagine_with_mean_weights,
    "each": imagine_with_draws,
    "switching": imagine_with_switching_draws,
    "average": imagine_average_of_draws,
    "group": imagine_with_a_draw_for_each_group,
    "shared": imagine_draws_on_shared_trajectory,
}


def _roll(model, arrange, latent, plans, noise) -> Latent:
    """Latents [H, rows, ...] after each action, the rows as `arrange` lays them."""
    start = arrange(repeat_candidates(latent, plans.shape[1]))
    return model.rssm.imagine(start, time_first(arrange(plans)), time_first(arrange(noise)))


def _roll_mixing(
    model,
    layout,
    latent,
    plans,
    noise,
    before=lambda now, _: now,
    after=lambda now: now,
    shown=lambda now, _: now,
):
    """Like `_roll` with each draw; what the draws know is mixed before or after a step."""
    now = layout.each_draw(repeat_candidates(latent, layout.candidates))
    actions, noise = (time_first(layout.each_draw(x)) for x in (plans, noise))
    latents = []
    for step in range(layout.horizon):
        now = before(now, step)
        now = after(model.rssm.imagine_step(now, actions[step], noise[step]))
        latents.append(shown(now, step))
    return tf.nest.map_structure(lambda *steps: tf.stack(steps), *latents)


def expect_next(model, features, action, weights, draws):
    """What each draw expects after each step, from the same latent and action.

    Of features [..., B, L, F] and actions [..., B, L, A] it is the next latent, [S, ..., B,
    L, X], whose `sample` is its mean.
    """
    rssm, batch = model.rssm, sizes(action)[:-1]

    def for_each_draw(tensor):
        flat = tf.reshape(tensor, [1, -1, tensor.shape[-1]])
        return tf.repeat(flat, draws, axis=0)

    sample, belief = tf.split(features, [rssm.latent_size, rssm.belief_size], -1)
    latent = Latent(belief, sample, sample, sample)
    latent, action = tf.nest.map_structure(for_each_draw, (latent, action))
    with hold(model, weights):
        after = rssm.imagine_step(latent, action, noise=0.0)
    return tf.nest.map_structure(
        lambda x: tf.reshape(x, [draws, *batch, x.shape[-1]]), after
    )
