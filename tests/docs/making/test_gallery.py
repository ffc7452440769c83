"""The gallery shows films with their commands, and what each study found."""

import html
import re
import shlex

import pytest

from agents.runs.config import overrides
from benchmarks.learning.packed import read_curves
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


def part(page, film):
    """What the page has of a film."""
    return page.partition(f":name: film-{film}\n")[2].partition("\n::::")[0]


def test_a_film_has_its_score_and_the_commands_that_made_it(page):
    assert "cheetah_run_0.mp4" in gallery.films()
    shown = part(page, "cheetah_run_0")
    assert 'src="../_static/cheetah_run_0.mp4"' in shown
    curves = read_curves(results.RESULTS / "suite")
    _, rows = curves["cheetah_run/reparameterization/0"]
    last = [row["return"] for row in rows if row["environment_steps"] == 100_000]
    assert f"**cheetah_run** {sum(last) / 10:.0f}, mean of 10 episodes\n" in shown
    commands = html.unescape(shown.partition("<pre>")[2].partition("</pre>")[0])
    train, video = commands.splitlines()
    folder = overrides.load(shlex.split(train)[2:]).logdir
    assert video == f"bayes-rl video {folder}"


def test_the_best_film_comes_first(page):
    scores = [
        int(score) for score in re.findall(r"^\*\*\w+\*\* (\d+), ", page, re.MULTILINE)
    ]
    assert len(scores) == len(gallery.films()) > 10
    assert scores == sorted(scores, reverse=True)
