"""Tests of the entries of an observation."""

import numpy as np
import pytest

from envs.simulations import parts

FOUND = {("arm", "angle"): 2, ("arm", "speed"): 1, ("armour",): 1, (0,): 3}


@pytest.mark.parametrize(
    ("names", "paths"),
    [
        (["arm"], [("arm", "angle"), ("arm", "speed")]),  # and not what begins so
        (["arm/speed"], [("arm", "speed")]),
        (["0", "armour"], [("armour",), (0,)]),  # in the order of the observation
        (["arm/angle", "arm"], [("arm", "angle"), ("arm", "speed")]),
    ],
)
def test_entries_are_chosen_by_their_whole_names(names, paths):
    assert [*parts.chosen(FOUND, names)] == paths


@pytest.mark.parametrize("name", ["", "ar", "angle", "arm/", "arm/angle/x", "1"])
def test_a_name_of_no_entry_is_refused(name):
    words = f"observes no entry '{name}'; its entries: arm/angle, arm/speed, armour, 0$"
    with pytest.raises(ValueError, match=words):
        parts.chosen(FOUND, [name])


def test_entries_are_joined_in_their_order_whatever_their_type():
    seen = {"b": [True, 2], "a": {"x": np.ones([1, 2], np.int8)}, "more": "words"}
    joined = parts.concatenate(seen, {("a", "x"): 2, ("b",): 2})
    assert joined.dtype == np.float32
    assert joined.tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        ({"a": [1.0]}, "observation must be a dict with a 1, b/c 2; it lacks b/c$"),
        ([1.0], "observation must be a dict with a 1, b/c 2; it lacks a, b/c$"),
        ({"a": 1, "b": {"c": 1}}, "b/c must have 2 numbers, got 1$"),
        ({"a": 1, "b": {"c": [1, np.inf]}}, r"b/c must be finite, got "),
        ({"a": 1e16, "b": {"c": [1, 2]}}, "a must be at most .* got 1e.16: divide it by"),
        ({"a": [[1], [1, 2]], "b": {"c": [1, 2]}}, "a must be real numbers, got"),
    ],
)
def test_a_wrong_entry_is_named(seen, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        parts.concatenate(seen, {("a",): 1, ("b", "c"): 2})
