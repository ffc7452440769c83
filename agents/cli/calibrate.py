"""The command `bayes-rl calibrate RUN [TWIN]`: tables, files and figures."""

import itertools
import pathlib
from typing import NamedTuple

import numpy as np

from agents.episodes.evaluation import fresh_episodes
from agents.episodes.layout import environment_steps
from agents.episodes.replay import is_held_out
from agents.episodes.store import readable_episodes
from agents.runs import grouping
from agents.runs.config.schema import as_dict
from agents.runs.folder import Run, load_config
from agents.study.figures import reliability as figures
from agents.study.insight import recalibration, saved_fits
from agents.study.insight.calibration import SHOWN, judge
from agents.study.insight.coverage import coverage_of
from agents.study.insight.forecasts import long_enough, most_steps_ahead
from agents.study.insight.spread_worth import SPREADS, look, measure
from agents.system.errors import UserError
from agents.system.files import output_folder, write_csv
from agents.system.screen.text import decimals, show
from agents.system.seeds import Purpose, fold, seed_of_run
from agents.training.loading import load_agent
from envs.tasks import LOGGED

_SHOWN = ("rank_correlation", "auroc", "exponent")
_WITHIN = ("rank_correlation_policy", "rank_correlation_random")


class Judged(NamedTuple):
    """A run whose forecasts are judged, as of its newest checkpoint."""

    name: str  # its transition; where both runs have the same, its role
    role: str  # `run` or `other`, in the order of the command line
    folder: str
    config: object
    agent: object

    @property
    def about(self):
        """What a row of a file says of it."""
        return {
            "judged": self.role,
            "transition": self.config.transition,
            "run": self.folder,
            "environment_steps": self.agent.counts["environment_steps"],
        }

    @property
    def collected(self):
        """Episodes of the run: those trained on, and of those held out the planned ones.

        All that are held out, where they were logged: nobody knows who acted there.
        """
        is_logged = self.config.data is not None
        trained_on, held_out, steps = [], [], 0
        for episode in readable_episodes(Run(pathlib.Path(self.folder)).episodes):
            is_early = steps < self.config.seed_steps  # where an episode does not tell
            if not is_held_out(episode, self.config.hold_out_every):
                trained_on.append(episode)
            elif is_logged or not episode.get("is_random", is_early):
                held_out.append(episode)
            steps += environment_steps(episode, self.config.action_repeat)
        return trained_on, held_out

    def act(self, actions, count):
        """`count` episodes to judge by, as many to fit to; fewer where some are short."""
        found = fresh_episodes(self.config, self.agent, actions, 2 * count)
        kept = long_enough(found) or found
        _tell_left_out(found, kept, f"too short for forecasts, actions: {actions}")
        middle = (len(kept) + 1) // 2
        return kept[:middle], kept[middle:]


def calibrate(run, twin, episodes, out=None):
    """Judges the uncertainty of the newest checkpoints of one or two runs.

    All are judged on the same fresh episodes: of the policy of each run, and of random
    actions. With task=logged nobody can act: then one half of the logged episodes that RUN
    has held out judges, and the other is fitted to.

    Open-loop forecasts are judged as they are, and once their spread was fitted to other
    episodes: planned ones that the run held out, and where these are fewer, fresh ones of
    its policy beside them; and fresh ones of random actions. What is too short for any
    forecast is left out, and of what is fitted to also what is shorter than those judged
    need, unless nothing else is left; a line says how many. `calibration.csv`, which has
    each dimension in rows of its own beside those of `all`, and its picture are explained
    in `agents.study.insight.calibration`, `spread.csv` and its picture in
    `agents.study.insight.spread_worth`. The fits of RUN, `recalibration.json`, are what its
    films and probes use from there on; a kind without episodes to fit to has none.

    All goes to RUN, or to the folder `out`; tables are printed. Files name `episodes`,
    those of each kind, whatever was left out.

    Raises:
        UserError: the runs do not predict the same observations or are one, or all episodes
            of a kind are too short, or there are none.
    """
    if twin and pathlib.Path(run).resolve() == pathlib.Path(twin).resolve():
        raise UserError(f"calibrate compares two runs, got {run} twice")
    runs = _load([run, twin] if twin else [run])
    config, folder = runs[0].config, output_folder(out or run)
    seed = seed_of_run(config.seed, Purpose.CALIBRATE)
    fresh, own = _find(runs, episodes)
    curves, worth = [], []
    for each, kinds in zip(runs, own, strict=True):
        trained_on, held_out = each.collected
        ahead = {kind: most_steps_ahead(judged) for kind, (judged, _) in kinds.items()}
        model, fitted_to = each.agent.model, {kind: kinds[kind][1] for kind in kinds}
        if "policy" in kinds:
            enough = len(long_enough(held_out, ahead["policy"])) >= episodes
            fitted_to["policy"] = held_out + fitted_to["policy"] * (not enough)
        fits = {}
        for kind, some in fitted_to.items():
            kept = long_enough(some, ahead[kind]) or long_enough(some)
            _tell_left_out(some, kept, f"too short for the fit: {each.name}, {kind}")
            if not kept:
                print(f"not recalibrated, no episode to fit to: {each.name}, {kind}")
            fits[kind] = recalibration.fit(model, kept, fold(seed, 0)) if kept else None
        for actions, found in fresh.items():
            fit = fits[actions.partition(" ")[0]]
            curves += judge(model, found, seed, actions, each.name, fit)
        if each is runs[0]:
            folder.mkdir(parents=True, exist_ok=True)
            saved_fits.save(fits, folder, each.about["environment_steps"])
        worth += _worth(each, trained_on, fresh, seed)
    curves.sort(key=lambda curve: list(fresh).index(curve.actions))
    title = f"{config.task}, {_counts(fresh)}"
    files = _write(folder, title, runs, curves, worth, episodes)
    _print_tables(runs, curves)
    _print_worth(worth)
    for file in files:
        print(file)


