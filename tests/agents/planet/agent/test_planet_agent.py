"""Tests of agents.planet.agent.planet_agent."""

import types

import numpy as np
import pytest
import tensorflow as tf
from tf_agents.specs import tensor_spec

import envs
from agents.planet.agent.planet_agent import draw, training_data_spec
from agents.runs.config import overrides
from agents.system import replicas
from agents.system.seeds import fold, normal, split
from agents.training.building import choose_devices, make_agent
from bayes_rl.weights import hold, kl_divergences, sample_weights


@pytest.fixture(scope="module")
def agent(build_agent):
    """An agent that is not trained, with 100 steps in its replay."""
    agent = build_agent("kl_weight=0.5")
    agent.clock.advance(episodes=5, agent_steps=100, environment_steps=200)
    return agent


@pytest.fixture(scope="module")
def batch(make_batch):
    return make_batch(4, 3)


def train(agent, batch, steps):
    """Takes gradient steps on one batch; returns what each told of itself."""
    # tracing takes seconds
    step = tf.function(agent.train, autograph=False) if steps > 8 else agent.train
    return [step(batch) for _ in range(steps)]


def values(agent):
    return [variable.numpy() for variable in agent.model.trainable_variables]


def test_loss_is_that_of_the_world_model_under_one_held_draw(agent, batch):
    found = agent.loss(batch)
    seeds = split(fold(tf.constant([0, 0]), 0), 3)
    weights = sample_weights(agent.model, seed=seeds[1])
    with hold(agent.model, weights):
        noise = normal([4, 3, 3], seeds[0])
        losses, metrics, _ = agent.model.losses(batch, noise, seeds[2])
    means = {name: np.mean(value) for name, value in (losses | metrics).items()}
    weight_kl = sum(map(float, kl_divergences(agent.model).values()))
    expected = sum(means[name] for name in losses) + 0.5 * weight_kl / 100
    np.testing.assert_allclose(found.loss, expected, rtol=1e-5)
    np.testing.assert_allclose(found.extra["weight_kl"], weight_kl, rtol=1e-5)
    for name, mean in means.items():
        np.testing.assert_allclose(found.extra[name], mean, rtol=1e-4, atol=1e-6)


def test_metrics_stop_at_the_first_step_that_is_not_finite(build_agent, batch):
    agent = build_agent("value=td")
    assert agent.steps_to_divergence() == (0, [])
    train(agent, batch, 1)
    assert agent.steps_to_divergence() == (1, [])
    train(agent, batch | {"reward": batch["reward"] + np.inf}, 1)
    expected = (2, ["loss", "reward_loss", "value_loss", "gradient_norm"])
    assert agent.steps_to_divergence() == expected
    train(agent, batch, 1)  # by weights that are not finite: now nothing is
    assert agent.steps_to_divergence() == expected
    assert np.isfinite(agent.pop_metrics()["observation_loss"])
    assert agent.steps_to_divergence() == (0, [])


def test_the_draw_depends_on_seed_and_train_step(build_agent, batch):
    agent, other = build_agent("seed=0"), build_agent("seed=1")
    for mine, theirs in zip(agent.model.variables, other.model.variables, strict=True):
        theirs.assign(mine)
    first, again, other_seed = (float(a.loss(batch).loss) for a in (agent, agent, other))
    agent.train_step_counter.assign(1)
    assert first == again
    assert len({first, other_seed, float(agent.loss(batch).loss)}) == 3


def test_weight_kl_is_divided_by_the_steps_of_the_replay(agent, batch):
    def cost(agent_steps):
        agent.clock.agent_steps.assign(agent_steps)
        found = agent.loss(batch)
        agent.clock.agent_steps.assign(100)
        others = sum(float(found.extra[name]) for name in agent.model.loss_names)
        return (float(found.loss) - others) / float(found.extra["weight_kl"])

    assert cost(50) == pytest.approx(0.5 / 50, rel=1e-3)
    assert cost(200) == pytest.approx(0.5 / 200, rel=1e-3)
    assert cost(0) == pytest.approx(0.5, rel=1e-3)


def test_kl_weight_warms_up(build_agent, batch):
    agent = build_agent("kl_weight=2.0", "kl_weight_warmup=10")
    for step, share in ((0, 0.0), (5, 0.5), (10, 1.0), (30, 1.0)):
        agent.train_step_counter.assign(step)
        found = agent.loss(batch)
        others = sum(float(found.extra[name]) for name in agent.model.loss_names)
        cost = (float(found.loss) - others) / float(found.extra["weight_kl"])
        assert cost == pytest.approx(2.0 * share, abs=1e-3)


