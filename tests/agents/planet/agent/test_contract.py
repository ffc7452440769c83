"""Tests of agents.planet.agent.contract: what a researcher may get wrong."""

import dataclasses
from typing import Any, ClassVar

import pytest
import tensorflow as tf

import bayes_rl as ed
from agents.planet.agent.contract import (
    check_draws,
    check_source,
    check_strategy,
    one_for_each_plan,
)
from agents.planet.explore.strategy import Strategy, returns
from agents.planet.model.transitions import SOURCES, make_source
from agents.planet.model.transitions.source import Source
from agents.runs.config.choices import groups
from agents.runs.config.overrides import load
from agents.system.errors import UserError
from agents.system.settings import Settings
from tests.agents.presets import preset

THOMPSON = preset("explore", "thompson")


@dataclasses.dataclass(frozen=True)
class Own(Settings, Strategy):
    """The mean return over draws."""

    draws: ClassVar[int] = 2
    trajectories: ClassVar[str] = "each"

    def __call__(self, rollout, elapsed):
        return tf.reduce_mean(returns(rollout), 0)


def own(**members):
    """`Own` with other members."""
    return dataclasses.dataclass(frozen=True)(type("Own", (Own,), members))()


def refused(check, *given):
    """What is said, one line."""
    with pytest.raises(UserError) as error:
        check(*given)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("choice", groups()["explore"])
def test_strategies_of_the_configs_are_what_they_must_be(choice, model):
    strategy = preset("explore", choice)
    check_strategy(strategy)
    check_draws(strategy, model)


def test_draws_need_uncertain_weights(make_model):
    said = refused(check_draws, THOMPSON, make_model("transition=deterministic"))
    assert said.endswith("transition must not be deterministic")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"redraw": "decisions"},
            "redraw of explore strategy Own must be episode",
        ),
        ({"trajectories": "every"}, "trajectories of explore strategy Own must be mean, e"),
        ({"trajectories": None}, "or shared, got None"),
        (
            {"draws": 0},
            "must have draws of at least 1 or trajectories 'mean', got draws=0 and",
        ),
        (
            {"__call__": lambda self, rollout: None},
            "must be callable with (rollout, elapsed), got the signature (rollout)",
        ),
        ({"__call__": lambda self, rollout, elapsed: None}, "here [2, 3], got None"),
        ({"__call__": lambda self, rollout, elapsed: returns(rollout)}, "got (2, 2, 3)"),
        (
            {"__call__": lambda self, rollout, elapsed: tf.math.log(-returns(rollout)[0])},
            "must return finite scores, got [nan, nan, nan] for plans with rewards",
        ),
    ],
)
def test_a_strategy_that_is_otherwise_is_one_clear_line(members, message):
    assert message in refused(check_strategy, own(**members))


def test_what_is_no_strategy_is_one_clear_line():
    said = refused(check_strategy, lambda rollout, elapsed: rollout.reward)
    assert said.endswith("function must be a subclass of agents.planet.explore.Strategy")


def test_a_strategy_is_a_dataclass_of_settings():
    class Plain(Strategy):
        pass

    said = refused(check_strategy, Plain())
    assert said.endswith("@dataclasses.dataclass(frozen=True) goes before class Plain")


def test_a_strategy_may_want_other_trajectories_and_groups():
    for trajectories, axis in (("shared", 1), ("average", 1), ("switching", 2)):
        seen = []

        def look(self, rollout, elapsed, seen=seen):
            seen.append((rollout.reward.shape[0], rollout.mean.shape[0]))
            return returns(rollout)[0]

        check_strategy(own(trajectories=trajectories, __call__=look))
        assert seen == [(axis, 2 if trajectories == "shared" else axis)]


def test_scores_are_one_for_each_plan():
    scores = tf.zeros([2, 3])
    assert one_for_each_plan(scores, THOMPSON, [2, 3]) is scores
    said = refused(one_for_each_plan, scores[tf.newaxis], THOMPSON, [2, 3])
    assert said.endswith("one for each plan, here [2, 3], got (1, 2, 3)")
    assert refused(one_for_each_plan, scores, THOMPSON, [3, 2]).endswith("got (2, 3)")


