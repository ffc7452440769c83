"""Tests of agents.training.distributed.variables."""

import numpy as np
import tensorflow as tf

from agents.training.distributed.variables import Weights

WORDS = ("value=td", "explore=information_gain_annealed")  # which counts rewards


def variables(agent):
    acting = agent.collect_policy.variables()
    return [*acting, *agent.clock.variables, agent.train_step_counter]


def test_an_actor_acts_by_the_weights_that_the_learner_sent(serve, build_agent):
    address = serve()
    learner, actor = (build_agent(*WORDS, seed) for seed in ("seed=0", "seed=3"))
    for number, variable in enumerate(variables(learner)):
        value = np.random.default_rng(number).normal(30.0, 2.0, variable.shape)
        variable.assign(tf.cast(value, variable.dtype))
    sent = [variable.numpy() for variable in variables(learner)]
    weights = Weights(learner, address)
    weights.push()
    for variable in variables(learner):
        variable.assign(tf.zeros_like(variable))  # later than what was sent
    Weights(actor, address).pull()
    for received, right in zip(variables(actor), sent, strict=True):
        np.testing.assert_array_equal(received, right)
    weights.push()
    Weights(actor, address).pull()
    assert not any(np.any(variable.numpy()) for variable in variables(actor))
