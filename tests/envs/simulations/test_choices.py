"""Tests of envs.simulations.choices, on the spaces of gym and the specs of dm_env."""

import types

import numpy as np
import pytest
from dm_env import specs

from envs.actions import Categories
from envs.quiet import import_gym
from envs.simulations.choices import MOST, choices, shaped

spaces = import_gym().spaces

DESCRIBED = [
    (spaces.Discrete(3), (3,), [0]),
    (spaces.Discrete(3, start=-1), (3,), [-1]),
    (spaces.MultiDiscrete([2, 4]), (2, 4), [0, 0]),
    (spaces.MultiDiscrete([[2, 4], [3, 2]]), (2, 4, 3, 2), [0] * 4),
    (spaces.MultiBinary(3), (2, 2, 2), [0, 0, 0]),
    (spaces.MultiBinary([2, 1]), (2, 2), [0, 0]),
    (spaces.Box(0, 2, [2], np.uint8), (3, 3), [0, 0]),
    (specs.DiscreteArray(4), (4,), [0]),
    (specs.BoundedArray([2], np.int32, [-1, 5], [1, 6]), (3, 2), [-1, 5]),
    (specs.BoundedArray([], np.bool_, False, True), (2,), [0]),
]


@pytest.mark.parametrize(("space", "categories", "first"), DESCRIBED)
def test_every_action_of_a_space_is_one_of_its_one_hot_vectors(space, categories, first):
    actions, given = Categories(*choices(space)), set()
    assert actions.categories == categories
    np.testing.assert_array_equal(actions.first, first)
    for vector in np.random.default_rng(0).uniform(size=[200, actions.size]):
        numbers = actions.scale(actions.nearest(vector))
        action = shaped(numbers, space)
        valid = getattr(space, "contains", None)
        assert valid(action) if valid else space.validate(action) is not None
        given.add(tuple(np.ravel(action).tolist()))
    assert len(given) == min(np.prod(categories), 200)


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(-1.0, 1.0, [2]),
        specs.BoundedArray([2], float, 0, 1),
        spaces.Dict(a=spaces.Discrete(2)),
        spaces.Tuple([spaces.Discrete(2)]),
        None,
    ],
)
def test_other_actions_have_no_choices(space):
    assert choices(space) is None


def test_integers_without_bounds_and_too_many_categories_are_refused():
    with pytest.raises(ValueError, match="integers need a least and a greatest one"):
        choices(specs.Array([2], int))
    with pytest.raises(ValueError, match="needs at least one category, and there is none"):
        choices(specs.BoundedArray([0], int, 0, 1))
    assert choices(spaces.Discrete(MOST))[0] == (MOST,)
    with pytest.raises(ValueError, match="at most 1,000 categories .* got 1,001"):
        choices(spaces.Discrete(MOST + 1))
    wide = types.SimpleNamespace(shape=(1,), dtype=np.int64, low=-(2**62), high=2**62)
    with pytest.raises(ValueError, match="at most 1,000 categories"):
        choices(wide)
