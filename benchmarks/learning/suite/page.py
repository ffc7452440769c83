"""The suite's tables, curves and page, from its runs as far as they have come."""

import math
import shutil

import pandas as pd

from agents.runs import history
from agents.runs.folder import read_config, runs_below
from agents.runs.grouping import group
from agents.study.compare.published import SOURCES
from agents.study.compare.report import FEW, FEW_NOTE, FEWEST_SEEDS
from agents.study.compare.tables import write
from agents.study.figures.drawing import save
from agents.system.files import write_text
from agents.system.screen.text import as_markdown, folded
from benchmarks.learning.answers import TABLES, answer, findings, noted
from benchmarks.learning.packed import read_table
from benchmarks.learning.packing import unpacked
from benchmarks.learning.pages import beginning, how, joined, picture
from benchmarks.learning.studies import commanded_runs, without_runs
from benchmarks.learning.suite.curves import curves, weights
from benchmarks.learning.suite.standings import (
    EARLIER,
    METHODS,
    STEPS,
    TODAY,
    published_at_end,
    shown,
    standings,
)
from benchmarks.learning.suite.tables import tables
from benchmarks.learning.summary import sources_of
from benchmarks.speed.planners import conclusion

_FILMS = {
    f"episode_{STEPS}_strip.png": ".png",
    f"episode_{STEPS}.mp4": ".mp4",
}  # name below videos/ of a run -> ending of the copy's
_BESIDE = {
    "TD-MPC (own repeats)": "TD-MPC",
    "TD-MPC2": "TD-MPC2",
    "MR.Q": "MR.Q",
    "BMPC": "BMPC",
    "DreamerV3": "DreamerV3",
}  # the methods of the first table, and their columns
_OF_EARLIER = "§"
_PAIRED = {
    TODAY: (
        "Mean scores of today's default, and of the earlier one.",
        "today's default",
        "the earlier default",
    ),
    EARLIER: (
        "Mean scores with a posterior over the transition's weights, and without.",
        "posterior",
        "deterministic",
    ),
}  # transition -> the title of its table, and what it and the other transition are
_NOTES = f"""
- A score is the mean return of the evaluation episodes after {STEPS:,} environment steps
  (before action repeat). The agent plans with the means of the averaged weights, without
  noise on actions.
- Brackets: the 95 % bootstrap interval over seeds. A mean over tasks has an
  interval only if each task has two seeds.
- Published scores are means over seeds, of other protocols. TD-MPC has two. Its own
  repository holds an action for 8 (cartpole), 2 (finger, walker) or 4 steps. So do PlaNet
  and we on the tasks that it has. The authors of TD-MPC2 ran it with 2 steps on every
  task. Most others hold an action for 2 steps.
- A published mean counts as exact here. With five seeds, a bootstrap interval covers the
  mean of many seeds in about 85 of 100 cases. A whole interval above a published mean says
  less than it seems.
- Minutes are the median of the runs: training and evaluation without start-up, with two
  runs or more on the machine.
- {FEW_NOTE}
""".strip()


def make(folder, study):
    """Writes tables, figures and page of the suite, from the runs that it has packed.

    Raises:
        SystemExit: there is no run yet; the message gives the commands.
    """
    with unpacked(folder) as place:
        runs = [history.load(run) for run in runs_below(place)]
        found = standings(runs, commanded_runs(study["commands"]))
        if not any(each.runs for each in found.values()):
            raise SystemExit(without_runs(study))
        parts = tables(found)
        for file in (folder / TABLES).glob("*.csv"):
            file.unlink()
        write({n: pd.DataFrame(rows) for n, rows in parts.items()}, folder / TABLES)
        drawn = save({"curves": curves(found), "weights": weights(found)}, folder)
        figures = {file.stem: picture(file.name) for file in drawn}
        write_text(folder / "README.md", _page(folder, study, found, parts, figures))


def take_pictures(folder, study):
    """Copies films of the first seed of each task, where it is finished."""
    runs = [(run, read_config(run)) for run in runs_below(study["runs"])]
    for default in (TODAY, EARLIER):  # of a task that both have, the earlier's
        for run, config in runs:
            is_shown = (config["seed"], config["transition"]) == (0, default)
            for name, ending in _FILMS.items():
                film = run / "videos" / name
                if film.exists() and is_shown:
                    (folder / "films").mkdir(exist_ok=True)
                    shutil.copy(film, folder / "films" / f"{config['task']}_0{ending}")


def _page(folder, study, found, parts, figures):
    runs = [run.folder for each in found.values() for run in each.runs]
    summary = {"commands": study["commands"], "sources": sources_of(runs)}
    return joined(
        beginning(folder, study, figures.get("curves"), _shown(found, parts)),
        *(
            folded(other["question"], answer(folder, other), noted(_pairs(parts, other)))
            for other in study.get("also", ())
        ),
        findings(folder, study),
        how(folder, study, summary, _NOTES, _progress(found)),
        folded("All published scores", _scores(parts["scores"]), SOURCES),
        folded("Against each published method", _against(parts["against"])),
        folded("Posterior over the weights", figures.get("weights")),
        _planners(folder),
        _films(sorted(file.name for file in folder.glob("films/*"))),
    )


