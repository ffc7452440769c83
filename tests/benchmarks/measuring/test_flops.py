"""The count of operations agrees with the model's own kernels and with TensorFlow's."""

import dataclasses

import pytest
import tensorflow as tf
from tf_agents.trajectories import time_step as ts

from agents.planet.explore import Greedy
from agents.planet.model.sizes import for_task
from agents.runs.config.overrides import load
from agents.training.building import make_agent, make_world_model
from benchmarks.measuring import flops
from benchmarks.speed.cases import Case, Specs, random_batch

TINY = (
    "world_model.belief_size=6",
    "world_model.latent_size=3",
    "world_model.hidden_size=7",
    "world_model.embedding_size=5",
    "world_model.encoder_layers=2",
    "world_model.decoder_layers=2",
    "world_model.reward_layers=3",
    "world_model.reward_units=9",
    "batch_size=2",
    "sequence_length=3",
)
VALUE = ("value=td", "value.units=8", "value.layers=2")


def _config(*words):
    return Case("", "", "train", (*TINY, *words)).config


def _kernels(model):
    """Elements of all matrices that rows are multiplied with."""
    return sum(
        int(tf.size(variable))
        for variable in model.trainable_variables
        if variable.shape.rank == 2 and "stddev" not in variable.name
    )


def test_a_row_meets_every_element_of_every_kernel_once():
    config = _config()
    specs = Specs()
    model = make_world_model(config, specs.time_step_spec(), specs.action_spec())
    assert sum(flops.parts(config, 17, 6).values()) == 2 * _kernels(model)


def test_a_size_that_the_config_leaves_open_counts_as_the_rule_sets_it():
    config = load(["world_model.belief_size=null", "world_model.reward_units=70"])
    model = for_task(config.world_model, 17, 6)
    assert flops.parts(config, 17, 6)["reward"] == 2 * (155 * 70 + 70)
    assert model.belief_size + model.latent_size == 155


@pytest.mark.parametrize(
    "transition", ["flipout", pytest.param("deterministic", marks=pytest.mark.slow)]
)
def test_a_forward_pass_is_what_tensorflow_counts(transition):
    """One row of one step: then a loop's body, counted once, is all there is of it."""
    words = ("value=none", "explore=noise", "batch_size=1", "sequence_length=2")
    config = _config(f"transition={transition}", *words)
    agent = make_agent(config, Specs(), tf.distribute.get_strategy())
    batch = {name: x[:, :1] for name, x in random_batch(config).items()}
    loss = tf.function(
        lambda: agent.loss(batch).loss, autograph=False
    ).get_concrete_function()
    counted = sum(_product_flops(graph) for graph in _graphs(loss.graph))
    assert flops.train_step(config, 17, 6) == 3 * 2 * counted


def test_a_step_costs_three_forward_passes():
    config = _config("transition=deterministic", "explore=noise", "value=none")
    forward = sum(flops.parts(config, 17, 6).values())
    assert flops.train_step(config, 17, 6) == 3 * 2 * 3 * forward


@pytest.mark.parametrize(
    ("stride", "learned"), [(2, 3), pytest.param(1, 5, marks=pytest.mark.slow)]
)
def test_a_step_of_the_value_is_what_tensorflow_counts(stride, learned):
    """Less the gradients of data, which the count has and nobody computes."""
    words = ("batch_size=2", "sequence_length=6")
    with_value = _config(*VALUE, f"value.stride={stride}", *words)
    model_alone = flops.train_step(_config("value=none", *words), 17, 6)
    counted = sum(map(_flops, _needed(_value_gradients(with_value))))
    of_data = 2 * 9 * 8 + 2 * 2 * (9 + 6) * 8  # first layers: of one policy, two critics
    added = flops.train_step(with_value, 17, 6) - model_alone
    assert added == counted + 2 * learned * of_data


def test_each_update_of_the_value_costs_the_same():
    costs = [flops.train_step(_config(*VALUE, f"value.updates={n}"), 17, 6) for n in (1, 3)]
    alone = flops.train_step(_config("value=none"), 17, 6)
    assert costs[1] - alone == 3 * (costs[0] - alone)


def test_a_decision_filters_once_and_imagines_every_plan():
    config = _config("value=none", "planner=cem", "planner.horizon=4")
    planner = dataclasses.replace(config.planner, candidates=10, elites=2, iterations=3)
    config = dataclasses.replace(config, planner=planner)
    part = flops.parts(config, 17, 6)
    filtering = part["encoder"] + part["transition"] + part["posterior"]
    step = part["transition"] + part["prior"] + part["reward"]
    whole = filtering + 30 * 4 * step
    assert flops.decision(config, Greedy(), 17, 6) == whole


