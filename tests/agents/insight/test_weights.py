"""Tests of agents.insight.weights."""

import numpy as np
import pytest

from agents.insight.weights import weight_report
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


def test_a_deterministic_transition_has_nothing_to_report(make_model):
    assert weight_report(make_model("transition=deterministic")) == {}
