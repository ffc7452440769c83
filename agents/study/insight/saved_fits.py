"""The file of a run that says how its forecasts are recalibrated."""

import dataclasses
import json
import pathlib

import numpy as np

from agents.study.insight.recalibration import Recalibration
from agents.system.errors import UserError
from agents.system.files import write_text

FILE = "recalibration.json"
_LATEST = "widening"  # what earlier versions did not save


def save(fits, folder, steps):
    """Writes fits to the folder of a run, as one readable file.

    They are a dict of who acts, `policy` or `random`, -> `Recalibration`, or None, of a
    model that had seen so many environment steps: they are of no other.
    """
    values = {"environment_steps": steps}
    for actions, found in fits.items():
        if found is not None:
            values[actions] = {
                name: value if np.ndim(value) == 0 else _six_digits(value).tolist()
                for name, value in vars(found).items()
            }
    write_text(pathlib.Path(folder) / FILE, json.dumps(values, indent=1) + "\n")


@np.vectorize
def _six_digits(value):
    return float(f"{value:.6g}")


def newest(folders, steps, actions):
    """As `load`, of the first of some folders that has such a fit."""
    found = (load(folder, steps, actions) for folder in folders)
    return next((fit for fit in found if fit is not None), None)


def load(folder, steps, actions):
    """A fit that `save` wrote of a model that has seen so many environment steps.

    None where there is none, or one of another time, or of an earlier version, which fitted
    otherwise. A `UserError`: the file is damaged.
    """
    file = pathlib.Path(folder) / FILE
    if not file.exists():
        return None
    try:
        values = json.loads(file.read_text())
        if values["environment_steps"] != steps or _LATEST not in values.get(actions, {}):
            return None
        names = (field.name for field in dataclasses.fields(Recalibration))
        draws, *others = (values[actions][name] for name in names)
        return Recalibration(draws, *map(np.array, others))
    except (ValueError, KeyError, TypeError):
        raise UserError(
            f"{file} is damaged; remove it, or write it again: bayes-rl calibrate {folder}"
        ) from None
