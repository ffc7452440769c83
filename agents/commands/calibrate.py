"""The command `bayes-rl calibrate RUN [TWIN]`: a table, a file and a figure."""

import pathlib
from typing import NamedTuple

import numpy as np

from agents.agent.loading import load_agent
from agents.config.schema import as_dict, flatten
from agents.episodes.held_out import held_out_episodes
from agents.errors import UserError
from agents.figures import calibration as calibration_figure
from agents.files import write_csv
from agents.insight.calibration import SHOWN, Scores, Summary, score, summarize
from agents.insight.forecasts import ForecastTimes, forecasts
from agents.runs.folder import load_config
from agents.screen.tables import as_text
from agents.seeds import Purpose, fold, seed_of_run

# What two runs must share for their forecasts to be of the same thing.
_SHARED = ("task", "observation", "action_repeat", "image", "world_model.image_pool")


class Judged(NamedTuple):
    """A run whose forecasts are judged, as of its newest checkpoint.

    Attributes:
        name: what tells it from the other: its transition, or, where both have the same,
            `run` and `other`.
        role: `run` or `other`, in the order of the command line.
        folder: of the run.
        config: `agents.config.schema.Train`.
        agent: `agents.agent.planet_agent.PlaNetAgent`.
    """

    name: str
    role: str
    folder: str
    config: object
    agent: object

    @property
    def environment_steps(self):
        return int(self.agent.clock.environment_steps.numpy())


class Curves(NamedTuple):
    """The scores of one kind of forecast on one kind of episodes.

    Attributes:
        actions: who acted: such as `policy of reparameterization`, or `random`.
        judged: `Judged`, whose forecasts they are.
        draws: of the weights, in a mixture; 0: the mean weights.
        steps: agent steps ahead.
        scores: `agents.insight.calibration.Scores` of the episodes, stacked.
        summary: `agents.insight.calibration.Summary` of all dimensions.
    """

    actions: str
    judged: Judged
    draws: int
    steps: np.ndarray
    scores: Scores
    summary: Summary

    @property
    def label(self):
        """Whose forecasts, and from which weights."""
        return f"{self.judged.name}, {_weights(self.draws)}"


def calibrate(run, other, episodes):
    """Judges open-loop forecasts of the newest checkpoints of one or two runs.

    All are judged on the same held-out episodes: of the policy of each run, and of random
    actions. Prints a table; writes `calibration.csv` and `figures/calibration.png` to RUN.
    The table shows, for the intervals of 50, 80 and 95 %, the pooled coverage and the
    deviation, see `agents.insight.calibration`. The file has each dimension in rows of its
    own, beside those of `all`.

    Args:
        run: folder of the run.
        other: folder of a run to compare with, such as its deterministic twin, or None.
        episodes: of each kind, at least 1.

    Raises:
        UserError: the runs do not predict the same observations, or episodes are too short.
    """
    folders = [run, other] if other else [run]
    check_same_observations(*folders)
    runs = _load(folders)
    config, agent = runs[0].config, runs[0].agent
    episodes_of = {
        f"policy of {each.name}": held_out_episodes(
            each.config, each.agent, "policy", episodes
        )
        for each in runs
    }
    episodes_of["random"] = held_out_episodes(config, agent, "random", episodes)
    seed = seed_of_run(config.seed, Purpose.CALIBRATE)
    curves = [
        each
        for actions, found in episodes_of.items()
        for judged in runs
        for each in _judge(actions, judged, found, seed)
    ]
    folder = pathlib.Path(run)
    rows = [row for each in curves for row in _rows(each, episodes)]
    write_csv(folder / "calibration.csv", rows)
    figure = folder / "figures" / "calibration.png"
    title = f"{config.task}, {episodes} episodes of each kind"
    calibration_figure.save(figure, curves, title)
    _print_tables(runs, curves, episodes)
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


def _load(folders):
    loaded = [load_agent(folder) for folder in folders]
    roles = ["run", "other"][: len(folders)]
    names = [config.transition for config, _ in loaded]
    names = names if len(set(names)) == len(names) else roles
    return [
        Judged(name, role, str(folder), *each)
        for name, role, folder, each in zip(names, roles, folders, loaded, strict=True)
    ]


def _judge(actions, judged, episodes, seed):
    model, stddev = judged.agent.model, judged.config.world_model.observation_stddev
    try:
        times = ForecastTimes(model, episodes)
    except ValueError as error:
        raise UserError(str(error)) from None
    truths = times.truths(model, episodes, fold(seed, 0))
    scores = {}
    predicted = forecasts(model, episodes, times, fold(seed, 1))
    for truth, found in zip(truths, predicted, strict=True):
        for draws, components in found.items():
            scores.setdefault(draws, []).append(score(components, stddev, truth))
    for draws, found in scores.items():
        stacked = Scores(*map(np.stack, zip(*found, strict=True)))
        yield Curves(actions, judged, draws, times.steps, stacked, summarize(stacked))


def _weights(draws):
    return f"{draws} draw{'s' if draws > 1 else ''}" if draws else "mean weights"


def _rows(curves, episodes):
    dimensions = curves.scores.coverage.shape[-1]
    summaries = {"all": curves.summary}
    if dimensions > 1:
        summaries |= {n: summarize(curves.scores, n) for n in range(dimensions)}
    judged = curves.judged
    about = {
        "actions": curves.actions,
        "forecast": curves.label,
        "judged": judged.role,
        "transition": judged.config.transition,
        "run": judged.folder,
        "environment_steps": judged.environment_steps,
        "episodes": episodes,
    }
    for dimension, summary in summaries.items():
        for place, step in enumerate(curves.steps):
            row = about | {"dimension": dimension, "step": int(step)}
            for index, name in enumerate(f"{round(100 * level)}" for level in SHOWN):
                inside = [each[place, index] for each in summary.coverage]
                row |= _triple(f"coverage_{name}", inside)
                row[f"deviation_{name}"] = float(summary.deviation[place, index])
            scores = [each[place] for each in summary.negative_log_likelihood]
            yield row | _triple("negative_log_likelihood", scores)


def _triple(name, values):
    names = (name, f"{name}_low", f"{name}_high")
    return dict(zip(names, map(float, values), strict=True))


def _print_tables(runs, curves, episodes):
    config = runs[0].config
    print(f"{config.task}, observation={config.observation}")
    for each in runs:
        print(f"{each.name}: {each.folder}, {each.environment_steps} environment steps")
    print(
        "Share of observations inside central intervals of 50, 80 and 95 %, all pooled;\n"
        "how far each dimension is off, on average; and negative log likelihood (nats per\n"
        "dimension). Agent steps are those after the last observation seen.\n"
    )
    steps = curves[0].steps
    shown = sorted({0, int(np.argmin(np.abs(steps - 10))), len(steps) - 1})
    levels = [f"{round(100 * level)} %" for level in SHOWN]
    header = ["", "steps", *levels, *(f"{level} off" for level in levels), "nll"]
    for actions in dict.fromkeys(each.actions for each in curves):
        print(f"{episodes} episodes, actions: {actions}")
        table = [
            [
                each.label,
                f"{steps[place]}",
                *each.summary.coverage[0][place],
                *each.summary.deviation[place],
                each.summary.negative_log_likelihood[0][place],
            ]
            for place in shown
            for each in curves
            if each.actions == actions
        ]
        print(as_text(header, table))
        print()
