"""Acting: filters the observations, plans in the latent space, holds one weight draw."""

import dataclasses
import functools
from typing import Any

import tensorflow as tf
from tf_agents.policies import tf_policy
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import policy_step
from tf_agents.trajectories import time_step as ts

from agents.planet.action_space import BOX, Box, Categories
from agents.planet.agent.clock import Clock
from agents.planet.agent.contract import check_draws, one_for_each_plan
from agents.planet.explore import Greedy, Strategy
from agents.planet.explore.noise import GaussianNoise
from agents.planet.model.rssm import Latent
from agents.planet.model.world_model import WorldModel
from agents.planet.planning import Planner
from agents.planet.planning.imagination import TRAJECTORIES
from agents.planet.planning.planner import PlannerOfGroups
from agents.planet.value.actor_critic import ActorCritic
from agents.system.seeds import Purpose, SeedsOfDecision, fold, normal, seed_of_run
from bayes_rl.weights import hold


@dataclasses.dataclass(frozen=True)
class Policies:
    """Makes the two policies of an agent, which share a model, a planner and a value.

    The exploring policy scores plans by `strategy`, the exploiting one by `exploit`. `act`
    is "plan" or "policy": a plan, or the policy of the value, chooses the actions. The
    filter and the plans of the exploiting policy use `latents`, "means" or "samples"; the
    exploring one uses samples. Without a `value`, the score of a plan is the sum of its
    rewards, and there are no proposals.

    `seed` is the seed of the run, an int. `sharers` is the number of processes that take
    turns at one sequence of episodes. If `compile` is true, XLA compiles decisions.
    """

    time_step_spec: Any
    action_spec: Any
    model: WorldModel
    planner: Planner
    strategy: Strategy
    exploit: Strategy
    noise: GaussianNoise | None
    value: ActorCritic | None
    clock: Clock
    seed: int
    act: str = "plan"
    latents: str = "samples"
    compile: bool = False
    sharers: int = 1
    space: Box | Categories = BOX

    def exploiting(self, act=None):
        """Acts by the strategy that exploits, or by `act`; without noise."""
        act = act or self.act
        strategy = Greedy() if act == "policy" else self.exploit  # which scores nothing
        own = {"strategy": strategy, "noise": None, "act": act, "sharers": 1}
        return self._make(Purpose.POLICY, own)

    def exploring(self):
        """Acts by the strategy and with noise."""
        return self._make(Purpose.COLLECT_POLICY, {"latents": "samples"})

    def _make(self, purpose, own):
        seed = seed_of_run(self.seed, purpose)
        parts = dataclasses.replace(self, **own)
        return PlanningPolicy(parts, seed, purpose.name.lower())


