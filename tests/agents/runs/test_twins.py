"""Tests of agents.runs.twins."""

import pytest
import yaml

from agents.config import overrides
from agents.config.schema import as_dict
from agents.errors import UserError
from agents.runs.twins import check_same_observations


@pytest.fixture
def make_folder(tmp_path):
    """Makes the folder of a run that has only its config."""

    def make(name, *words):
        folder = tmp_path / name
        folder.mkdir()
        config = as_dict(overrides.load(["experiment=debug", *words]))
        (folder / "config.yaml").write_text(yaml.safe_dump(config))
        return folder

    return make


def test_a_run_of_another_transition_and_seed_predicts_the_same(make_folder):
    twin = make_folder("twin", "transition=deterministic", "seed=3")
    check_same_observations(make_folder("run"), twin)


@pytest.mark.parametrize(
    ("word", "difference"),
    [
        ("observation=position", "observation is position instead of state"),
        ("image.size=32", "image.size is 32 instead of 64"),
    ],
)
def test_what_two_runs_do_not_share_is_named(make_folder, word, difference):
    run, other = make_folder("run"), make_folder("other", word)
    with pytest.raises(UserError) as error:
        check_same_observations(run, other)
    assert str(error.value) == (
        f"{other} does not predict the observations of {run}: {difference}"
    )
