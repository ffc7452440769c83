"""The tables of the page on environments: each row is tried."""

import sys
import types

import gymnasium
import numpy as np
import pytest
from dm_env import StepType

import envs
from docs.keeping import ROOT
from tests.envs.simulations.test_own import Counter, DmCounter, OldCounter, space
from tests.envs.test_checking import SEEN, box, dm, play, raising, returning, step

PAGE = (ROOT / "docs" / "tutorials" / "own_environment.md").read_text()
SPACES = gymnasium.spaces
CAMERA = SPACES.Box(0.0, 1.0, [16, 16, 3])
PARTS = SPACES.Dict(a=SPACES.Box(-1.0, 1.0, [1]), b=SPACES.Box(-1.0, 1.0, [1]))


def rows(heading):
    """Pairs of the cells of a table."""
    table = PAGE.partition(f"\n{heading}\n| --- | --- |\n")[2].partition("\n\n")[0]
    return [tuple(map(str.strip, row.split("|")[1:3])) for row in table.splitlines()]


def given(**attributes):
    return Counter, attributes


WRONG = {
    "is not from one of these libraries": (object, {}),
    "is several in one (`VectorEnv`)": given(single_action_space=None),
    "has no entry of a chosen name": given(observation_space=PARTS),
    "observes images, with `observation=state`": given(observation_space=CAMERA),
    "observes text": given(observation_space=SPACES.Text(3)),
    "observes four channels": given(observation_space=space((90, 90, 4), np.uint8)),
    "observes nothing": given(observation_space=SPACES.Dict({})),
    "has actions in a `Dict`": given(action_space=PARTS),
    "has integers without bounds as actions": given(action_space=space((1,), int)),
    "has 2,000 categories": given(action_space=SPACES.Discrete(2000)),
    "has NaN as a bound of actions": given(action_space=box(np.nan, 1.0)),
    "gives an entry of another size": given(
        observation_space=PARTS, reset=returning(({"a": np.zeros(2), "b": np.zeros(0)}, {}))
    ),
    "gives NaN or infinity": (Counter, step(seen=np.array([np.inf, 0]))),
    "gives more than 1e15": (Counter, step(1e16)),
    "gives 0 to 255 where its space says 0 to 1": given(
        observation_space=CAMERA, reset=returning((np.full([16, 16, 3], 255.0), {}))
    ),
    "gives a reward that is not a number": (Counter, step(None)),
    "gives None for `terminated`": (Counter, step(ends=(None, False))),
    "gives a discount above 1": (DmCounter, dm(StepType.LAST, 1.0, 2.0, SEEN)),
    "gives three values from `step`": given(step=returning((SEEN, 1.0, False))),
    "raises an error": given(step=raising(KeyError("arm"))),
    "has a limit of 0 steps": given(spec=types.SimpleNamespace(max_episode_steps=0)),
}
REAL, CUT = "a real end", "a time limit"
CUT_INFO = {"TimeLimit.truncated": True}
ENDS = {
    "gymnasium: `terminated` is true": (Counter, step(ends=(True, False))),
    "gymnasium: `truncated` alone is true": (Counter, step(ends=(False, True))),
    "gym (0.23): `done` is true": (OldCounter, step(ends=(True,))),
    'gym (0.23): `done` is true, `info["TimeLimit.truncated"]` too': (
        OldCounter,
        step(ends=(True,), info=CUT_INFO),
    ),
    "dm_env: `dm_env.termination`": (DmCounter, dm(StepType.LAST, 1.0, 0.0, SEEN)),
    "dm_env: `dm_env.truncation`": (DmCounter, dm(StepType.LAST, 1.0, 1.0, SEEN)),
    "the step at which a wrapper `TimeLimit`, or `time_limit=`, cuts the episode": given(),
}


@pytest.fixture
def load(monkeypatch):
    def make(kind, attributes, **settings):
        other = type("Other", (kind,), attributes)
        monkeypatch.setitem(sys.modules, "own_module", types.SimpleNamespace(make=other))
        return envs.load("python:own_module:make", **settings)

    return make


def test_every_row_is_tried():
    assert [row for row, _ in rows("| the environment | the message has |")] == [*WRONG]
    assert [row for row, _ in rows("| what comes back | it is |")] == [*ENDS]


@pytest.mark.parametrize(("row", "words"), rows("| the environment | the message has |"))
def test_what_is_refused_is_so_by_the_words_of_the_page(load, row, words):
    others = {"gives 0 to 255 where its": "auto", "has no entry of a chosen": "c"}
    observation = others.get(row[:24], "state")
    with pytest.raises((ValueError, RuntimeError)) as caught:
        play(load(*WRONG[row], observation=observation))
    assert words.strip("`") in str(caught.value)


@pytest.mark.parametrize(("row", "kind"), rows("| what comes back | it is |"))
def test_an_end_is_what_the_page_says(load, row, kind):
    limit = {"time_limit": 1} if row.endswith("cuts the episode") else {}
    last = play(load(*ENDS[row], **limit))
    assert last.is_last()
    assert float(last.discount) == {REAL: 0.0, CUT: 1.0}[kind]
