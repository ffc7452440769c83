"""Makes results/ from finished runs: tables, curves and where they come from.

python -m results             # README.md from all that was measured
python -m results parity      # its part anew, from its runs; without runs, the commands
"""

import argparse
import dataclasses
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import tempfile

import yaml
from rich.console import Console

from agents.compare import compare
from agents.config.overrides import expand
from agents.figures.curves import plot
from agents.runs.folder import load_config, read_config, runs_below
from agents.runs.following import is_finished
from agents.runs.grouping import group
from results.summary import summarize
from results.tables import readme

_ABOUT = __doc__.splitlines()[0]
_FOLDER = pathlib.Path(__file__).parent
_FILMS = ("open_loop_*.png", "episode_*_strip.png")
_FIGURES = ("probe_*.png", "calibration.png")


def make(name, experiment):
    """Writes `results/<name>/` anew: figures, tables and summary.json.

    Args:
        name: of the experiment.
        experiment: its entry in experiments.yaml.

    Raises:
        SystemExit: no run of it is finished; the message gives the commands.
    """
    runs = finished_runs(experiment["runs"])
    if not runs:
        commands = "\n".join(f"  {command}" for command in experiment["commands"])
        raise SystemExit(
            f"no finished runs in {experiment['runs']}; make them with\n{commands}"
        )
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place) / name
        folder.mkdir()
        _fill(folder, experiment, runs)
        shutil.rmtree(_FOLDER / name, ignore_errors=True)
        shutil.move(folder, _FOLDER / name)


def _fill(folder, experiment, runs):
    """Writes all that there is of an experiment into an empty folder."""
    plot(runs, folder / "training")
    with open(os.devnull, "w") as nowhere:
        compare(runs, folder, Console(file=nowhere))
    for picture_name, picture in pictures(experiment["runs"], runs).items():
        shutil.copy(picture, folder / picture_name)
    for run in runs:
        for file in run.glob("planners.*"):
            shutil.copy(file, folder)
    summary = {key: experiment[key] for key in ("title", "about", "commands")}
    summary["runs"] = {"finished": len(runs), "of": commanded_runs(experiment["commands"])}
    summary |= summarize(runs, folder / "evaluations.csv")
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


def finished_runs(root):
    """The folders of the runs below a folder; one that is not finished is left out.

    One that has just begun would have all others compared at its few steps.
    """
    finished = []
    for run in runs_below(root):
        config = dataclasses.replace(load_config(run), logdir=str(run))
        if is_finished(config):
            finished.append(run)
        else:
            print(f"left out, not finished: {run}")
    return finished


def commanded_runs(commands):
    """How many runs the commands of an experiment make."""
    words = [
        shlex.split(each)[2:] for each in commands if each.startswith("bayes-rl train")
    ]
    return sum(len(expand(each[1:])) if each[0] == "-m" else 1 for each in words)


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


def main(arguments=None):
    experiments = yaml.safe_load((_FOLDER / "experiments.yaml").read_text())
    parser = argparse.ArgumentParser("python -m results", description=_ABOUT)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(experiments))
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(experiments)
    if unknown:
        parser.error(f"no experiment {min(unknown)!r}; there are {', '.join(experiments)}")
    for name in options.names:
        make(name, experiments[name])
    (_FOLDER / "README.md").write_text(readme(_FOLDER, experiments))


if __name__ == "__main__":
    main()
