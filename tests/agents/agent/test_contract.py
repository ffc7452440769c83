"""Tests of agents.agent.contract."""

import pytest
import tensorflow as tf

from agents.agent.contract import check_strategy, one_for_each_plan
from agents.config.choices import groups
from agents.explore import Strategy
from tests.agents.presets import preset

THOMPSON = preset("explore", "thompson")


@pytest.mark.parametrize("choice", groups()["explore"])
def test_strategies_of_the_configs_are_what_they_must_be(choice, model):
    check_strategy(preset("explore", choice), model)


def test_draws_need_uncertain_weights(make_model):
    message = "Thompson draws weights: transition must not be deterministic"
    with pytest.raises(ValueError, match=message):
        check_strategy(THOMPSON, make_model("transition=deterministic"))


@pytest.mark.parametrize(
    ("attribute", "given", "message"),
    [
        ("redraw", "decisions", "must be episode or decision, got 'decisions'; did you"),
        ("trajectories", "every", "must be mean, each, .* or shared, got 'every'"),
        ("trajectories", None, "must be mean, each, .* or shared, got None"),
    ],
)
def test_an_attribute_that_is_unknown_is_one_clear_line(attribute, given, message, model):
    own = type("Own", (Strategy,), {attribute: given})()
    with pytest.raises(ValueError, match=f"{attribute} of explore strategy Own {message}"):
        check_strategy(own, model)


def test_what_is_no_strategy_is_one_clear_line(model):
    with pytest.raises(ValueError, match="function must be a subclass of .*Strategy"):
        check_strategy(lambda rollout, elapsed: rollout.reward, model)


def test_scores_are_one_for_each_plan():
    scores = tf.zeros([2, 3])
    assert one_for_each_plan(scores, THOMPSON) is scores
    message = r"Thompson must give \[B, N\] scores, one for each plan, got \(1, 2, 3\)"
    with pytest.raises(ValueError, match=message):
        one_for_each_plan(scores[tf.newaxis], THOMPSON)
