"""The gallery shows films with their commands, and what each study found."""

import csv
import shlex

import pytest

from agents.config import overrides
from docs.making import gallery, results


@pytest.fixture(scope="module")
def page():
    return gallery.page()


def test_every_page_of_results_is_shown(page):
    for path in results.pages():
        assert path == "README.md" or f"](results/{path})" in page


def test_pictures_are_where_the_page_says(page):
    shown = gallery._PICTURE.findall(page)
    assert any("results/suite/curves.png" in picture for picture in shown)
    for picture in shown:
        path = picture.rpartition("](results/")[2].removesuffix(")")
        assert (results.RESULTS / path).exists(), path


def test_a_film_has_its_score_and_the_commands_that_made_it(page):
    assert "cheetah_run_0.mp4" in gallery.films()
    part = page.partition("### cheetah_run\n")[2].partition("\n### ")[0]
    assert 'src="../_static/cheetah_run_0.mp4"' in part
    kept = "suite/runs/cheetah_run/reparameterization/0/scores.csv"
    rows = list(csv.DictReader((results.RESULTS / kept).read_text().splitlines()))
    last = [float(row["return"]) for row in rows if row["environment_steps"] == "100000"]
    mean = sum(last) / 10
    assert f"Mean of 10 evaluation episodes after 100,000 steps: {mean:.0f}." in part
    train, video = part.partition("```text\n")[2].partition("\n```")[0].splitlines()
    folder = overrides.load(shlex.split(train)[2:]).logdir
    assert video == f"bayes-rl video {folder}"
