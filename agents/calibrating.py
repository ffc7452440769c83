"""The command `bayes-rl calibrate RUN [OTHER]`: a table, a file and a figure."""

import pathlib
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from agents import calibration_figure
from agents.calibration import LEVELS, SHOWN, score, with_interval
from agents.config import as_dict, flatten
from agents.forecasts import Plan, forecasts
from agents.held_out import held_out_episodes
from agents.loading import load_agent
from agents.runs import load_config
from agents.seeds import fold
from agents.tables import as_text, write_csv
from agents.validation import UserError

# What two runs must share for their forecasts to be of the same thing.
_SHARED = ("task", "observation", "action_repeat", "image", "world_model.image_pool")


class Curves(NamedTuple):
    """The scores of one kind of forecast, over episodes.

    Attributes:
        actions: who acted: `policy`, `other policy` or `random`.
        label: whose forecasts, and from which weights.
        steps: agent steps ahead.
        coverage: mean, low and high, each [steps, levels].
        negative_log_likelihood: mean, low and high, each [steps].
    """

    actions: str
    label: str
    steps: np.ndarray
    coverage: tuple
    negative_log_likelihood: tuple


def calibrate(run, other, episodes):
    """Judges open-loop forecasts of the newest checkpoints of one or two runs.

    All are judged on the same held-out episodes: of the policy of each run, and of random
    actions. Prints a table; writes `calibration.csv` and `figures/calibration.png` to RUN.

    Args:
        run: folder of the run.
        other: folder of a run to compare with, such as its deterministic twin, or None.
        episodes: of each kind, at least 1.

    Raises:
        UserError: the runs do not predict the same observations, or episodes are too short.
    """
    names = {"": run} | ({"other ": other} if other else {})
    check_same_observations(*names.values())
    loaded = {prefix: load_agent(folder) for prefix, folder in names.items()}
    config, agent = loaded[""]
    episodes_of = {
        f"{prefix}policy": held_out_episodes(*each, "policy", episodes)
        for prefix, each in loaded.items()
    }
    episodes_of["random"] = held_out_episodes(config, agent, "random", episodes)
    curves = [
        each
        for actions, found in episodes_of.items()
        for prefix, (settings, judged) in loaded.items()
        for each in _judge(
            (actions, prefix),
            judged.model,
            settings.world_model.observation_stddev,
            found,
            tf.constant([config.seed, 5]),
        )
    ]
    folder = pathlib.Path(run)
    rows = [row for each in curves for row in _rows(each, episodes)]
    write_csv(folder / "calibration.csv", rows)
    figure = folder / "figures" / "calibration.png"
    title = f"{config.task}, {episodes} episodes of each kind"
    calibration_figure.save(figure, curves, title)
    _print_tables(config, names, curves, episodes)
    for file in (folder / "calibration.csv", figure):
        print(file)


def check_same_observations(*folders):
    """Raises a UserError where runs do not predict the same observations."""
    first, *others = [flatten(as_dict(load_config(folder))) for folder in folders]
    for other in others:
        for key in first:
            shared = any(key == each or key.startswith(f"{each}.") for each in _SHARED)
            if shared and first[key] != other.get(key):
                raise UserError(
                    f"{folders[1]} does not predict the observations of {folders[0]}: "
                    f"{key} is {other.get(key)} instead of {first[key]}"
                )


def _judge(names, model, stddev, episodes, seed):
    actions, prefix = names
    try:
        plan = Plan(model, episodes)
    except ValueError as error:
        raise UserError(str(error)) from None
    truths = plan.truths(model, episodes, fold(seed, 0))
    scores = {}
    predicted = forecasts(model, episodes, plan, fold(seed, 1))
    for truth, found in zip(truths, predicted, strict=True):
        for size, components in found.items():
            scores.setdefault(size, []).append(score(components, stddev, truth))
    return [
        Curves(
            actions,
            prefix + _weights(size),
            plan.steps,
            *(with_interval(np.stack(each)) for each in zip(*found, strict=True)),
        )
        for size, found in scores.items()
    ]


def _weights(size):
    return f"{size} draw{'s' if size > 1 else ''}" if size else "mean weights"


def _rows(curves, episodes):
    for place, step in enumerate(curves.steps):
        row = {
            "actions": curves.actions,
            "forecast": curves.label,
            "episodes": episodes,
            "step": int(step),
        }
        for level in SHOWN:
            name, column = f"coverage_{round(100 * level)}", _column(level)
            row |= _triple(name, [each[place, column] for each in curves.coverage])
        name = "negative_log_likelihood"
        yield row | _triple(name, [each[place] for each in curves.negative_log_likelihood])


def _column(level):
    return int(np.argmin(np.abs(np.array(LEVELS) - level)))


def _triple(name, values):
    names = (name, f"{name}_low", f"{name}_high")
    return dict(zip(names, map(float, values), strict=True))


def _print_tables(config, names, curves, episodes):
    folders = ", ".join(f"{prefix}run {name}" for prefix, name in names.items())
    print(f"{config.task}, observation={config.observation}; {folders}")
    print(
        "Share of observations inside central intervals of 50, 80 and 95 %, and negative\n"
        "log likelihood (nats per dimension), @ agent steps after the last one seen\n"
    )
    steps = curves[0].steps
    shown = sorted({0, int(np.argmin(np.abs(steps - 10))), len(steps) - 1})
    header = [""]
    for place in shown:
        header += [f"{round(100 * level)}%@{steps[place]}" for level in SHOWN]
        header.append(f"nll@{steps[place]}")
    for actions in dict.fromkeys(each.actions for each in curves):
        print(f"{episodes} episodes, actions: {actions}")
        table = [
            [each.label]
            + [
                float(number)
                for place in shown
                for number in (
                    *(each.coverage[0][place, _column(level)] for level in SHOWN),
                    each.negative_log_likelihood[0][place],
                )
            ]
            for each in curves
            if each.actions == actions
        ]
        print(as_text(header, table))
        print()