@pytest.mark.parametrize("name", SOURCES)
def test_sources_are_what_they_must_be(name):
    settings = load([f"transition={name}", "explore=noise"])
    check_source(make_source(name, settings), name, settings.batch_size)


def test_a_rare_dropout_is_a_source():
    settings = load(["transition=dropout", "dropout_rate=0.001"])
    check_source(make_source("dropout", settings), "dropout", settings.batch_size)


class Posterior(Source):
    """A posterior over kernels and nothing else."""

    def dense(self, units, activation, name):
        return ed.layers.DenseReparameterization(units, activation, name=name)


def _drawn(self, model, count, seed):
    return ed.sample_weights(model, [count], seed)


@dataclasses.dataclass
class Case:
    """A method of a source, and what is said of what it gives."""

    method: str
    given: Any
    message: str


CASES = [
    Case(
        "dense", lambda self, *_: None, "dense must return a Keras layer, got NoneType None"
    ),
    Case(
        "dense",
        lambda self, units, *_: ed.layers.DenseReparameterization(units, name="mine"),
        "dense must name its layer 'transition_hidden', got 'mine'",
    ),
    Case(
        "dense",
        lambda self, units, activation, name: ed.layers.DenseReparameterization(
            units + 1, name=name
        ),
        "dense must return a layer of 61 units as asked, got 62",
    ),
    Case(
        "dense",
        lambda self, units, activation, name: tf.keras.layers.Dense(units, name=name),
        "a weight must be uncertain, got none",
    ),
    Case(
        "draw", lambda *_: None, "draw must return a dict from names to weights, got None"
    ),
    Case(
        "draw",
        lambda self, model, count, seed: ed.sample_weights(model, [count + 1], seed),
        "'transition_hidden/kernel' with shape [64, 3, 61], got (65, 3, 61)",
    ),
    Case(
        "draw",
        lambda self, model, count, seed: ed.sample_weights(model, seed=seed),
        "'transition_hidden/kernel' with shape [64, 3, 61], got (3, 61)",
    ),
    Case(
        "draw",
        lambda self, model, count, seed: _drawn(self, model, count, [0, 0]),
        "different weights for different seeds, got the same for [0, 1] and [0, 2]",
    ),
    Case(
        "draw",
        lambda self, model, count, seed: {
            name: tf.repeat(weight, count, 0)
            for name, weight in _drawn(self, model, 1, seed).items()
        },
        "draw must return different weights for each draw, got 64 equal draws",
    ),
    Case("central", lambda *_: 1.0, "central must return a dict from names to weights"),
    Case(
        "draw_for_training",
        lambda self, model, sequences, seed: _drawn(self, model, sequences, seed),
        "draw_for_training must return (weights, number of draws), got dict",
    ),
    Case(
        "draw_for_training",
        lambda self, model, sequences, seed: (_drawn(self, model, 3, seed), 3),
        "0 draws or a number that divides 8 sequences, got int 3",
    ),
    Case(
        "draw_for_training",
        lambda self, model, sequences, seed: (_drawn(self, model, sequences, seed), 4),
        "with shape [4, 3, 61], got (8, 3, 61)",
    ),
    Case("costs", lambda *_: 0.5, "costs must return a dict from names to weights, got fl"),
    Case(
        "costs",
        lambda *_: {"kernel": tf.ones([2])},
        "costs must return one number for 'kernel', got the shape (2,)",
    ),
]


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.method}-{case.message[:40]}"
)
def test_a_source_that_is_otherwise_is_one_clear_line(case):
    source = type("Own", (Posterior,), {case.method: case.given})(None)
    said = refused(check_source, source, "own", 8)
    assert said.startswith("transition=own: ")
    assert case.message in said


def test_what_is_no_source_is_one_clear_line():
    said = refused(check_source, "no source", "own", 8)
    assert said.endswith("transitions.source.Source, got str 'no source'")
    check_source(Posterior(None), "own", 8)
