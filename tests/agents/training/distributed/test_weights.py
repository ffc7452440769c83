"""Tests of agents.training.distributed.weights."""

import numpy as np

from agents.training.distributed.weights import Weights, acting_variables


def test_what_one_agent_reads_another_acts_by(build_agent):
    mine, theirs = build_agent(), build_agent("seed=5")
    mine.train_step_counter.assign(7)
    mine.clock.environment_steps.assign(70)
    Weights(acting_variables(theirs)).write(Weights(acting_variables(mine)).read())
    assert theirs.counts["train_steps"] == 7
    assert theirs.counts["environment_steps"] == 70
    for one, other in zip(mine.model.variables, theirs.model.variables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_later_steps_do_not_change_what_was_read(build_agent):
    agent = build_agent()
    vectors = Weights(acting_variables(agent)).read()
    kept = {name: vector.copy() for name, vector in vectors.items()}
    for variable in agent.model.trainable_variables:
        variable.assign_add(tf_ones(variable))
    for name, vector in vectors.items():
        np.testing.assert_array_equal(vector, kept[name])


def tf_ones(variable):
    return np.ones(variable.shape, variable.dtype.as_numpy_dtype)
