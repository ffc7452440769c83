"""Makes the folder of a study from its finished runs."""

import contextlib
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil

from rich.console import Console

from agents.compare import compare
from agents.config.overrides import expand
from agents.figures.curves import plot
from agents.files import replacing_folder
from agents.runs.folder import read_config, runs_below
from agents.runs.grouping import group
from benchmarks.learning.collected import KEPT, collect, has_all_steps
from benchmarks.learning.pages import shown_pictures
from benchmarks.learning.summary import summarize

_FILMS = ("open_loop_*.png", "episode_*_strip.png")
_FIGURES = ("probe_*.png", "calibration.png")


def make(folder, study):
    """Writes the folder of a study anew: figures, tables and summary.json.

    It is made of copies of the runs, which the folder keeps; those of earlier calls stay
    where the runs are gone, and so do pictures of those.

    Args:
        folder: `pathlib.Path`, `results/<name>`.
        study: its entry in experiments.yaml.

    Raises:
        SystemExit: no run of it is finished; the message gives the commands.
    """
    copies = collect(study["runs"], folder / KEPT)
    names = [copy.relative_to(folder) for copy in finished_runs(copies)]
    if not names:
        commands = "\n".join(f"  {command}" for command in study["commands"])
        raise SystemExit(f"no finished runs in {study['runs']}; make them with\n{commands}")
    with replacing_folder(folder) as new:
        shutil.copytree(folder / KEPT, new / KEPT)
        _fill(new, study, names)
        _carry_over(folder, new, study)


def _fill(folder, study, names):
    """Writes what a study shows beside the copies of its runs."""
    plot([folder / name for name in names], folder / "training")
    with open(os.devnull, "w") as nowhere, contextlib.chdir(folder):
        compare(names, ".", Console(file=nowhere))  # tables name runs as they are given
    originals = [run for run in runs_below(study["runs"]) if has_all_steps(run)]
    for picture_name, picture in pictures(study["runs"], originals).items():
        shutil.copy(picture, folder / picture_name)
    keep_shown(folder, study["pictures"])
    runs = [folder / name for name in names]
    summary = {"commands": study["commands"]}
    summary["runs"] = {"finished": len(runs), "of": len(commanded_runs(study["commands"]))}
    summary |= summarize(runs, folder)
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


def _carry_over(before, folder, study):
    """Takes pictures of runs that are gone from the folder of before."""
    for copy in runs_below(folder / KEPT):
        name = copy.relative_to(folder / KEPT)
        if not (pathlib.Path(study["runs"]) / name).exists():
            own = "_".join([*name.parts, ""])
            for picture in shown_pictures(before, study["pictures"]):
                if picture.name.startswith(own):
                    shutil.copy(picture, folder)


def keep_shown(folder, patterns):
    """Removes the pictures that a study does not show.

    Args:
        folder: of the study.
        patterns: of the names of those that it shows.
    """
    for picture in {*folder.rglob("*.png")} - {*shown_pictures(folder, patterns)}:
        picture.unlink()
    with contextlib.suppress(OSError):  # it is not there, or not empty
        (folder / "training").rmdir()


def finished_runs(runs):
    """Those of the runs that are finished.

    One that has just begun would have all others compared at its few steps.
    """
    for run in runs:
        if not has_all_steps(run):
            print(f"left out, not finished: {run}")
    return [run for run in runs if has_all_steps(run)]


def commanded_runs(commands):
    """The words of each run that the commands of a study make.

    Example:
        >>> commanded_runs(["bayes-rl train -m --jobs 2 seed=0,1", "bayes-rl probe RUN"])
        [['seed=0'], ['seed=1']]
    """
    found = []
    for command in commands:
        program, *words = shlex.split(command)
        if program == "bayes-rl" and words[0] == "train":
            found += expand([word for word in words if "=" in word])
    return found


def pictures(root, runs):
    """What shows one run: the first of each group of seeds.

    The newest open-loop picture and strip of an episode, and those of probes and of
    calibration.

    Args:
        root: folder that holds all runs, or is the only one.
        runs: their folders.

    Returns:
        Dict of a name that tells the run -> file.
    """
    configs = [read_config(run) for run in runs]
    found = {}
    for run in (runs[indices[0]] for indices in group(configs)):
        films = [
            sorted(run.glob(f"videos/{name}"), key=_environment_steps)[-1:]
            for name in _FILMS
        ]
        figures = [sorted(run.glob(f"figures/{name}")) for name in _FIGURES]
        for file in itertools.chain(*films, *figures):
            found["_".join([*run.relative_to(root).parts, file.name])] = file
    return found


def _environment_steps(file):
    """The number in a name such as open_loop_20000_strip; copies keep it, unlike times."""
    return int(re.search(r"\d+", file.stem)[0])
