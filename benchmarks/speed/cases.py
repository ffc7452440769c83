"""What is timed: the agent's own train step and decision, without an environment.

The sizes of observation and action are those of cheetah_run from states.
"""

import dataclasses
import functools

import numpy as np
import tensorflow as tf
from tf_agents.specs import array_spec
from tf_agents.trajectories import time_step as ts

from agents.planet.explore import Greedy
from agents.planet.model.transitions import DETERMINISTIC, SOURCES
from agents.runs.config.overrides import load
from agents.training.building import make_agent, resolved
from benchmarks.measuring import flops
from envs.actions import make_actions

OBSERVATION_SIZE = 17
ACTION_SIZE = 6
_SIZES = {"cpu": (), "paper": ("experiment=paper_state",)}
# The value that is not the size's own.
_OTHER_VALUE = {"cpu": "value=none", "paper": "value=td"}


@dataclasses.dataclass(frozen=True)
class Case:
    """One thing to time."""

    group: str  # those of a group are timed in turn, so that drift meets all alike
    name: str  # within the group
    kind: str  # train, decide or explore: a decision that exploits, or one that explores
    words: tuple  # of the config, as on the command line
    reference: str | None = None  # name of the case that this one is compared with

    @functools.cached_property
    def config(self):
        return resolved(load(["task=cheetah_run", *self.words]), Specs())

    @property
    def flops(self):
        """Floating point operations of one call, see `benchmarks.measuring.flops`."""
        sizes = OBSERVATION_SIZE, ACTION_SIZE
        if self.kind == "train":
            return flops.train_step(self.config, *sizes)
        strategy = self.config.explore if self.kind == "explore" else Greedy()
        return flops.decision(self.config, strategy, *sizes)

    def make(self):
        """A function without arguments that does the work once and waits for its end."""
        if self.kind == "train":
            return make_train_step(self.config)
        return make_decision(self.config, explores=self.kind == "explore")


def all_cases(words=()):
    """Every case of the benchmark; words of the command line change the config of each."""
    makers = (_train_cases, _decide_cases, _explore_cases, _source_cases)
    return [case for make in makers for size in _SIZES for case in make(size, words)]


def _maker(group, kind, size, words, reference):
    """A function of a name and words of its own to a case, compared with the reference."""

    def case(name, *own):
        beside = None if name == reference else reference
        every = (*_SIZES[size], *own, *words)
        return Case(f"{group}, {size} size", name, kind, every, beside)

    return case


def _train_cases(size, words):
    case = _maker("train step", "train", size, words, DETERMINISTIC)
    return [
        case(DETERMINISTIC, f"transition={DETERMINISTIC}", "explore=noise"),
        *(case(name, *own) for name, own in _sources(size).items()),
        case("bfloat16", "transition=reparameterization", "compute_dtype=bfloat16"),
        case("not compiled", "transition=reparameterization", "compile=false"),
        case(_OTHER_VALUE[size], "transition=reparameterization", _OTHER_VALUE[size]),
    ]


def _decide_cases(size, words):
    case = _maker("decision", "decide", size, words, "cem")
    cem, icem = "planner=cem", _icem(size)
    return [
        case("cem", cem),
        case("cem not compiled", cem, "compile=false"),
        case("cem bfloat16", cem, "compute_dtype=bfloat16"),
        case(f"cem {_OTHER_VALUE[size]}", cem, _OTHER_VALUE[size]),
        case("icem", *icem),
        case("icem not compiled", *icem, "compile=false"),
        case(f"icem {_OTHER_VALUE[size]}", *icem, _OTHER_VALUE[size]),
        case("act=policy", *icem, "value=td", "act=policy", "explore=noise"),
    ]


def _explore_cases(size, words):
    """What S = 5 draws cost beside one, at the paper's planner or the default one."""
    case = _maker("exploring decision", "explore", size, words, "one draw")
    own = ("transition=reparameterization", *(() if size == "cpu" else ("planner=cem",)))
    return [
        case("one draw", *own, "explore=thompson"),
        case("five draws", *own, "explore=upper_confidence", "explore.draws=5"),
        case("information gain", *own, "explore=information_gain", "explore.draws=5"),
    ]


def _source_cases(size, words):
    """What a decision by information gain costs beside the deterministic twin's."""
    twin, explore = "deterministic, greedy", "explore=information_gain"
    case = _maker("information gain", "explore", size, words, twin)
    return [
        case(twin, f"transition={DETERMINISTIC}", "explore=greedy"),
        *(case(name, *own, explore) for name, own in _sources(size).items()),
    ]


def _sources(size):
    """Words for each source of uncertainty; an ensemble's members share the batch."""
    words = {name: (f"transition={name}",) for name in SOURCES if name != DETERMINISTIC}
    words["ensemble"] += ("ensemble_members=5",) if size == "paper" else ()
    return words


def _icem(size):
    """Words of planner=icem, whose numbers the preset of the paper would hide."""
    planner = load(["planner=icem"]).planner
    hidden = ("horizon", "candidates", "elites", "iterations") if size == "paper" else ()
    numbers = (f"planner.{name}={getattr(planner, name)}" for name in hidden)
    return "planner=icem", *numbers


class Specs:
    """As much of an environment as an agent needs to be made: its specs."""

    action_repeat = 4
    episode_length = 250
    actions = make_actions(-np.ones(ACTION_SIZE), np.ones(ACTION_SIZE))

    def time_step_spec(self):
        observation = array_spec.ArraySpec([OBSERVATION_SIZE], np.float32)
        return ts.time_step_spec({"observation": observation})

    def action_spec(self):
        return array_spec.BoundedArraySpec([ACTION_SIZE], np.float32, -1.0, 1.0)


def make_train_step(config):
    """A function without arguments that takes one gradient step on one fixed batch."""
    agent = make_agent(config, Specs(), tf.distribute.get_strategy())
    agent.initialize()
    agent.clock.agent_steps.assign(10_000)
    train = tf.function(agent.train)
    batch = random_batch(config)
    return lambda: train(batch).loss.numpy()


def make_decision(config, explores=False):
    """A function without arguments that chooses one action: filter, plan, act."""
    agent = make_agent(config, Specs(), tf.distribute.get_strategy())
    observation = {"observation": tf.zeros([1, OBSERVATION_SIZE])}
    time_step = ts.transition(observation, tf.zeros([1]))
    policy = agent.collect_policy if explores else agent.policy
    state = policy.get_initial_state(1)
    # AutoGraph has nothing to convert here, and warns of code that is not ours.
    act = tf.function(policy.action, autograph=False)
    return lambda: act(time_step, state).action.numpy()


def random_batch(config):
    """A replay batch of standard normal numbers; every sequence starts an episode."""
    random = np.random.default_rng(0)
    shape = [config.batch_size, config.sequence_length]

    def normal(*event):
        return tf.constant(random.standard_normal([*shape, *event]), tf.float32)

    is_first = np.zeros(shape, bool)
    is_first[:, 0] = True
    return {
        "observation": normal(OBSERVATION_SIZE),
        "action": tf.clip_by_value(normal(ACTION_SIZE), -1.0, 1.0),
        "reward": normal(),
        "is_first": tf.constant(is_first),
        "is_terminal": tf.zeros(shape, tf.bool),
    }
