"""Tests of agents.study.insight.spread."""

import numpy as np
import pytest
import tensorflow as tf

from agents.study.insight import spread
from agents.study.insight.latents import filter_latents
from agents.study.insight.spread import SPREAD_DRAWS, predict_each_step, spread_report

SEED = tf.constant([0, 1])


def episode_of(make_batch):
    return {key: np.array(value[0]) for key, value in make_batch(1, 6).items()}


def test_certain_weights_have_no_spread(make_model, make_batch):
    assert (
        spread_report(make_model("transition=deterministic"), episode_of(make_batch), SEED)
        == {}
    )


def test_ratio_grows_with_the_posterior(make_model, make_batch):
    reports = [
        spread_report(make_model(f"posterior_scale={scale}"), episode_of(make_batch), SEED)
        for scale in (0.01, 0.1, 1.0)
    ]
    ratios = [report["epistemic_ratio"] for report in reports]
    assert ratios == sorted(ratios)
    assert ratios[0] < 0.05
    for report in reports:
        ratio = report["epistemic_stddev"] / report["aleatoric_stddev"]
        assert report["epistemic_ratio"] == pytest.approx(ratio, rel=1e-5)


def test_report_is_made_of_the_predictions_of_each_step(make_model, make_batch):
    model, batch = make_model("posterior_scale=1.0"), make_batch(1, 6)
    found = predict_each_step(model, batch, SEED)
    report = spread_report(model, episode_of(make_batch), SEED)
    epistemic = np.sqrt(np.var(found.mean, axis=0).mean())
    assert report["epistemic_stddev"] == pytest.approx(epistemic, rel=1e-4)
    aleatoric = np.sqrt(np.mean(np.square(found.stddev)))
    assert report["aleatoric_stddev"] == pytest.approx(aleatoric, rel=1e-4)


def test_each_draw_predicts_one_step_from_the_filter(make_model, make_batch):
    model, batch = make_model(), make_batch(2, 4)
    found = predict_each_step(model, batch, SEED)
    assert found.mean.shape == found.stddev.shape == (SPREAD_DRAWS, 2, 3, 3)
    assert np.ptp(found.mean, axis=0).min() > 0
    again = predict_each_step(model, batch, SEED)
    np.testing.assert_array_equal(found.mean, again.mean)


def test_the_step_is_that_of_the_action_which_leads_to_the_next_row(
    make_model, make_batch, monkeypatch
):
    model, batch, asked = make_model(), make_batch(1, 5), []

    def spied(before, action, noise):
        asked.append((before, action))
        return before

    monkeypatch.setattr(model.rssm, "imagine_step", spied)
    found = predict_each_step.__wrapped__(model, batch, SEED)
    ((before, action),) = asked
    for draw in range(SPREAD_DRAWS):
        np.testing.assert_array_equal(action[draw], batch["action"][0, 1:])
        np.testing.assert_array_equal(found.mean[draw, 0], before.mean[draw])
    whole = predict_each_step.__wrapped__(
        model, {key: value[:, :4] for key, value in batch.items()}, SEED
    )
    np.testing.assert_allclose(whole.mean[0, 0], found.mean[0, 0, :3], atol=1e-5)


def test_one_trace_serves_episodes_of_every_length(make_model, make_batch, monkeypatch):
    for function in (predict_each_step, filter_latents):
        monkeypatch.setattr(spread, function.__name__, function)
    model = make_model()
    spread_report(model, episode_of(make_batch), SEED)
    functions = [predict_each_step.graph, filter_latents.graph]
    before = [function.experimental_get_tracing_count() for function in functions]
    for length in (6, 2, 9, 30):
        whole = make_batch(1, length)
        batch = {key: whole[key] for key in ("observation", "action", "is_first")}
        found = predict_each_step(model, batch, SEED)
        eager = predict_each_step.__wrapped__(model, batch, SEED)
        np.testing.assert_allclose(found.mean, eager.mean, atol=1e-5)
        np.testing.assert_allclose(found.stddev, eager.stddev, atol=1e-5)
    after = [function.experimental_get_tracing_count() for function in functions]
    assert after[0] == before[0]
    assert after[1] <= before[1] + 1  # outside of the other graph it is another one
