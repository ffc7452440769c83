"""Tests of agents.planet.value."""

import pytest

from agents.planet.value import discount_of, pace_of
from tests.agents.presets import preset


@pytest.mark.parametrize(
    ("decisions", "discount"),
    [(20, 0.95), (100, 0.95), (125, 0.96), (250, 0.98), (1000, 0.995), (9000, 0.995)],
)
def test_a_fifth_of_an_episode_counts_within_bounds(decisions, discount):
    assert discount_of(decisions) == pytest.approx(discount)


def test_where_nobody_knows_the_length_the_discount_is_the_largest():
    assert discount_of(None) == 0.995


@pytest.mark.parametrize(
    ("discount", "pace"),
    [
        (0.9899, (0.3, 32, 1, 3e-4)),
        (0.99, (0.6, 16, 4, 1e-3)),
        (0.995, (0.6, 16, 4, 1e-3)),
    ],
)
def test_the_pace_changes_at_its_bound(discount, pace):
    assert pace_of(discount) == pace


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("discount", 1.0, "discount must be below 1, got 1"),
        ("target_steps", 0, "target_steps must be at least 1, got 0"),
        ("stride", 0, "stride must be at least 1, got 0"),
        ("target_rate", 0.0, "target_rate must be above 0, got 0"),
        ("proposals", -1, "proposals must be at least 0, got -1"),
    ],
)
def test_wrong_values_are_named(name, value, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        preset("value", "td", **{name: value})
