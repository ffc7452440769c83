"""Figures of the suite: scores beside what was published, and how weights moved."""

import numpy as np
from matplotlib.ticker import EngFormatter

from agents.runs.grouping import Group
from agents.study import statistics
from agents.study.compare.published import published_scores
from agents.study.figures.drawing import band, finish, legend_of_all, panels, style, thin
from benchmarks.learning.suite.standings import STEPS

_KL = "train/weight_kl"
_LOOKS = {
    "TD-MPC (own repeats)": ("s", "#CC79A7"),
    "TD-MPC (run by TD-MPC2)": ("p", "#882255"),
    "TD-MPC2": ("D", "#E69F00"),
    "TD-MPC2 (run by BMPC)": ("^", "#F0D060"),
    "MR.Q": ("v", "#009E73"),
    "BMPC": ("*", "#56B4E9"),
    "DC-MPC": ("X", "#332288"),
    "DreamerV3": ("P", "0.3"),
    "DreamerV3 (run by TD-MPC2)": ("h", "0.6"),
    "SAC": ("<", "#8C6D31"),
}  # of each of `standings.METHODS`: sign, colour


def curves(found):
    """A figure with a panel for each task that was evaluated; None where none was.

    `found` are standings as of `benchmarks.learning.suite.standings.standings`.
    """
    groups = _groups(found, lambda run: run.scores)
    if not groups:
        return None
    figure, grid = panels(list(groups), columns=4, size=(3.4, 2.5))
    for task, axes in grid.items():
        _published(axes, task)
        for group in groups[task]:
            _own(axes, group)
        seeds = " and ".join(str(len(_finished(group))) for group in groups[task])
        axes.set_title(f"{task} (n = {seeds})", fontsize="medium")
        finish(axes, "environment_steps", "")
        axes.set_xlabel("")
        axes.set(xlim=(0, 1.05 * STEPS), ylim=(-20, 1020))
    legend_of_all(figure, grid.values(), ncols=5, fontsize="small", frameon=False)
    figure.suptitle(
        "Return of evaluation episodes over environment steps. Thick: mean over the n "
        "finished seeds; band: its 95 % bootstrap interval; thin: each seed.\n"
        "Dotted, with signs: published means over seeds.",
        fontsize="small",
    )
    return figure


def weights(found):
    """A figure of the KL of weight posteriors to their priors, as of `curves`."""
    groups = _groups(found, lambda run: run.curve("environment_steps", _KL))
    if not groups:
        return None
    figure, grid = panels(list(groups), columns=4, size=(3.4, 2.2))
    for task, axes in grid.items():
        for group in groups[task]:
            seeds = [run.curve("environment_steps", _KL) for run in group.runs]
            for steps, values in seeds:
                axes.plot(steps, values, **thin(group))
            steps, values = statistics.align(seeds)
            axes.plot(steps, statistics.mean(values), linewidth=2, **style(group))
        axes.set_title(task, fontsize="medium")
        finish(axes, "environment_steps", "")
        axes.set_xlabel("")
        axes.set_xlim(0, 1.05 * STEPS)
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
    figure.suptitle(
        "KL of the transition's weight posterior to its prior, in nats, over environment "
        "steps. Thick: mean over seeds, as far as all have come; thin: each seed.",
        fontsize="small",
    )
    return figure


def _groups(found, is_drawn):
    """Dict of task -> list of `Group`, of the runs that are drawn."""
    groups = {}
    transitions = list(dict.fromkeys(transition for _, transition in found))
    for (task, transition), each in found.items():
        runs = [run for run in each.runs if is_drawn(run)]
        if runs:
            number = transitions.index(transition)
            groups.setdefault(task, []).append(Group(transition, task, runs, number))
    return groups


def _own(axes, group):
    """Each seed, and the mean over those that are finished, with its interval."""
    own = _curves(group)
    for steps, values in own:
        axes.plot(steps, values, **thin(group))
    steps, values = statistics.align(_finished(group) or own)
    low, high = statistics.interval([values], statistics.mean, repetitions=2000)
    band(axes, group, steps, low, high)
    mean = statistics.mean(values)
    axes.plot(steps, mean, label=group.label, linewidth=2, **style(group))


def _finished(group):
    """The curves of the seeds that are finished."""
    return [curve for curve in _curves(group) if curve[0][-1] >= STEPS]


def _curves(group):
    """(steps, mean return of the evaluation episodes) of each seed."""
    found = (run.score_curve() for run in group.runs)
    return [(steps, np.nanmean(returns, axis=1)) for steps, returns in found]


def _published(axes, task):
    points = published_scores({"task": task, "observation": "state"})
    points = points[points["environment_steps"] <= STEPS]
    for method, (sign, colour) in _LOOKS.items():
        own = points[points["method"] == method]
        look = {"marker": sign, "color": colour, "linestyle": ":", "linewidth": 1}
        look |= {"label": method, "markersize": 4, "alpha": 0.9}
        axes.plot(own["environment_steps"], own["mean"], **look)