class PlanningPolicy(tf_policy.TFPolicy):
    """Chooses the first action of the plan that the planner finds.

    The policy state of each environment has the latent, the last action, the planner's
    state, the seed of its episode and the number of its decision. Every random number is a
    function of the last two. So nothing else needs to be saved, and the result does not
    depend on which environments run together. The state starts anew in each episode. With B
    environments in each of `sharers` processes, the episode after number n is number
    n + B sharers, so no two episodes have the same number.

    A strategy that needs draws is an error if no weight of the model is uncertain.
    """

    def __init__(self, parts, seed, name):
        self.parts, strategy = parts, parts.strategy
        check_draws(strategy, parts.model)
        self.strategy = strategy
        # TF-Agents finds the variables of a policy in its attributes.
        self._model, self._value, self._clock = parts.model, parts.value, parts.clock
        self._planner = parts.planner
        if strategy.groups > 1:
            self._planner = PlannerOfGroups(parts.planner, strategy.groups)
        self._seed = tf.convert_to_tensor(seed, tf.int32)
        self.compiles = parts.compile
        # Without a bonus plans rank alike without draws, whose cost is spared.
        choose = [functools.partial(self._choose, one) for one in (strategy, Greedy())]
        if self.compiles:
            choose = [tf.function(one, autograph=False, jit_compile=True) for one in choose]
        self._choose_by_strategy, self._choose_greedily = choose
        super().__init__(
            parts.time_step_spec,
            parts.action_spec,
            policy_state_spec=self._state_spec(),
            clip=False,
            automatic_state_reset=False,  # see `_restart`
            name=name,
        )

    def trace(self, batch_size):
        """Traces the decisions of now; functions that XLA compiles at their first call.

        None where XLA compiles none; nor those of a bonus that rests, for they may never be
        asked for.
        """
        if not self.compiles:
            return []
        given = self.first_inputs(batch_size)
        functions = [self._choose_by_strategy, self._choose_greedily]
        is_greedy = self._is_greedy()
        if is_greedy is None:
            functions = functions[:1]
        elif is_greedy:
            functions = functions[1:]
        for function in functions:
            function.get_concrete_function(*given)
        return [functools.partial(function, *given) for function in functions]

    def first_inputs(self, batch_size):
        """A first time step of zeros, and the policy state at that step."""
        observation = tensor_spec.zero_spec_nest(
            self.time_step_spec.observation, outer_dims=[batch_size]
        )
        return ts.restart(observation, batch_size), self._get_initial_state(batch_size)

    def _variables(self):
        value = self._value
        return [*self._model.variables, *(value.variables if value else ())]

    def _state_spec(self):
        batched = self._get_initial_state(1)
        return tf.nest.map_structure(
            lambda x: tensor_spec.TensorSpec(x.shape[1:], x.dtype), batched
        )

    def _get_initial_state(self, batch_size):
        model, clock = self._model, self._clock
        return {
            "latent": model.rssm.initial(batch_size)._asdict(),
            "action": tf.zeros([batch_size, model.action_size]),
            "planner": self._planner.initial_state(batch_size, model.action_size),
            "seed": tf.zeros([batch_size, 2], tf.int32),
            "decision": tf.zeros([batch_size], tf.int32),
            "next_episode": clock.episodes + tf.range(batch_size, dtype=tf.int64),
        }

    def _restart(self, is_first, state):
        """The state of an episode without decisions, where one starts."""
        batch_size = is_first.shape[0]
        number = state["next_episode"]
        start = self._get_initial_state(batch_size) | {
            "seed": fold(tf.repeat(self._seed[tf.newaxis], batch_size, axis=0), number),
            "next_episode": number + batch_size * self.parts.sharers,
        }
        return tf.nest.map_structure(functools.partial(_where, is_first), start, state)

    def _action(self, time_step, policy_state, seed):
        del seed  # every episode has its own
        given = time_step, policy_state
        is_greedy = self._is_greedy()
        if is_greedy is None:
            return policy_step.PolicyStep(*self._choose_by_strategy(*given))
        chosen = tf.cond(
            is_greedy,
            functools.partial(self._choose_greedily, *given),
            functools.partial(self._choose_by_strategy, *given),
        )
        return policy_step.PolicyStep(*chosen)

    def _is_greedy(self):
        """Whether the strategy's bonus rests, []; None: it never does."""
        return self.strategy.rests(self._clock.elapsed)

    def _choose(self, strategy, time_step, policy_state):
        """The actions and the next policy state."""
        policy_state = self._restart(time_step.is_first(), policy_state)
        seeds = SeedsOfDecision(policy_state["seed"], policy_state["decision"])
        weights = self._draw_weights(strategy, seeds)
        latent = self._filter(strategy, time_step, policy_state, weights, seeds)
        planner_state = policy_state["planner"]
        if self.parts.act == "policy":
            action = self._value.act(latent.features)
            spread = self.parts.space.no_spread(action)
        else:
            plan, planner_state = self._plan(
                strategy, latent, planner_state, weights, seeds
            )
            action, spread = plan.actions[:, 0], plan.spread[:, 0]
        if self.parts.noise is not None:
            steps = self._clock.environment_steps
            episode = seeds.of_episode("noise"), policy_state["decision"]
            given = steps, seeds.of("noise"), spread, episode
            action = self.parts.noise(action, *given, self.parts.space)
        state = {
            "latent": latent._asdict(),
            "action": action,
            "planner": planner_state,
            "seed": policy_state["seed"],
            "decision": policy_state["decision"] + 1,
            "next_episode": policy_state["next_episode"],
        }
        return action, state

    def _draw_weights(self, strategy, seeds):
        """S draws of the weights for each environment, [B * S, ...]; None for none."""
        if not strategy.draws:
            return None
        each = [
            self._model.draw_weights(strategy.draws, seed)
            for seed in tf.unstack(seeds.of_weights(strategy.redraw))
        ]
        return {name: tf.concat([draw[name] for draw in each], 0) for name in each[0]}

    def _filter(self, strategy, time_step, state, weights, seeds):
        """The latent after the new observation."""
        model = self._model
        seen = model.embed(time_step.observation, seeds.of("observation"))
        action = state["action"]
        noise = self._noise_of_latents([action.shape[0]], seeds.of("filter"))
        step = (seen, action, time_step.is_first(), noise)
        latent = Latent(**state["latent"])
        if not strategy.filter_with_draw:
            with hold(model, model.central_weights()):
                return model.rssm.filter(latent, *step)
        first = {name: draw[:: strategy.draws] for name, draw in weights.items()}
        with hold(model, first):  # one function for each environment: [B, 1, ...]
            latent, step = tf.nest.map_structure(lambda x: x[:, tf.newaxis], (latent, step))
            return tf.nest.map_structure(
                lambda x: x[:, 0], model.rssm.filter(latent, *step)
            )

    def _plan(self, strategy, latent, planner_state, weights, seeds):
        model, value = self._model, self._value

        def score(plans, seed):
            imagine = TRAJECTORIES[strategy.trajectories]
            drawn = self._noise_of_plans(plans, seed), weights, strategy.draws
            rollout = imagine(model, latent, plans, *drawn, fold(seed, 1), value)
            scores = self._score(strategy, rollout.in_unit(model.reward_unit))
            return one_for_each_plan(scores, strategy, plans.shape[:2])

        shape = (latent.belief.shape[0], model.action_size)
        proposals = self._propose(strategy, latent, seeds)
        own = shape, seeds.of("plan"), proposals, self.parts.space
        return self._planner.plan(score, planner_state, *own)

    def _score(self, strategy, rollout):
        elapsed = self._clock.elapsed
        if not strategy.critic:
            return strategy(rollout, elapsed)
        beta = self._value.explorer.beta(strategy.scheduled(elapsed))
        return strategy.score(rollout, beta, elapsed)

    def _propose(self, strategy, latent, seeds):
        """Plans of a policy under the central weights, [B, P, H, A], or None."""
        model, value = self._model, self._value
        if value is None or not value.proposals:
            return None
        given = latent, self._planner.horizon, seeds.of("proposals")
        with hold(model, model.central_weights()):
            plans = value.propose(model, *given, strategy.critic, self.parts.latents)
        if strategy.critic or not strategy.reward_from:
            return plans
        # What a policy that knows the reward would do waits until plans may seek it.
        knows = strategy.of_return(self._clock.elapsed) > 0.0
        return tf.where(knows, plans, self.parts.space.uninformed(plans))

    def _noise_of_plans(self, plans, seed):
        """[B, N, H, D]."""
        batch_size, candidates, horizon, _ = plans.shape
        if not self._planner.common_noise:
            return self._noise_of_latents([batch_size, candidates, horizon], seed)
        common = self._noise_of_latents([batch_size, 1, horizon], seed)
        return tf.repeat(common, candidates, axis=1)

    def _noise_of_latents(self, shape, seed):
        """[*shape, D]: standard normal, or 0 where means are asked for."""
        shape = [*shape, self._model.rssm.latent_size]
        return normal(shape, seed) if self.parts.latents == "samples" else tf.zeros(shape)


def _where(condition, rows, others):
    """Of each row the one or the other, by a condition [B]."""
    return tf.where(tf.reshape(condition, [-1] + [1] * (rows.shape.rank - 1)), rows, others)
