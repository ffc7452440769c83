"""Runs of earlier versions: their config.yaml in today's form, once and for all."""

import pathlib

from agents.runs.config.resolving import open_keys
from agents.runs.config.schema import as_dict
from agents.runs.earlier import is_earlier, updated
from agents.runs.folder import Run, as_text, checked, read_values
from agents.runs.records import read_metrics
from agents.system.files import replacing, write_text
from agents.system.locking import lock_folder


def migrate(folder, resolve):
    """Writes the config of a run anew, if an earlier version wrote it.

    Whenever the process is killed, config.yaml is either the old one or the new one, and
    an old one that was replaced lies beside it: its path is returned, or None where the
    config is of today's form, and nothing was written. `resolve` makes of a `Train` that
    leaves keys open one that does not.

    Raises:
        UserError: the folder is not that of a run; its config.yaml is damaged, or has
            values that no version knows; an `InUseError`, where a process trains the run.
    """
    run = Run(pathlib.Path(folder))
    if not is_earlier(read_values(folder)):
        return None
    with lock_folder(run.folder, "migrate the run once that ends"):
        values = read_values(folder)
        if not is_earlier(values):  # another process was faster
            return None
        config = checked(folder, updated(values, *_episode_steps(folder)))
        if open_keys(as_dict(config)):
            config = resolve(config)
        kept = _keep(run.config_file)
        write_text(run.config_file, as_text(config))
    return kept


def _episode_steps(folder):
    """The mean environment steps of a run's episodes, a list; empty if it has none."""
    rows = read_metrics(folder)[-1:]
    return [row["environment_steps"] / row["episodes"] for row in rows]


def _keep(file):
    """Copies a file beside itself, under a name that no other text has."""
    text, number = file.read_bytes(), 1
    while True:
        more = f".{number}" if number > 1 else ""
        kept = file.with_name(f"{file.stem}.earlier{more}{file.suffix}")
        if not kept.exists():
            with replacing(kept) as handle:
                handle.write(text)
        if kept.read_bytes() == text:
            return kept
        number += 1
