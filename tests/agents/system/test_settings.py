"""Tests of agents.system.settings: what is built with plain arguments, as in a notebook."""

import dataclasses

import numpy as np
import pytest

from agents.system.settings import Settings, check_settings, key


@dataclasses.dataclass(frozen=True)
class Wheel(Settings):
    spokes: int = key(least=3, below=100)
    radius: float = key(above=0, most=1)
    tyre: str = key(choices=("rubber", "iron"))
    load: float | None = key(least=0)
    is_front: bool = key()


GOOD = {"spokes": 5, "radius": 0.5, "tyre": "iron", "load": None, "is_front": True}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("spokes", 2, "spokes must be at least 3, got 2"),
        ("spokes", 100, "spokes must be below 100, got 100"),
        ("spokes", 4.5, "spokes must be a whole number, got 4.5"),
        ("radius", 0, "radius must be above 0, got 0.0"),
        ("radius", 2, "radius must be at most 1, got 2.0"),
        ("radius", float("inf"), "radius must be a number, got inf"),
        ("tyre", "irn", "tyre must be rubber or iron, got 'irn'; did you mean 'iron'?"),
        ("load", -1, "load must be at least 0, got -1.0"),
        ("is_front", None, "is_front must be true or false, got nothing"),
    ],
)
def test_a_wrong_argument_is_a_value_error_that_names_it(name, value, message):
    with pytest.raises(ValueError, match="must be") as error:
        Wheel(**GOOD | {name: value})
    assert str(error.value) == message
    with pytest.raises(ValueError, match="must be"):
        dataclasses.replace(Wheel(**GOOD), **{name: value})


def test_numbers_take_the_type_of_their_field():
    wheel = Wheel(**GOOD | {"spokes": np.int64(4), "radius": 1, "load": np.float32(2)})
    assert [type(each) for each in (wheel.spokes, wheel.radius, wheel.load)] == [
        int,
        float,
        float,
    ]
    assert wheel == Wheel(4, 1.0, "iron", 2.0, True)


def test_settings_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Wheel(**GOOD).spokes = 4


def test_a_class_whose_fields_would_not_check_themselves_is_refused():
    class Bare(Settings):
        spokes: int = key(least=3)

    @dataclasses.dataclass(frozen=True)
    class Alone:
        spokes: int

    @dataclasses.dataclass(frozen=True)
    class Open(Settings):
        spokes: int

    check_settings(Wheel, "wheel")
    for kind, message in (
        (
            Bare,
            "wheel must be a dataclass: @dataclasses.dataclass(frozen=True) goes before ",
        ),
        (type("Heir", (Wheel,), {"spokes": key(least=4)}), "must be a dataclass"),
        (
            Alone,
            "wheel must be a subclass of agents.system.settings.Settings, which checks ",
        ),
        (
            Open,
            "spokes of wheel must have a range from agents.system.settings.key, such as ",
        ),
    ):
        with pytest.raises(ValueError, match="wheel") as error:
            check_settings(kind, "wheel")
        assert message in str(error.value)
