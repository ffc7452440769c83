"""The gallery: films of agents with their commands, and what was measured, as pictures."""

import pathlib
import re
import shlex

import yaml

from agents.runs.records import read_scores
from docs.making import results
from results.answers import answer
from results.studies import commanded_runs
from results.suite_page.standings import default_transition, identity

_ABOUT = """# Gallery

Films of agents, and what was measured, each with the page that has its commands, commit and
hardware."""
_OF_FILMS = """## Films

Each is an evaluation episode at the end of a run, planned by averaged weights, their
means, without noise: one seed, as fast as it happens. The commands train today's default;
the suite's page says which runs are of an earlier agent."""
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]+\.png\)")
_SUITE = results.RESULTS / "suite"


def page():
    """The text, in Markdown; it lies beside the folder of the pages of results."""
    return "\n\n".join([_ABOUT, *_films(), "## Measured", *_measured()]) + "\n"


def films():
    """Dict of name -> file of each film; pages find it in the folder of static files."""
    return {file.name: file for file in sorted((_SUITE / "films").glob("*.mp4"))}


def _studies():
    return yaml.safe_load((results.RESULTS / "experiments.yaml").read_text())


def _films():
    """A title, and a figure for each film."""
    study = _studies()["suite"]
    words = {identity(each): each for each in commanded_runs(study["commands"])}
    shown = [_film(name, study["runs"], words) for name in films()]
    return [_OF_FILMS, *shown] if shown else []


def _film(name, root, words):
    """A film, its score and the commands that made it."""
    task, _, seed = name.removesuffix(".mp4").rpartition("_")
    run = pathlib.Path(task, default_transition(), seed)
    trained = shlex.join(["bayes-rl", "train", *words[task, default_transition(), seed]])
    return "\n\n".join(
        [
            f"### {task}",
            f'<video controls loop muted playsinline preload="metadata" width="240" '
            f'src="../_static/{name}"></video>',
            _score(_SUITE / "runs" / run),
            f"```text\n{trained}\nbayes-rl video {root}/{run}\n```",
        ]
    )


def _score(run):
    """Mean return of the last evaluation of a run, in words."""
    rows = read_scores(run)
    steps = max(row["environment_steps"] for row in rows)
    last = [row["return"] for row in rows if row["environment_steps"] == steps]
    mean = sum(last) / len(last)
    return f"Mean of {len(last)} evaluation episodes after {steps:,} steps: {mean:.0f}."


def _measured():
    """What each page of results found, and the first picture on it; the studies first."""
    studies, pages = _studies(), results.pages()
    paths = [f"{name}/README.md" for name in studies] + sorted(pages)
    return [
        _found(path, pages[path], studies.get(path.removesuffix("/README.md")))
        for path in dict.fromkeys(paths)
        if path in pages and path != "README.md"
    ]


def _found(path, text, study):
    """A title that leads to a page, its answer and its first picture."""
    title = text.splitlines()[0].removeprefix("# ")
    parts = [f"### [{title}](results/{path})"]
    if study:
        before = " With an earlier version of the agent." * ("agent" in study)
        found = answer((results.RESULTS / path).parent, study)
        parts.append(f"{study['question']} {found}{before}")
    parts += [_moved(picture, path) for picture in _PICTURE.findall(text)[:1]]
    return "\n\n".join(parts)


def _moved(picture, path):
    """A picture of a page as seen from the gallery."""
    folder = pathlib.Path("results", path).parent.as_posix()
    return re.sub(r"\]\(", f"]({folder}/", picture)
