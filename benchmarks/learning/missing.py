"""Which runs of a study are missing, as commands."""

import pathlib
import shlex

from agents.runs.config.overrides import load
from benchmarks.learning.packed import read_runs
from benchmarks.learning.packing import has_all_steps
from benchmarks.learning.studies import commanded_runs


def missing(folder, study):
    """A command for each run that is not finished, the first seeds of all groups first.

    A run that is packed and finished does not run again where its folder is gone.

    Args:
        folder: `pathlib.Path`, `results/<name>`.
        study: its entry in experiments.yaml.
    """
    root = pathlib.Path(study["runs"])
    left, packed = [], read_runs(folder)
    for words in commanded_runs(study["commands"]):
        config = load(words)
        name = pathlib.Path(config.logdir).relative_to(root)
        steps = packed.get(name.as_posix(), {}).get("steps", 0)
        is_packed = steps >= config.environment_steps
        if not (is_packed or has_all_steps(root / name, config.environment_steps)):
            left.append((config.seed, shlex.join(["bayes-rl", "train", *words])))
    left.sort(key=lambda pair: pair[0])
    return [command for _, command in left]
