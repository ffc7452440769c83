"""The small files of a study's runs, kept where its tables can be made anew from them."""

import gzip
import json
import pathlib
import shutil

import yaml

from agents.files import replacing_folder
from agents.runs.folder import read_config, runs_below
from agents.runs.records import METRICS, read_metrics, read_scores

_CONFIG = "config.yaml"
_FILES = ("scores.csv", "sessions.jsonl", "diverged.json")
_DIGITS = 5  # of a metric; curves show no more, and they cost a third of the space


def collect(root, folder):
    """Copies the small files of runs that were evaluated, whether finished or not.

    A run that came less far than its copy leaves that alone: another machine may have
    begun it anew. The config of a copy names a folder below `root` as that is given: where
    a run lay on one machine tells others nothing.

    Args:
        root: folder that holds runs; it need not be there.
        folder: `pathlib.Path` that keeps them, `<task>/<transition>/<seed>`.

    Returns:
        The folders of all copies, those of earlier calls among them.
    """
    for run in runs_below(root):
        config = read_config(run)
        kept = folder / config["task"] / config["transition"] / str(config["seed"])
        steps = _steps(run)
        if read_scores(run) and steps >= _steps(kept):
            name = kept.relative_to(folder).as_posix()
            _copy(run, kept, config | {"logdir": f"{root}/{name}"})
    return list(runs_below(folder))


def _steps(run):
    return max((row["environment_steps"] for row in read_metrics(run)), default=0)


def _copy(run, kept, config):
    kept.parent.mkdir(parents=True, exist_ok=True)
    with replacing_folder(kept) as folder:
        (folder / _CONFIG).write_text(yaml.safe_dump(config, sort_keys=False))
        for name in _FILES:
            if (run / name).exists():
                shutil.copy(run / name, folder)
        rows = (map(_round, row.items()) for row in read_metrics(pathlib.Path(run)))
        text = "".join(json.dumps(dict(row)) + "\n" for row in rows)
        # without the time the same run gives the same bytes
        packed = gzip.compress(text.encode(), mtime=0)
        (folder / f"{METRICS}.gz").write_bytes(packed)


def _round(pair):
    name, value = pair
    short = float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
    return name, short