def _find(runs, episodes):
    """Dict of who acts -> episodes that judge all; for each run a dict of its kinds.

    A kind has episodes that judge, and others that a fit may use. Without an environment
    both are logged ones that the first run has held out.
    """
    config = runs[0].config
    if config.task == LOGGED:
        held_out = runs[0].collected[1]
        if len(held_out) < 2:
            raise UserError(
                f"{runs[0].folder} has no environment to act in, and has held out "
                f"{len(held_out)} of its episodes; calibrate needs 2: learn with "
                "hold_out_every=N and another logdir"
            )
        middle = (len(held_out) + 1) // 2
        kinds = {"logged": (held_out[:middle][:episodes], held_out[middle:])}
        return {"logged": kinds["logged"][0]}, [kinds] * len(runs)
    random = runs[0].act("random", episodes)
    own = [{"policy": each.act("policy", episodes), "random": random} for each in runs]
    fresh = {
        f"policy of {each.name}": kinds["policy"][0]
        for each, kinds in zip(runs, own, strict=True)
    }
    return fresh | {"random": random[0]}, own


def _load(folders):
    configs = {folder: as_dict(load_config(folder)) for folder in folders}
    grouping.check_same_observations(configs)
    loaded = [load_agent(folder) for folder in folders]
    roles = ("run", "other")[: len(folders)]
    differ = len({config.transition for config, _ in loaded}) == len(loaded)
    return [
        Judged(config.transition if differ else role, role, str(folder), config, agent)
        for role, folder, (config, agent) in zip(roles, folders, loaded, strict=True)
    ]


def _tell_left_out(episodes, kept, why):
    if len(kept) < len(episodes):
        print(f"left out {len(episodes) - len(kept)} of {len(episodes)} episodes {why}")


def _worth(judged, trained_on, fresh, seed):
    """Pairs of the name of a run and a row of `spread.csv`; policies are of one kind."""
    coverage = coverage_of(judged.config.task, next(iter(trained_on), None))
    for episode in trained_on if coverage else ():
        coverage.add(episode)
    episodes = [episode for some in fresh.values() for episode in some]
    looks = iter(look(judged.agent.model, episodes, coverage, fold(seed, 2)))
    steps = {}
    for actions, some in fresh.items():
        own = steps.setdefault(actions.partition(" ")[0], [])
        own += itertools.islice(looks, len(some))
    return [
        (judged.name, {"spread": spread} | found)
        for spread in SPREADS
        for found in measure(steps, spread)
    ]


def _counts(fresh):
    """Such as "100 episodes of each kind": how many are judged."""
    counts = {kind: len(some) for kind, some in fresh.items()}
    if len(set(counts.values())) == 1:
        return f"{next(iter(counts.values()))} episodes of each kind"
    return "episodes: " + ", ".join(f"{count} {kind}" for kind, count in counts.items())


def _write(folder, title, runs, curves, worth, episodes):
    """The files of RUN; their paths."""
    about = {each.name: each.about | {"episodes": episodes} for each in runs}
    rows = [
        {"actions": each.actions, "forecast": each.label} | about[each.name] | row
        for each in curves
        for row in each.rows()
    ]
    files = [folder / name for name in ("calibration.csv", "spread.csv")]
    write_csv(files[0], rows)
    write_csv(files[1], [about[name] | row for name, row in worth])
    drawn = [folder / "figures" / name for name in ("calibration.png", "spread.png")]
    figures.save(drawn[0], curves, title)
    figures.save_worth(drawn[1], worth, title)
    return files + drawn


def _print_tables(runs, curves):
    config = runs[0].config
    print(f"{config.task}, observation={config.observation}")
    for each in runs:
        steps = each.about["environment_steps"]
        print(f"{each.name}: {each.folder}, {steps} environment steps")
    print(
        "steps: agent steps after the last observation seen.\n"
        "50 %, 80 %, 95 %: share of observations inside these central intervals, pooled.\n"
        "off: how far that share is from its level in each dimension, on average.\n"
        "nll: negative log likelihood, nats per dimension.\n"
    )
    levels = [f"{round(100 * level)} %" for level in SHOWN]
    header = ["", "steps", *levels, *(f"{level} off" for level in levels), "nll"]
    for actions in dict.fromkeys(each.actions for each in curves):
        own = [each for each in curves if each.actions == actions]
        print(f"{len(own[0].scores.coverage)} episodes, actions: {actions}")
        steps = own[0].steps
        shown = sorted({0, int(np.argmin(np.abs(steps - 10))), len(steps) - 1})
        table = [each.line(place) for place in shown for each in own]
        show(header, table)
        print()


def _print_worth(worth):
    print(
        "How well the spread of a step predicts its error; brackets: 95 % over episodes.\n"
        "rank correlation: of spread and error, over all steps, those of the policy, and\n"
        "those of random actions.\n"
        "auroc: of telling states of unvisited regions from the others; 0.5 is chance.\n"
        "exponent: the spread falls with visits n as n^-exponent.\n"
    )
    lines = {}
    for name, row in worth:
        value, low, high = (decimals(row[key]) for key in ("value", "low", "high"))
        cell = f"{value} [{low}, {high}] of {row['steps']}"
        lines.setdefault(f"{name}, {row['spread']}", {})[row["measure"]] = cell
    for shown in (_SHOWN, _WITHIN):
        table = [[name, *(row.get(m, "-") for m in shown)] for name, row in lines.items()]
        show(["", *(name.replace("_", " ") for name in shown)], table)
        print()
