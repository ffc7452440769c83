"""A policy for two fake environments, and its clock."""

import pytest
from tf_agents.specs import tensor_spec

from agents.planet.agent.clock import Clock
from agents.planet.agent.policy import PlanningPolicy, Policies
from agents.planet.explore import Greedy


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def make_policy(model, environment, clock):
    """Makes a policy for two fake environments."""
    # Tensors of theirs may only be made once TensorFlow's threads were chosen.
    from tests.agents.planet.agent.policy.steps import PLANNER

    def make(strategy=None, planner=PLANNER, noise=None, model=model, value=None, **words):
        parts = Policies(
            tensor_spec.from_spec(environment.time_step_spec()),
            tensor_spec.from_spec(environment.action_spec()),
            model,
            planner,
            strategy or Greedy(),
            Greedy(),
            noise,
            value,
            clock,
            seed=0,
            **words,
        )
        return PlanningPolicy(parts, seed=[0, 1], name="policy")

    return make
