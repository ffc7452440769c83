"""The gallery: films of agents with their commands, and what was measured, as pictures."""

import functools
import html
import pathlib
import re
import shlex

import yaml

from agents.study.compare.report import FEW, FEWEST_SEEDS
from benchmarks.learning.answers import ONE, answer
from benchmarks.learning.packed import read_curves
from benchmarks.learning.studies import commanded_runs
from benchmarks.learning.suite.standings import EARLIER, STEPS, TODAY, identity
from docs.making import results

_ABOUT = "# Gallery\n\nFilms of trained agents, and what was measured."
_OF_FILMS = f"""## Films

Each film shows one evaluation episode, at real speed. One agent was trained for each task:
{STEPS:,} environment steps, one seed. It plans with the mean of its weights and adds no
noise. The score is the mean return of the last evaluation; 1000 is the most. The best score
comes first.

The commands train today's agent. Some films are of an earlier agent:
[the suite's page](results/suite/README.md) says which."""
_OF_STUDIES = f"""## Measured

Each title leads to a page with all numbers, the commands, the commit and the machine.
Brackets hold 95 % intervals over seeds. {FEW} marks fewer than {FEWEST_SEEDS} seeds, {ONE}
one seed."""
_FILM = """::::{{container}} film
:name: film-{stem}

<video controls loop muted playsinline preload="metadata" src="../_static/{stem}.mp4">
</video>

**{task}** {score}

<details><summary>Commands</summary><pre>{commands}</pre></details>
::::"""
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]+\.png\)")
_SUITE = results.RESULTS / "suite"


def page():
    """The text, in Markdown; it lies beside the folder of the pages of results."""
    return "\n\n".join([_ABOUT, *_films(), _OF_STUDIES, *_measured()]) + "\n"


def films():
    """Dict of name -> file of each film; pages find it in the folder of static files."""
    return {file.name: file for file in sorted((_SUITE / "films").glob("*.mp4"))}


def _studies():
    return yaml.safe_load((results.RESULTS / "experiments.yaml").read_text())


def _films():
    """A title, and a grid of films, the best score first."""
    study = _studies()["suite"]
    words = {identity(each): each for each in commanded_runs(study["commands"])}
    best_first = sorted(films(), key=lambda name: -_score(_last(name)))
    shown = [_film(name, study["runs"], words[_run(name)]) for name in best_first]
    grid = "\n\n".join([":::::{container} films", *shown, ":::::"])
    return [_OF_FILMS, grid] if shown else []


def _run(name):
    """(task, transition, seed) of the run that a film shows."""
    task, _, seed = name.removesuffix(".mp4").rpartition("_")
    run = task, EARLIER, seed
    return run if "/".join(run) in _curves() else (task, TODAY, seed)


def _film(name, root, words):
    """A film, its score and the commands that made it."""
    run, last = _run(name), _last(name)
    train, folder = shlex.join(["bayes-rl", "train", *words]), "/".join([root, *run])
    return _FILM.format(
        stem=name.removesuffix(".mp4"),
        task=run[0],
        score=f"{_score(last):.0f}, mean of {len(last)} episodes",
        commands=html.escape(f"{train}\nbayes-rl video {folder}", quote=False),
    )


def _last(name):
    """Returns of the last evaluation of the run that a film shows."""
    _, rows = _curves()["/".join(_run(name))]
    steps = max(row["environment_steps"] for row in rows)
    return [row["return"] for row in rows if row["environment_steps"] == steps]


@functools.cache
def _curves():
    return read_curves(_SUITE)


def _score(returns):
    return sum(returns) / len(returns)


def _measured():
    """What each page found, and its first picture; then pages that have neither."""
    studies, pages = _studies(), results.pages()
    paths = dict.fromkeys([f"{name}/README.md" for name in studies] + sorted(pages))
    shown, others = [], ["### More tables\n"]
    for path in paths:
        if path in pages and path != "README.md":
            link = f"[{pages[path].splitlines()[0].removeprefix('# ')}](results/{path})"
            found = _found(path, pages[path], studies.get(path.removesuffix("/README.md")))
            shown += [f"### {link}", *found] if found else []
            others += [] if found else [f"- {link}"]
    return [*shown, "\n".join(others)]


def _found(path, text, study):
    """The question and the answer of a page, and its first picture, where it has them."""
    parts = []
    if study:
        found = answer((results.RESULTS / path).parent, study)
        before = " This was an earlier version of the agent." * ("agent" in study)
        parts += [f"*{study['question']}*", f"{found}{before}"]
    return parts + [_moved(picture, path) for picture in _PICTURE.findall(text)[:1]]


def _moved(picture, path):
    """A picture of a page as seen from the gallery."""
    folder = pathlib.PurePosixPath("results", path).parent
    return picture.replace("](", f"]({folder}/")