@pytest.mark.parametrize(
    "transition", ["flipout", pytest.param("deterministic", marks=pytest.mark.slow)]
)
def test_training_lowers_the_loss(build_agent, batch, transition):
    agent = build_agent(f"transition={transition}", "optimizer.learning_rate=0.01")
    agent.clock.advance(episodes=1, agent_steps=10_000, environment_steps=10_000)
    losses = [float(info.loss) for info in train(agent, batch, 30)]
    assert np.mean(losses[-5:]) < 0.85 * losses[0]
    assert int(agent.train_step_counter) == 30


def test_gradients_reach_every_variable(build_agent, batch):
    agent = build_agent("world_model.free_nats=0")
    before = values(agent)
    train(agent, batch, 3)
    names = [variable.name for variable in agent.model.trainable_variables]
    assert sum("stddev" in name for name in names) == 3
    for name, old, new in zip(names, before, values(agent), strict=True):
        assert np.any(old != new), f"{name} was not trained"


@pytest.mark.parametrize(
    "updates", [2, *(pytest.param(each, marks=pytest.mark.slow) for each in (1, 3))]
)
def test_each_update_of_the_value_in_a_step_learns_from_other_rows(
    build_agent, make_batch, updates
):
    """The reward that comes after row 1 is in the second of two updates, not in the first.

    A third one learns from the rows of the first again.
    """
    batch, learned = make_batch(4, 6), []
    changed = tf.tensor_scatter_nd_add(batch["reward"], [[0, 2]], [5.0])
    for reward in (batch["reward"], changed):
        agent = build_agent("value.stride=2", f"value.updates={updates}")
        train(agent, batch | {"reward": reward}, 1)
        assert int(agent._value_optimizer._adam.iterations) == updates
        learned.append(agent.value._critics.variables[-1].numpy())
    assert np.any(learned[0] != learned[1]) == (updates > 1)


def test_what_updates_of_the_value_tell_is_their_mean(build_agent, batch):
    """Where critics hardly move, several updates on the same rows tell what one does."""
    told = []
    for updates in (1, 3):
        words = "value.stride=1", "value.learning_rate=1e-9", f"value.updates={updates}"
        agent = build_agent(*words)
        [info] = train(agent, batch, 1)
        told.append([float(info.extra[name]) for name in agent.value.metric_names])
    np.testing.assert_allclose(*told, rtol=1e-3, atol=1e-5)
    assert abs(told[0][0]) > 1e-3


@pytest.mark.slow
def test_the_value_changes_nothing_of_what_the_model_learns(build_agent, batch):
    valued, plain = build_agent("value=td"), build_agent("value=none")
    assert (valued.value is None, plain.value is None) == (False, True)
    for agent in (valued, plain):
        train(agent, batch, 2)
    for one, other in zip(values(valued), values(plain), strict=True):
        np.testing.assert_array_equal(one, other)


def test_means_are_acted_by_where_the_agent_does_not_explore(build_agent):
    agent = build_agent("latents=means")
    step = tensor_spec.sample_spec_nest(agent.time_step_spec, outer_dims=[2], seed=0)
    for policy, by_means in ((agent.policy, True), (agent.collect_policy, False)):
        latent = policy.action(step, policy.get_initial_state(2)).state["latent"]
        assert np.all(latent["sample"] == latent["mean"]) == by_means


def test_a_step_moves_critics_policy_slow_critics_and_scale(build_agent, batch):
    agent = build_agent("value.target_rate=0.5")
    before = [variable.numpy() for variable in agent.value.variables]
    train(agent, batch, 3)
    for old, now in zip(before, agent.value.variables, strict=True):
        assert np.any(old != now), f"{now.name} was not trained"


