"""Tests of agents.study.insight.spread_worth."""

import numpy as np
import pytest
from scipy import stats

from agents.study.insight.coverage import Axis, Coverage
from agents.study.insight.spread import as_batch, predict_each_step
from agents.study.insight.spread_worth import VISITS, Steps, look, measure
from agents.system.seeds import fold
from tests.agents.study.insight.test_forecasts import SEED

ROWS = 120


@pytest.fixture(scope="module")
def known():
    """Spreads that fall with the root of visits, and errors that follow them with noise."""
    rng = np.random.default_rng(0)
    episodes = []
    for _ in range(6):
        visits = rng.integers(0, 5000, ROWS)
        visits[: ROWS // 2] = 0
        spread = np.maximum(visits, 0.2) ** -0.5
        error = spread * np.exp(rng.normal(size=ROWS))
        episodes.append(Steps(spread, rng.uniform(1, 2, ROWS), error, visits))
    return episodes


@pytest.fixture(scope="module")
def found(known):
    return {each["measure"]: each for each in measure({"policy": known}, "epistemic")}


def test_rank_correlation_is_spearmans_over_all_steps(known, found):
    spread, error = (
        np.concatenate([getattr(s, n) for s in known]) for n in Steps._fields[::2]
    )
    expected = stats.spearmanr(spread, error).statistic
    value = found["rank_correlation"]
    assert value["value"] == pytest.approx(expected)
    assert value["low"] < expected < value["high"]
    assert value["steps"] == 6 * ROWS


def test_within_actions_a_correlation_tells_nothing_of_what_sets_them_apart():
    """Spread follows error within each kind; the kind that errs more has less spread."""
    rng = np.random.default_rng(1)

    def steps(spread, error):
        size = rng.uniform(1, 2, ROWS)
        return Steps(spread * size, size, error * size, np.full(ROWS, -1))

    kinds = {
        "policy": [steps(1.0, 10.0) for _ in range(4)],
        "random": [steps(10.0, 1.0) for _ in range(4)],
    }
    found = {each["measure"]: each for each in measure(kinds, "epistemic")}
    assert found["rank_correlation"]["value"] < -0.4
    for kind in kinds:
        within = found[f"rank_correlation_{kind}"]
        assert within["value"] == pytest.approx(1.0)
        assert within["steps"] == 4 * ROWS
    assert list(found) == [
        "rank_correlation",
        "rank_correlation_policy",
        "rank_correlation_random",
    ]


def test_unvisited_states_are_told_by_a_spread_that_is_larger_there(known, found):
    assert found["auroc"]["value"] == 1.0
    blind = {each["measure"]: each for each in measure({"policy": known}, "aleatoric")}
    assert blind["auroc"]["low"] < 0.5 < blind["auroc"]["high"]
    assert abs(blind["rank_correlation"]["value"]) < 0.1


def test_spread_shrinks_as_it_was_made_to(found):
    assert found["exponent"]["value"] == pytest.approx(0.5)
    medians = [found[f"spread_{least}"]["value"] for least in VISITS]
    assert medians == sorted(medians, reverse=True)
    assert sum(found[f"spread_{least}"]["steps"] for least in VISITS) == 6 * ROWS


def test_a_class_of_visits_begins_at_its_least_and_ends_before_the_next():
    visits = np.array([0, 1, 9, 10, 99, 100, 999, 1000, 5000])
    spread = 1.0 + np.arange(len(visits))
    steps = Steps(spread, spread, spread, visits)
    found = {each["measure"]: each for each in measure({"policy": [steps]}, "epistemic")}
    of_classes = [found[f"spread_{least}"] for least in VISITS]
    assert [each["steps"] for each in of_classes] == [1, 2, 2, 2, 2]
    assert [each["value"] for each in of_classes] == [1.0, 2.5, 4.5, 6.5, 8.5]


def test_without_a_grid_there_is_the_correlation_alone(known):
    blind = [each._replace(visits=np.full(ROWS, -1)) for each in known]
    found = measure({"policy": blind}, "epistemic")
    assert [each["measure"] for each in found] == ["rank_correlation"]


def test_where_all_was_visited_nothing_can_be_told(known):
    visited = [each._replace(visits=each.visits + 1) for each in known]
    (value,) = (
        m for m in measure({"policy": visited}, "epistemic") if m["measure"] == "auroc"
    )
    assert np.isnan([value["value"], value["low"], value["high"]]).all()


@pytest.fixture(scope="module")
def episodes(make_episodes):
    found = make_episodes(np.zeros([2, 6]))
    return [each | {"position": np.arange(6.0)[:, np.newaxis]} for each in found]


def test_steps_are_the_spreads_and_the_error_of_one_prediction(model, episodes):
    coverage = Coverage([Axis("position", 0, 0.0, 6.0, 6)])
    coverage.add({"position": np.array([[0.5], [2.5], [2.6]])})
    steps = look(model, episodes, coverage, SEED)[1]
    expected = predict_each_step(model, as_batch(episodes[1]), fold(fold(SEED, 1), 0))
    variance = np.var(expected.mean[:, 0], axis=0)
    np.testing.assert_allclose(steps.epistemic**2, variance.mean(-1), rtol=1e-4)
    squares = np.square(expected.stddev[:, 0]).mean(axis=(0, 2))
    np.testing.assert_allclose(steps.aleatoric**2, squares, rtol=1e-4)
    decoded = np.mean(model.expected_observation(expected.features[:, 0]), axis=0)
    off = (decoded - episodes[1]["observation"][1:]) / model.observation_stddev
    np.testing.assert_allclose(steps.error**2, np.mean(off**2, -1), rtol=1e-4)
    assert steps.visits.tolist() == [1, 0, 2, 0, 0]  # of the state that is left


def test_certain_weights_have_the_aleatoric_spread_alone(make_model, episodes):
    steps = look(make_model("transition=deterministic"), episodes, None, SEED)
    assert measure({"random": steps}, "epistemic") == []
    found = measure({"random": steps}, "aleatoric")
    assert [each["measure"] for each in found] == ["rank_correlation"]