def _progress(found):
    """How many runs are finished, how far the others have come, and whether they match."""
    finished = sum(len(each.scores) for each in found.values())
    wanted = sum(each.wanted for each in found.values())
    missing = [
        f"{each.wanted - len(each.scores)} of {each.task}, {each.transition}"
        for each in found.values()
        if len(each.scores) < each.wanted
    ]
    absent = f" Missing: {'; '.join(missing)}." if missing else ""
    lines = [f"{finished} of {wanted} runs are finished.{absent}"]
    lines += [
        f"- {each.task}, {each.transition}: its runs differ in more than their seed"
        for each in found.values()
        if len(group([run.config for run in each.runs])) > 1
    ]
    lines += [
        f"- in no table: {each.task}, {each.transition}, seed {run.config['seed']}, "
        f"{each.reached[run.config['seed']]:,} steps; {run.diverged or 'under way'}"
        for each in found.values()
        for run in each.runs
        if run.config["seed"] in each.reached
    ]
    return "\n".join(lines)


def _shown(found, parts):
    """The scores of a default on each task, beside those of few methods."""
    chosen = {(each.task, each.transition) for each in shown(found).values()}
    is_mixed = {kind for _, kind in chosen} == {EARLIER, TODAY}
    own = [
        row | {"mark": f" {_OF_EARLIER}" * (is_mixed and row["transition"] == EARLIER)}
        for row in parts["scores"]
        if (row["task"], row["transition"]) in chosen
    ]
    title = f"Mean return after {STEPS:,} environment steps [95 % interval], n seeds."
    columns = {"task": "{task}", "ours": "{mean}", "n": "{n}{mark}"}
    title += " Published means come from other protocols."
    if is_mixed:
        title += f" {_OF_EARLIER}: by an earlier default; the others by today's."
    return _beside(title, columns, own, _BESIDE)


def _scores(rows):
    columns = {"task": "{task}", "transition": "{transition}", "n": "{n}{of}"}
    columns |= {"mean": "{mean}", "IQM": "{iqm:.0f}", "each seed": "{each_seed}"}
    columns |= {"commit": "{commits}", "minutes a run": "{minutes:.0f}"}
    title = f"Scores after {STEPS:,} environment steps, beside published means."
    return _beside(title, columns, rows, METHODS)


def _beside(title, columns, rows, methods):
    """A table of scores, and of what methods have published."""
    cells = []
    for row in rows:
        own = row | {"mean": _interval(row, "mean"), "n": _count(row["seeds"])}
        own["of"] = f" of {row['wanted']}" if row["seeds"] < row["wanted"] else ""
        theirs = published_at_end(row["task"])
        others = [f"{theirs[name]:.0f}" if name in theirs else "" for name in methods]
        cells.append([form.format(**own) for form in columns.values()] + others)
    return _table(title, [*columns, *methods.values()], cells)


def _against(rows):
    columns = {
        "tasks": "{tasks}",
        "published method": "{method}",
        "our runs": "{runs}",
        "our mean above": "{above} of {n}",
        "whole interval above": "{surely} of {with_interval}",
        "least ratio": "{least:.2f} ({least_task})",
        "difference of means": "{ahead}",
        "without one task": "{elsewhere}",
        "published IQM": "{published:.0f}",
        "our IQM": "{iqm}",
    }
    cells = []
    for row in rows:
        own = row | {name: _interval(row, name) for name in ("ahead", "iqm")}
        if row["stand_in"]:
            own["method"] += f", {row['stand_in']} where it has none"
        elsewhere = "{ahead_elsewhere:.0f} ({greatest_task})" if row["n"] > 1 else ""
        own["elsewhere"] = elsewhere.format(**row)
        cells.append([form.format(**own) for form in columns.values()])
    title = """Each row counts the tasks that a published method has.

- Our mean above: on how many tasks our mean is higher. Whole interval above: on how many of
  those with five seeds our whole interval is.
- Least ratio: our mean over the published one, on the task where that is least.
- Difference of means: ours minus the published one, mean over tasks; and without the task
  where it is greatest.
- IQM: interquartile mean over tasks, without the best and the worst quarter of them (the
  number of tasks left out is rounded down)."""
    return _table(title, columns, cells)


def _pairs(parts, other):
    """The table that another question asks for: two transitions, task by task."""
    title, *columns = _PAIRED[other["transition"]]
    cells = [
        [
            row["task"],
            f"{row['mean']:.0f} (n = {_count(row['seeds'])})",
            f"{row['than_mean']:.0f} (n = {_count(row['than_seeds'])})",
            _interval(row, "difference"),
        ]
        for row in parts["pairs"]
        if row["transition"] == other["transition"]
    ]
    return _table(title, ["task", *columns, "difference"], cells)


def _planners(folder):
    """The comparison of planners on the model of the first run that has one."""
    compared = read_table(folder / "planners.csv.gz")
    if not compared:
        return ""
    name, rows = next(iter(compared.items()))
    title = f"Planners on the model of {name}, by `python -m benchmarks.speed.planners`."
    cells = [map(str, row.values()) for row in rows]
    return folded("Planners", _table(f"{title} {conclusion(rows)}.", [*rows[0]], cells))


def _films(names):
    if not names:
        return ""
    pictures = [name for name in names if name.endswith(".png")]
    title = (
        "By `bayes-rl video RUN`: an episode of the agent at the end of a run (a click "
        "shows the film). Of a task that both have, the earlier default's."
    )
    return folded("Films", title, *(_film(name, names) for name in pictures))


def _film(name, names):
    """A picture, a link to the film of which it is the strip."""
    shown, film = picture(f"films/{name}"), f"{name.removesuffix('.png')}.mp4"
    return f"[{shown}](films/{film})" if film in names else shown


def _table(title, columns, rows):
    return f"{title}\n\n{as_markdown(columns, rows)}" if rows else ""


def _count(seeds):
    """The number of seeds, marked where an interval of so few says little."""
    return f"{seeds}{FEW}" if 1 < seeds < FEWEST_SEEDS else f"{seeds}"


def _interval(row, name):
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    return f"{value:.0f}" + ("" if math.isnan(low) else f" [{low:.0f}, {high:.0f}]")