def test_the_same_seed_trains_the_same(build_agent, batch):
    first, again = (build_agent("seed=3") for _ in range(2))
    for agent in (first, again):
        train(agent, batch, 2)
    for one, other in zip(values(first), values(again), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow  # in test_compiling.py the gradients are
def test_a_whole_gradient_step_compiles_as_a_tpu_needs_it(build_agent, make_batch):
    """Of static shapes, without Python inside; what no processor's run would need."""
    agent, batch = build_agent("transition=flipout", "value=td"), make_batch(2, 3)
    step = tf.function(agent.train, autograph=False, jit_compile=True)
    losses = [float(step(batch).loss) for _ in range(2)]
    assert np.isfinite(losses).all()
    assert losses[0] != losses[1]
    assert int(agent.train_step_counter.numpy()) == 2


def test_a_deterministic_transition_has_no_weight_kl(build_agent, batch):
    agent = build_agent("transition=deterministic")
    assert "weight_kl" not in agent.metric_names
    assert "weight_kl" not in agent.loss(batch).extra


def test_metrics_are_means_over_the_steps_since_the_last_call(build_agent, batch):
    agent = build_agent("world_model.global_kl_scale=0.1")
    infos = train(agent, batch, 3)
    metrics = agent.pop_metrics()
    assert set(metrics) == set(agent.metric_names)
    for name, value in metrics.items():
        each = [float(info.extra[name]) for info in infos]
        assert value == pytest.approx(np.mean(each), rel=1e-4), name
    assert metrics["loss"] == pytest.approx(np.mean([float(i.loss) for i in infos]))
    assert set(agent.pop_metrics().values()) == {0.0}


def test_gradient_norm_is_that_before_clipping(build_agent, batch):
    clipped, free = (
        train(build_agent(f"optimizer.clip_norm={norm}"), batch, 1)[0].extra
        for norm in (1e-3, 1e6)
    )
    assert clipped["gradient_norm"] == free["gradient_norm"] > 1.0


def test_bfloat16_trains_float32_variables_to_finite_losses(build_agent, batch):
    agent = build_agent("compute_dtype=bfloat16", "value=td")
    infos = train(agent, batch, 2)
    assert all(np.isfinite(info.loss) for info in infos)
    trained = (*agent.model.trainable_variables, *agent.value.variables)
    assert {variable.dtype for variable in trained} == {tf.float32}


def test_the_discount_is_that_of_the_length_of_the_environment_s_episodes(make_config):
    config = make_config("task=gym:Pendulum-v1", "value=td", "value.discount=null")
    with envs.load_many(1, config.task, processes=False) as environment:
        assert environment.episode_length == 200
        agent = make_agent(config, environment, choose_devices("default"))
    assert agent.value.discount == pytest.approx(1 - 5 / 200)


def test_training_data_are_steps_of_the_replay(agent, batch):
    spec = training_data_spec(agent.model)
    assert set(spec) == set(batch)
    for name, each in spec.items():
        assert each.is_compatible_with(batch[name][0, 0]), name


def trained_on(choice, transition):
    """What two steps on the devices of a choice come to; tests have two CPUs."""
    words = ["experiment=debug", "logdir=unused", "optimizer.clip_norm=0.5"]
    words += [f"devices={choice}", f"transition={transition}"]
    config = overrides.load([*words, "world_model.overshooting_distance=0"])
    devices = choose_devices(config.devices)
    agent = make_agent(config, envs.load_many(1, "fake", processes=False), devices)
    agent.clock.advance(episodes=1, agent_steps=50, environment_steps=50)
    rng = np.random.default_rng(0)
    agent.model.see({"observation": rng.normal(2.0, 3.0, [9, 2]), "reward": np.zeros(9)})
    losses = [
        devices.reduce("SUM", devices.run(agent.train, args=(batch,)).loss, axis=None)
        for batch in (shared(whole_batch(rng), devices) for _ in range(2))
    ]
    copies = [
        devices.experimental_local_results(variable)
        for variable in (*agent.model.variables, *agent.value.variables)
    ]
    return types.SimpleNamespace(
        replicas=devices.num_replicas_in_sync,
        losses=losses,
        metrics=agent.pop_metrics(),
        train_steps=int(agent.train_step_counter.numpy()),
        variables=[copy[0].numpy() for copy in copies],
        same=all(np.array_equal(copy[0], copy[-1]) for copy in copies),
    )


def whole_batch(rng):
    return {
        "observation": rng.normal(size=[4, 3, 2]).astype(np.float32),
        "action": rng.uniform(-1, 1, [4, 3, 1]).astype(np.float32),
        "reward": rng.normal(size=[4, 3]).astype(np.float32),
        "is_first": rng.random([4, 3]) < 0.2,
        "is_terminal": rng.random([4, 3]) < 0.2,
    }


def shared(batch, devices):
    """A batch of which each device has its part."""
    size = 4 // devices.num_replicas_in_sync

    def part(context):
        start = context.replica_id_in_sync_group * size
        return {name: tf.constant(x[start : start + size]) for name, x in batch.items()}

    return devices.experimental_distribute_values_from_function(part)


@pytest.mark.slow
@pytest.mark.parametrize(
    "transition", ["reparameterization", "flipout", "ensemble", "dropout", "ivon"]
)
def test_two_devices_compute_what_one_does(transition):
    one, two = (trained_on(choice, transition) for choice in ("default", "mirrored"))
    assert (one.replicas, two.replicas) == (1, 2)
    assert two.same, "the devices' variables differ"
    assert one.train_steps == two.train_steps == 2
    assert one.metrics["gradient_norm"] > 0.5, "nothing was clipped"
    np.testing.assert_allclose(two.losses, one.losses, rtol=1e-5)
    for name, value in one.metrics.items():
        assert two.metrics[name] == pytest.approx(value, rel=1e-5, abs=1e-6), name
    for mine, theirs in zip(one.variables, two.variables, strict=True):
        np.testing.assert_allclose(theirs, mine, rtol=1e-5, atol=1e-6)


def test_ivon_learns_at_the_draw_of_the_loss_for_the_steps_of_the_replay(
    build_agent, batch
):
    words = ["kl_weight=0.5", "prior_scale=2", "optimizer.ivon_learning_rate=0.02"]
    agent = build_agent("transition=ivon", *words, "optimizer.ivon_curvature=3")
    agent.clock.advance(episodes=1, agent_steps=500, environment_steps=500)
    drawn = agent._drawn(batch)
    weights = sample_weights(agent.model, seed=drawn.weight_seed)
    *_, gradients = agent._loss_and_gradients(batch, drawn)
    gradients = {
        v.ref(): g for v, g in zip(agent.model.trainable_variables, gradients, strict=True)
    }
    curved = agent.model.source.curved(agent.model)
    before = {name: (x.mean.numpy(), x.stddev.numpy()) for name, x in curved.items()}
    agent.train(batch)
    size, decay = 1000.0, 1.0 / (1000.0 * 4)
    for name, posterior in curved.items():
        mean, stddev = before[name]
        gradient = gradients[posterior.mean.ref()].numpy()
        estimate = gradient * (weights[name].numpy() - mean) / stddev**2
        curvature = np.maximum(0.999 * 3 + 0.001 * estimate, 0.0)
        moved = mean - 0.02 * (gradient + decay * mean) / (curvature + decay + 3)
        np.testing.assert_allclose(posterior.mean, moved, rtol=1e-4, atol=1e-6)
        spread = (size * (curvature + decay)) ** -0.5
        np.testing.assert_allclose(posterior.stddev, spread, rtol=1e-4)


def test_counts_are_those_of_the_clock_and_of_gradient_steps(build_agent):
    agent = build_agent()
    agent.clock.advance(2, agent_steps=10, environment_steps=40)
    agent.train_step_counter.assign(7)
    steps = {"environment_steps": 40, "agent_steps": 10, "train_steps": 7}
    assert agent.counts == {"episodes": 2} | steps


SEED = tf.constant([0, 5])


@pytest.mark.parametrize(("explores", "count"), [(False, 2), (True, 4)])
def test_each_use_has_its_own_standard_normal_numbers(explores, count, model):
    drawn = draw(SEED, model, (40, 30), explores)
    assert drawn.latents.shape == (40, 30, model.rssm.latent_size)
    assert drawn.actions.shape == (count, 40, 30, model.action_size)
    rows = np.reshape([*drawn.actions.numpy()], [count, -1])
    rows = np.concatenate([rows, drawn.latents.numpy().reshape([1200, -1]).T])
    # The standard error of a mean is that, of a variance sqrt(2) times as much.
    error = 1 / np.sqrt(rows.shape[1])
    np.testing.assert_allclose(rows.mean(1), 0, atol=5 * error)
    np.testing.assert_allclose(np.cov(rows), np.eye(len(rows)), atol=5 * 2**0.5 * error)


def test_replicas_share_the_numbers_of_one_device_and_the_seeds(model, monkeypatch):
    whole = draw(SEED, model, (4, 3), explores=True)
    monkeypatch.setattr(replicas, "count", lambda: 2)
    parts = []
    for number in range(2):
        monkeypatch.setattr(replicas, "number", lambda number=number: number)
        parts.append(draw(SEED, model, (2, 3), explores=True))
    np.testing.assert_array_equal(tf.concat([p.latents for p in parts], 0), whole.latents)
    np.testing.assert_array_equal(tf.concat([p.actions for p in parts], 1), whole.actions)
    for part in parts:
        np.testing.assert_array_equal(part.weight_seed, whole.weight_seed)
        np.testing.assert_array_equal(part.image_seed, whole.image_seed)
    assert [part.replica for part in parts] == [0, 1]
