"""The policies of one agent: the one that exploits and the one that explores."""

import dataclasses
from typing import Any

from agents.planet.agent.clock import Clock
from agents.planet.agent.policy import PlanningPolicy
from agents.planet.explore import Greedy, Strategy
from agents.planet.explore.noise import GaussianNoise
from agents.planet.model.world_model import WorldModel
from agents.planet.planning import Planner
from agents.planet.value.actor_critic import ActorCritic
from agents.system.seeds import Purpose, seed_of_run


@dataclasses.dataclass(frozen=True)
class Policies:
    """Makes policies that share a model, a planner and a value.

    Args:
        time_step_spec: of the environment; observations are a dict, "observation" is seen.
        action_spec: float32 [A] in [-1, 1].
        model: what they plan in.
        planner: of both.
        strategy: that the one which explores scores plans by.
        noise: on its actions.
        value: of states beyond the horizon, or None.
        act: "plan" or "policy", see `agents.planet.agent.policy.PlanningPolicy`.
        latents: "means" or "samples", of the one that exploits; the other draws samples.
        clock: of the run.
        seed: of the run, int from 0.
        compile: whether XLA compiles decisions.
        sharers: processes that collect, see `PlanningPolicy`.
    """

    time_step_spec: Any
    action_spec: Any
    model: WorldModel
    planner: Planner
    strategy: Strategy
    noise: GaussianNoise
    value: ActorCritic | None
    act: str
    latents: str
    clock: Clock
    seed: int
    compile: bool = False
    sharers: int = 1

    def exploiting(self, act=None):
        """Acts under the mean weights and without noise.

        Args:
            act: None: as the others do.
        """
        own = {"strategy": Greedy(), "noise": None, "act": act or self.act, "sharers": 1}
        return self._make(Purpose.POLICY, own)

    def exploring(self):
        """Acts by the strategy and with noise."""
        return self._make(Purpose.COLLECT_POLICY, {"latents": "samples"})

    def _make(self, purpose, own):
        own |= {"seed": seed_of_run(self.seed, purpose), "name": purpose.name.lower()}
        return PlanningPolicy(**{**vars(self), **own})
