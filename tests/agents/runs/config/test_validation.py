"""Tests of agents.runs.config.validation with a schema of their own."""

import dataclasses

import pytest

from agents.runs.config.validation import check_key, validate
from agents.system.errors import UserError, nearest
from agents.system.settings import Settings, key


@dataclasses.dataclass(frozen=True)
class Inner(Settings):
    size: int = key(least=1)


@dataclasses.dataclass(frozen=True)
class Schema(Settings):
    rate: float = key(above=0, most=1)
    share: float = key(least=0, below=1)
    kind: str = key(choices=("left", "right"))
    limit: int | None = key(least=1)
    inner: Inner = key()


@dataclasses.dataclass(frozen=True)
class Round(Settings):
    radius: float = key(above=0)


@dataclasses.dataclass(frozen=True)
class Square(Settings):
    width: float = key(above=0)

    def __post_init__(self):
        super().__post_init__()
        if self.width == 13:
            raise UserError("width must bring luck, got 13")


@dataclasses.dataclass(frozen=True)
class Holder(Settings):
    form: Round | Square = key(kinds={"round": Round, "square": Square})


GOOD = {"rate": 0.5, "share": 0, "kind": "left", "limit": None, "inner": {"size": 2}}


def make(**changes):
    return validate(Schema, GOOD | changes)


def test_values_take_the_types_of_the_schema():
    made = make(rate=1, limit=3.0)
    assert made == Schema(1.0, 0.0, "left", 3, Inner(2))
    assert isinstance(made.rate, float)
    assert isinstance(made.limit, int)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 0}, "rate must be above 0, got 0.0"),
        ({"rate": 1.5}, "rate must be at most 1, got 1.5"),
        ({"share": 1}, "share must be below 1, got 1.0"),
        ({"share": -1}, "share must be at least 0, got -1.0"),
        ({"rate": float("nan")}, "rate must be a number, got nan"),
        ({"rate": "fast"}, "rate must be a number, got 'fast'"),
        ({"limit": 2.5}, "limit must be a whole number, got 2.5"),
        ({"limit": True}, "limit must be a whole number, got True"),
        (
            {"kind": "rght"},
            "kind must be left or right, got 'rght'; did you mean 'right'?",
        ),
        ({"inner": 3}, "inner is a group: set its keys (inner.key=value), got 3"),
        ({"inner": {"size": 0}}, "inner.size must be at least 1, got 0"),
        ({"inner": {}}, "inner.size is missing"),
        ({"rat": 1}, "there is no key 'rat'; did you mean 'rate'?"),
        ({"inner": {"sze": 1}}, "there is no key 'inner.sze'; did you mean 'inner.size'?"),
    ],
)
def test_mistakes_are_named_in_one_line(change, message):
    with pytest.raises(UserError) as error:
        make(**change)
    assert str(error.value) == message


def test_kind_tells_which_class_is_built():
    made = validate(Holder, {"form": {"kind": "square", "width": 2}})
    assert made == Holder(Square(2.0))


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"width": 2}, "form.kind is missing"),
        (
            {"kind": "squared", "width": 2},
            "form.kind must be round or square, got 'squared'; did you mean 'square'?",
        ),
        ({"kind": ["square"], "width": 2}, "form.kind must be round or square, got ['squ"),
        ({"kind": "square", "radius": 2}, "there is no key 'form.radius'; bayes-rl train "),
        ({"kind": "square", "width": 0}, "form.width must be above 0, got 0.0"),
        ({"kind": "square", "width": 13}, "form.width must bring luck, got 13"),
        ("round", "form is a group: set its keys (form.key=value), got 'round'"),
    ],
)
def test_what_is_wrong_in_one_of_several_kinds_is_named_in_one_line(form, message):
    with pytest.raises(UserError) as error:
        validate(Holder, {"form": form})
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("c.xyz", "bayes-rl train --help has them all"),
        ("c.wdth", "did you mean 'c.width'?"),
        ("width", "did you mean 'c.width'?"),
        ("d.width", "did you mean 'c.width'?"),
        ("widtt", "did you mean 'c.width'?"),
        ("see", "did you mean 'seed'?"),
    ],
)
def test_hint_is_near_in_more_than_its_section(name, hint):
    with pytest.raises(UserError) as error:
        check_key(name, ["seed", "c", "c.width", "c.height"])
    assert str(error.value) == f"there is no key {name!r}; {hint}"


def test_hint_names_all_sections_that_have_such_a_key():
    with pytest.raises(UserError, match=r"did you mean 'a\.rate' or 'b\.rate'\?"):
        check_key("rate", ["a.rate", "b.rate", "b.size"])


def test_no_number_is_near_another():
    assert nearest(48, ["32", "64"]) == ""


def test_nearest_is_silent_when_nothing_is_near():
    assert nearest("xyz", ["left", "right"]) == ""
