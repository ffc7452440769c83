"""The page of scale is made of the numbers beside it."""

import pathlib
import shutil

from benchmarks.scale import page
from benchmarks.scale.costs import Costs
from benchmarks.scale.simulation import Layout, Outcome

RESULTS = pathlib.Path(page.__file__).parents[2] / "results"


def test_the_page_of_this_repository_stands_as_it_is_made(tmp_path):
    shutil.copy(RESULTS / "scale.json", tmp_path)
    page.remake(tmp_path)
    assert (tmp_path / "scale.md").read_text() == (RESULTS / "scale.md").read_text()


COSTS = Costs(
    decision={1: 0.006},
    step={1: 0.002},
    episode_steps=10,
    action_repeat=8,
    pack=0.0,
    hand=0.0,
    write=0.0,
    send=0.0,
    receive=0.0,
    train={1: 0.02},
    save=0.0,
    weights=2_000_000,
    gradients=1_000_000,
)


def test_the_fewest_actors_near_the_highest_speed_are_named(tmp_path):
    speeds = {1: 50.0, 2: 95.0, 4: 100.0}
    busy = {"actors": 1.0, "learners": 0.5}
    outcomes = [(Layout(n, updates=10), Outcome(v, 3.0, busy)) for n, v in speeds.items()]
    page.write_page(tmp_path, "Scale", {"date": "today"}, COSTS, [], outcomes)
    text = (tmp_path / "scale.md").read_text()
    assert "\n| 10 | 1 | 2 | 100 | actors, 100% |\n" in text.partition("<details>")[0]
    assert "one learner needs 2 actors at 10 updates an episode (a gradient step" in text
    assert "takes 20.00 ms, a decision 6.00 ms)" in text
    assert (tmp_path / "scale.png").exists()