def test_a_value_judges_every_plan_and_proposes_some_in_every_iteration():
    words = ("planner=cem", "planner.iterations=3", "planner.horizon=4")
    config = _config(*VALUE, "value.proposals=5", *words)
    without = flops.decision(_config("value=none", *words), Greedy(), 17, 6)
    part = flops.parts(config, 17, 6) | flops.value_parts(config, 17, 6)
    latent = part["transition"] + part["prior"]
    judged = 4 * (part["policy"] + part["critics"])
    proposed = 5 * 4 * (latent + part["policy"])
    scored = 15 * (4 * (latent + part["reward"]) + judged)
    judging = config.planner.evaluations * judged
    assert flops.decision(config, Greedy(), 17, 6) == without + proposed + scored + judging


@pytest.mark.slow
@pytest.mark.parametrize("act", ["plan", "policy"])
def test_a_decision_is_what_tensorflow_counts(act):
    """One step, one iteration: then loops' bodies, counted once, are all there is."""
    words = ("planner=cem", "planner.horizon=1", "planner.iterations=1")
    config = _config(*VALUE, *words, f"act={act}", "explore=noise", "compile=false")
    policy = make_agent(config, Specs(), tf.distribute.get_strategy()).policy
    step = ts.restart({"observation": tf.zeros([1, 17])}, batch_size=1)
    decide = tf.function(policy.action, autograph=False)
    graph = decide.get_concrete_function(step, policy.get_initial_state(1)).graph
    counted = sum(_product_flops(x) for x in _graphs(graph))
    assert flops.decision(config, Greedy(), 17, 6) == counted


def test_the_planner_of_the_paper_costs_132_gflop():
    case = Case("", "", "decide", ("experiment=paper_state",))
    assert case.flops / 1e9 == pytest.approx(131.64, abs=0.01)


def _value_gradients(config):
    """The gradients of the value's losses, as tensors of a graph."""
    value = make_agent(config, Specs(), tf.distribute.get_strategy()).value
    batch = random_batch(config)
    rows = batch["reward"].shape

    def gradients():
        with tf.GradientTape() as tape:
            losses, _ = value.losses(batch, tf.zeros([*rows, 9]), tf.zeros([2, *rows, 6]))
            total = sum(tf.reduce_sum(losses[name]) for name in value.loss_names)
        return tape.gradient(total, value.trainable_variables)

    return tf.function(gradients, autograph=False).get_concrete_function().graph.outputs


def _needed(tensors):
    """The operations that tensors depend on."""
    found, left = set(), [tensor.op for tensor in tensors]
    while left:
        operation = left.pop()
        if operation not in found:
            found.add(operation)
            left += [x.op for x in operation.inputs]
    return found


def _graphs(graph):
    """A graph and those of its loops' bodies and of the functions it calls."""
    yield graph
    for function in graph._functions.values():
        yield from [function.graph] if hasattr(function, "graph") else []


def _product_flops(graph):
    return sum(map(_flops, graph.get_operations()))


def _flops(operation):
    """Of a matrix product, or of a batch of them; 0 of all else."""
    if operation.type not in ("MatMul", "BatchMatMulV2"):
        return 0
    adjoint = operation.get_attr("adj_x" if "Batch" in operation.type else "transpose_a")
    inner = operation.inputs[0].shape[-2 if adjoint else -1]
    return 2 * inner * operation.outputs[0].shape.num_elements()


def test_draws_cost_a_rollout_each_and_less_on_a_shared_trajectory():
    config = load(["value=none", "transition=reparameterization"])
    part = flops.parts(config, 5, 1)
    latent = part["transition"] + part["prior"]
    steps = config.planner.evaluations * config.planner.horizon
    one, each, shared = (
        flops.decision(config, load([f"explore={name}"]).explore, 5, 1)
        for name in ("greedy", "optimistic", "disagreement")
    )
    assert each - one == 4 * steps * (latent + part["reward"])
    assert shared - one == 3 * steps * latent


def test_draws_that_share_the_belief_cost_the_last_layer_on_a_shared_trajectory():
    config = load(["value=none", "transition=laplace"])
    one, shared = (
        flops.decision(config, load([f"explore={name}"]).explore, 5, 1)
        for name in ("greedy", "disagreement")
    )
    steps = config.planner.evaluations * config.planner.horizon
    model = for_task(config.world_model, 5, 1)
    last = flops.products(model.hidden_size, 2 * model.latent_size)
    hidden = flops.products(model.belief_size, model.hidden_size)
    assert shared - one == steps * (hidden + 3 * last)
