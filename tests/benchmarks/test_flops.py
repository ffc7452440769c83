"""The count of operations agrees with the model's own kernels and with TensorFlow's."""

import pytest
import tensorflow as tf

from agents.agent.building import make_agent, make_world_model
from agents.config.overrides import load
from benchmarks import flops
from benchmarks.cases import Case, Specs, random_batch

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


@pytest.mark.parametrize("transition", ["deterministic", "flipout"])
def test_a_forward_pass_is_what_tensorflow_counts(transition):
    """One row of one step: then a loop's body, counted once, is all there is of it."""
    config = _config(f"transition={transition}", "batch_size=1", "sequence_length=2")
    agent = make_agent(config, Specs(), tf.distribute.get_strategy())
    batch = {name: x[:, :1] for name, x in random_batch(config).items()}
    loss = tf.function(lambda: agent.loss(batch).loss).get_concrete_function()
    counted = sum(_product_flops(graph) for graph in _graphs(loss.graph))
    assert flops.train_step(config, 17, 6) == 3 * 2 * counted


def test_a_step_costs_three_forward_passes():
    config = _config("transition=deterministic")
    forward = sum(flops.parts(config, 17, 6).values())
    assert flops.train_step(config, 17, 6) == 3 * 2 * 3 * forward


def test_a_decision_filters_once_and_imagines_every_plan():
    config = _config("planner=cem", "planner.horizon=4")
    part = flops.parts(config, 17, 6)
    none = flops.decision(config, 0, 17, 6)
    assert none == part["encoder"] + part["transition"] + part["posterior"]
    step = part["transition"] + part["prior"] + part["reward"]
    assert flops.decision(config, 10, 17, 6) - none == 10 * 4 * step
    assert flops.decision(config, 10, 17, 6, environments=3) == 3 * (none + 40 * step)


def test_the_planner_of_the_paper_costs_132_gflop():
    case = Case("", "", "decide", ("experiment=paper_state",))
    assert case.flops / 1e9 == pytest.approx(131.64, abs=0.01)


def _graphs(graph):
    """A graph and those of its loops' bodies and of the functions it calls."""
    yield graph
    for function in graph._functions.values():
        yield from [function.graph] if hasattr(function, "graph") else []


def _product_flops(graph):
    return sum(
        2 * rows * inputs * units
        for operation in graph.get_operations()
        if operation.type == "MatMul"
        for rows, inputs in [operation.inputs[0].shape]
        for units in [operation.outputs[0].shape[-1]]
    )


def test_draws_cost_a_rollout_each_and_less_on_a_shared_trajectory():
    config = load([])
    part = flops.parts(config, 5, 1)
    latent = part["transition"] + part["prior"]
    steps = 7 * config.planner.horizon
    one, each, shared = (
        flops.decision(config, 7, 5, 1, trajectories=kind, draws=3)
        for kind in ("mean", "each", "shared")
    )
    assert each - one == 2 * steps * (latent + part["reward"])
    assert shared - one == 3 * steps * latent
