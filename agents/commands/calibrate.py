"""The command `bayes-rl calibrate RUN [TWIN]`: a table, a file and a figure."""

import pathlib
from typing import NamedTuple

import numpy as np

from agents.agent.loading import load_agent
from agents.config.schema import as_dict
from agents.episodes.held_out import held_out_episodes
from agents.figures import calibration as calibration_figure
from agents.files import write_csv
from agents.insight.calibration import SHOWN, judge
from agents.runs import grouping
from agents.runs.folder import load_config
from agents.screen.text import show
from agents.seeds import Purpose, seed_of_run


class Judged(NamedTuple):
    """A run whose forecasts are judged, as of its newest checkpoint."""

    name: str  # its transition; where both runs have the same, its role
    role: str  # `run` or `other`, in the order of the command line
    folder: str
    config: object
    agent: object

    @property
    def about(self):
        """What a row of the file says of it."""
        return {
            "judged": self.role,
            "transition": self.config.transition,
            "run": self.folder,
            "environment_steps": int(self.agent.clock.environment_steps.numpy()),
        }

    def act(self, actions, count):
        return held_out_episodes(self.config, self.agent, actions, count)

    def judge(self, episodes, seed, actions):
        return judge(self.agent.model, episodes, seed, actions, self.name)


def calibrate(run, twin, episodes):
    """Judges open-loop forecasts of the newest checkpoints of one or two runs.

    All are judged on the same held-out episodes: of the policy of each run, and of random
    actions. Prints a table; writes `calibration.csv` and `figures/calibration.png` to RUN.
    The table shows, for the intervals of 50, 80 and 95 %, the pooled coverage and the
    deviation, see `agents.insight.calibration`. The file has each dimension in rows of its
    own, beside those of `all`.

    Args:
        run: folder of the run.
        twin: folder of a run to compare with, such as a deterministic one, or None.
        episodes: of each kind, at least 1.

    Raises:
        UserError: the runs do not predict the same observations, or episodes are too short.
    """
    folders = [run, twin] if twin else [run]
    configs = {folder: as_dict(load_config(folder)) for folder in folders}
    grouping.check_same_observations(configs)
    runs = _load(folders)
    config = runs[0].config
    episodes_of = {f"policy of {each.name}": each.act("policy", episodes) for each in runs}
    episodes_of["random"] = runs[0].act("random", episodes)
    seed = seed_of_run(config.seed, Purpose.CALIBRATE)
    curves = [
        each
        for actions, found in episodes_of.items()
        for judged in runs
        for each in judged.judge(found, seed, actions)
    ]
    folder = pathlib.Path(run)
    about = {each.name: each.about | {"episodes": episodes} for each in runs}
    rows = [
        {"actions": each.actions, "forecast": each.label} | about[each.name] | row
        for each in curves
        for row in each.rows()
    ]
    write_csv(folder / "calibration.csv", rows)
    figure = folder / "figures" / "calibration.png"
    title = f"{config.task}, {episodes} episodes of each kind"
    calibration_figure.save(figure, curves, title)
    _print_tables(runs, curves, episodes)
    for file in (folder / "calibration.csv", figure):
        print(file)


def _load(folders):
    loaded = [load_agent(folder) for folder in folders]
    roles = ("run", "other")[: len(folders)]
    differ = len({config.transition for config, _ in loaded}) == len(loaded)
    return [
        Judged(config.transition if differ else role, role, str(folder), config, agent)
        for role, folder, (config, agent) in zip(roles, folders, loaded, strict=True)
    ]


def _print_tables(runs, curves, episodes):
    config = runs[0].config
    print(f"{config.task}, observation={config.observation}")
    for each in runs:
        steps = each.about["environment_steps"]
        print(f"{each.name}: {each.folder}, {steps} environment steps")
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
        own = [each for each in curves if each.actions == actions]
        table = [each.line(place) for place in shown for each in own]
        show(header, table)
        print()
