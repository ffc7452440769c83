"""What tests of insight share."""

import pytest

from agents.insight import forecasts, open_loop, spread
from agents.insight.uncertainty import worth


@pytest.fixture(autouse=True, scope="module")
def _untraced():
    """Line by line is faster for a few episodes: a trace for each model takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (open_loop, spread, forecasts, worth):
            for name in ("filter_latents", "imagine_latents", "predict_each_step"):
                if function := getattr(module, name, None):
                    patch.setattr(module, name, function.__wrapped__)
        yield
