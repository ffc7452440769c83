"""What tests of a policy share: planners, a strategy, time steps of two environments."""

import dataclasses

import numpy as np
import tensorflow as tf
from tf_agents.trajectories import time_step as ts

from agents.planet.action_space import BOX
from agents.planet.explore import Strategy
from agents.planet.explore.noise import GaussianNoise
from agents.planet.planning.planner import Plan
from tests.agents.presets import preset

ENVIRONMENTS = 2
NOISE = GaussianNoise(0.3, None, 0, False, 0.0)
PLANNER = preset("planner", "cem", horizon=3, candidates=6, elites=2, iterations=2)
ICEM = preset("planner", "icem", horizon=3, candidates=6, elites=4, iterations=2)


@dataclasses.dataclass(frozen=True)
class Spy(Strategy):
    """Scores by the return, averaged over draws, and keeps the rollouts it was given."""

    draws: int = 2
    redraw: str = "episode"
    trajectories: str = "each"
    filter_with_draw: bool = False
    groups: int = 1
    rollouts: list = dataclasses.field(default_factory=list)

    def __call__(self, rollout, elapsed):
        self.rollouts.append((rollout, elapsed))
        return tf.reduce_mean(tf.reduce_sum(rollout.reward, -1), 0)


@dataclasses.dataclass(frozen=True)
class Idle:
    """Plans to do nothing, which takes no time."""

    common_noise = False

    def initial_state(self, batch_size, action_size):
        return ()

    def plan(self, score, state, shape, seed, proposals=None, space=BOX):
        return Plan(*[tf.zeros([*shape[:1], 3, 1])] * 2), state


def observe(vectors, step_type=ts.StepType.MID):
    """A time step of two environments that see `vectors` [2, 2]."""
    types = np.broadcast_to(step_type, [ENVIRONMENTS])
    vectors = tf.constant(vectors, tf.float32)
    return ts.TimeStep(
        step_type=tf.constant(types, tf.int32),
        reward=tf.zeros([ENVIRONMENTS]),
        discount=tf.ones([ENVIRONMENTS]),
        observation={
            "observation": vectors,
            "position": vectors[:, :1],
            "velocity": vectors[:, 1:],
        },
    )


FIRST = observe([[0.3, 0.0], [-0.8, 0.0]], ts.StepType.FIRST)
MID = observe([[0.4, 0.1], [-0.7, 0.1]])


def run(policy, *time_steps):
    """The policy steps, one after another."""
    state = policy.get_initial_state(len(time_steps[0].reward))
    steps = []
    for time_step in time_steps:
        steps.append(policy.action(time_step, state))
        state = steps[-1].state
    return steps


def only(row, time_step):
    """What one environment sees."""
    return tf.nest.map_structure(lambda x: x[row : row + 1], time_step)
