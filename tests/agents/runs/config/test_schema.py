import dataclasses

import pytest

from agents.planet.explore import Greedy
from agents.planet.model.transitions import SOURCES
from agents.runs.config import overrides
from agents.runs.config.schema import as_dict, flatten, make_config
from agents.system.errors import UserError


@pytest.fixture
def values():
    return as_dict(overrides.load([]))


def change(values, name, value):
    *path, last = name.split(".")
    for each in path:
        values = values[each]
    values[last] = value


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("batch_size", -3, "batch_size must be at least 1, got -3"),
        ("batch_size", 2.5, "batch_size must be a whole number, got 2.5"),
        ("batch_size", True, "batch_size must be a whole number, got True"),
        ("batch_size", None, "batch_size must be a whole number, got nothing"),
        ("seed", "a", "seed must be a whole number, got 'a'"),
        ("seed", 2**31, "seed must be below 2147483648, got 2147483648"),
        (
            "transition",
            "flipot",
            f"transition must be {', '.join([*SOURCES][:-1])} or {[*SOURCES][-1]}, "
            "got 'flipot'; did you mean 'flipout'?",
        ),
        ("image.size", 48, "image.size must be 32 or 64, got 48"),
        ("image.shadows", 1, "image.shadows must be true or false, got 1"),
        ("optimizer.epsilon", 0, "optimizer.epsilon must be above 0, got 0.0"),
        ("optimizer.epsilon", float("nan"), "optimizer.epsilon must be a number, got nan"),
        ("optimizer", 3, "optimizer is a group: set its keys (optimizer.key=value), got 3"),
        ("task", "", "task must be a word, got nothing"),
        (
            "planner.elites",
            101,
            "planner.elites must be at most candidates (100), got 101",
        ),
        (
            "planner.kind",
            "icen",
            "planner.kind must be cem or icem, got 'icen'; did you mean 'icem'?",
        ),
        ("planner.momentun", 0.1, "there is no key 'planner.momentun'"),
    ],
)
def test_wrong_value_is_an_error_that_names_the_key(values, name, value, message):
    change(values, name, value)
    with pytest.raises(UserError) as error:
        make_config(values)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_schedule_has_a_time_and_an_end():
    config = overrides.load(["action_noise.final_stddev=0", "action_noise.steps=1000"])
    assert (config.action_noise.final_stddev, config.action_noise.steps) == (0.0, 1000)
    config = overrides.load(["explore=disagreement", "explore.beta=2"])
    assert (config.explore.beta, config.explore.final_beta) == (2.0, None)


def test_every_number_has_a_range(values):
    numbers = {
        name: value
        for name, value in flatten(values).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    assert len(numbers) > 30
    for name in numbers:
        broken = as_dict(make_config(values))
        change(broken, name, -10)
        with pytest.raises(UserError, match=f"^{name} must be "):
            make_config(broken)


def test_every_key_must_be_there(values):
    for name in flatten(values):
        broken = as_dict(make_config(values))
        *path, last = name.split(".")
        section = broken
        for each in path:
            section = section[each]
        del section[last]
        with pytest.raises(UserError, match=name):
            make_config(broken)


def test_whole_numbers_may_be_written_with_an_exponent(values):
    change(values, "environment_steps", 1e5)
    steps = make_config(values).environment_steps
    assert steps == 100_000
    assert isinstance(steps, int)


def test_config_is_frozen(values):
    config = make_config(values)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.planner.horizon = 3


def test_a_part_of_a_class_that_is_not_registered_is_an_error_that_names_it():
    @dataclasses.dataclass(frozen=True)
    class Hopeful(Greedy):
        pass

    config = dataclasses.replace(overrides.load([]), explore=Hopeful())
    with pytest.raises(
        UserError,
        match="explore must be one of .*greedy.*, got Hopeful; register its class",
    ):
        as_dict(config)
