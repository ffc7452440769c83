"""Which runs of a study are missing, as commands."""

import pathlib
import shlex

from agents.config.overrides import load
from benchmarks.learning.collected import KEPT, has_all_steps
from benchmarks.learning.studies import commanded_runs


def missing(folder, study):
    """A command for each run that is not finished, the first seeds of all groups first.

    A run of which a finished copy is kept does not run again where its folder is gone.

    Args:
        folder: `pathlib.Path`, `results/<name>`.
        study: its entry in experiments.yaml.
    """
    root = pathlib.Path(study["runs"])
    left = []
    for words in commanded_runs(study["commands"]):
        config = load(words)
        name = pathlib.Path(config.logdir).relative_to(root)
        places = (root / name, folder / KEPT / name)
        if not any(has_all_steps(run, config.environment_steps) for run in places):
            left.append((config.seed, shlex.join(["bayes-rl", "train", *words])))
    left.sort(key=lambda pair: pair[0])
    return [command for _, command in left]
