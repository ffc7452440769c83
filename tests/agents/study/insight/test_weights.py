"""Tests of agents.study.insight.weights."""

import numpy as np
import pytest

from agents.study.insight.weights import weight_report
from bayes_rl.weights import kl_divergences, posteriors


def test_each_uncertain_layer_is_reported(model):
    report = weight_report(model)
    assert len(report) == 9
    for name, posterior in posteriors(model).items():
        layer, _ = name.split("/")
        stddev = np.mean(posterior.stddev())
        size = np.sqrt(np.mean(np.square(posterior.mean())))
        assert report[f"weight_stddev/{layer}"] == pytest.approx(stddev, rel=1e-5)
        assert report[f"weight_ratio/{layer}"] == pytest.approx(stddev / size, rel=1e-5)
        kl = float(kl_divergences(model)[name])
        assert report[f"weight_kl/{layer}"] == pytest.approx(kl, rel=1e-5)


def test_a_layer_of_several_weights_is_reported_once(make_model):
    model = make_model("transition=rank1")
    report, layer = weight_report(model), "transition_hidden"
    names = [f"{layer}/{name}" for name in ("alpha", "gamma")]
    means, stddevs = (
        np.concatenate([np.ravel(getattr(posteriors(model)[name], f)()) for name in names])
        for f in ("mean", "stddev")
    )
    assert report[f"weight_stddev/{layer}"] == pytest.approx(np.mean(stddevs), rel=1e-5)
    ratio = np.mean(stddevs) / np.sqrt(np.mean(means**2))
    assert report[f"weight_ratio/{layer}"] == pytest.approx(ratio, rel=1e-5)
    kl = sum(float(kl_divergences(model)[name]) for name in names)
    assert report[f"weight_kl/{layer}"] == pytest.approx(kl, rel=1e-5)


def test_members_have_a_spread_and_no_kl(make_model):
    report = weight_report(make_model("transition=ensemble"))
    assert {name.split("/")[0] for name in report} == {"weight_stddev", "weight_ratio"}
    assert all(value > 0 for value in report.values())


def test_a_deterministic_transition_has_nothing_to_report(make_model):
    assert weight_report(make_model("transition=deterministic")) == {}
