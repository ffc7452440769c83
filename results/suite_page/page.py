"""The suite's folder: tables, curves and page, from its runs as far as they have come."""

import math
import shutil

from agents.compare.published import SOURCES
from agents.compare.report import FEW, FEW_NOTE, FEWEST_SEEDS
from agents.compare.tables import write
from agents.figures.drawing import save
from agents.files import write_text
from agents.runs import divergence, history
from agents.runs.folder import read_config, runs_below
from agents.runs.grouping import group
from agents.screen.text import as_markdown
from results.answers import outcome
from results.collected import KEPT, collect
from results.pages import made_by, sources
from results.studies import commanded_runs
from results.suite_page.curves import curves, weights
from results.suite_page.standings import (
    METHODS,
    STEPS,
    default_transition,
    published_at_end,
    standings,
)
from results.suite_page.tables import tables
from results.summary import sources_of

_FILMS = {
    f"episode_{STEPS}_strip.png": ".png",
    f"episode_{STEPS}.mp4": ".mp4",
    f"open_loop_{STEPS}.png": "_open_loop.png",
}  # name below videos/ of a run -> ending of the copy's
_NOTES = f"""
A score is the mean return of the evaluation episodes after {STEPS:,} environment steps
(before action repeat), planned by averaged weights, their means, without noise. Brackets:
the 95 % bootstrap interval over seeds. Published scores are means over seeds, of other
protocols: TD-MPC's own repository holds an action for 8 (cartpole), 2 (finger, walker) or
4 steps, as PlaNet and we do on the tasks that it has, most others for 2. A published mean
counts as exact here, and of five seeds a bootstrap interval holds the mean of many in
about 85 of 100 cases: a whole interval above says less than it seems. Over tasks there is
an interval once each has two seeds. Minutes, the median of the runs, are those of
training and evaluation, start-up aside, with two runs or more on the machine.
{FEW_NOTE}
""".strip()


def make(folder, study):
    """Collects the runs and writes tables, figure and page of the suite.

    Args:
        folder: `pathlib.Path`, `results/suite`.
        study: its entry in experiments.yaml.

    Raises:
        SystemExit: there is no run yet; the message gives the commands.
    """
    runs = [history.load(run) for run in collect(study["runs"], folder / KEPT)]
    found = standings(runs, commanded_runs(study["commands"]))
    if not any(each.runs for each in found.values()):
        commands = "\n".join(f"  {command}" for command in study["commands"])
        raise SystemExit(f"no runs in {study['runs']}; make them with\n{commands}")
    films = _keep_films(study["runs"], folder / "films")
    parts = tables(found)
    for file in folder.glob("*.csv"):
        file.unlink()
    write({name: parts[name] for name in ("scores", "against", "twins")}, folder)
    drawn = save({"curves": curves(found), "weights": weights(found)}, folder)
    figures = {file.stem: f"![{file.stem}]({file.name})" for file in drawn}
    write_text(folder / "README.md", _page(folder, study, found, parts, figures, films))


def _keep_films(root, folder):
    """Copies films of each task's first seed, where it is finished; names of all."""
    for run in runs_below(root):
        config = read_config(run)
        is_shown = (config["seed"], config["transition"]) == (0, default_transition())
        for name, ending in _FILMS.items():
            film = run / "videos" / name
            if film.exists() and is_shown:
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy(film, folder / f"{config['task']}_{config['seed']}{ending}")
    return sorted(file.name for file in folder.glob("*.*"))


def _page(folder, study, found, parts, figures, films):
    runs = [run.folder for each in found.values() for run in each.runs]
    parts = [
        f"# {study['title']}",
        outcome(folder, study),
        study["about"],
        made_by(study),
        sources(sources_of(runs)),
        "```\n" + "\n".join([*study["commands"], "python -m results suite"]) + "\n```",
        _progress(found),
        figures.get("curves"),
        _NOTES,
        _scores(parts["scores"]),
        SOURCES,
        _against(parts["against"]),
        _twins(parts["twins"]),
        figures.get("weights"),
        _planners(runs),
        _films(films),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


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
        _unfinished(each, run)
        for each in found.values()
        for run in each.runs
        if run.config["seed"] in each.reached
    ]
    return "\n".join(lines)


def _unfinished(each, run):
    seed = run.config["seed"]
    name = f"{each.task}, {each.transition}, seed {seed}"
    reason = divergence.read(run.folder) or "under way"
    return f"- in no table: {name}, {each.reached[seed]:,} steps; {reason}"


def _scores(rows):
    cells = []
    for row in rows:
        theirs = published_at_end(row["task"])
        seeds = _count(row["seeds"]) + (
            f" of {row['wanted']}" * (row["seeds"] < row["wanted"])
        )
        cells.append(
            [
                row["task"],
                row["transition"],
                seeds,
                _interval(row, "mean"),
                f"{row['iqm']:.0f}",
                row["each_seed"],
                row["commits"],
                f"{row['minutes']:.0f}",
                *(f"{theirs[name]:.0f}" if name in theirs else "" for name in METHODS),
            ]
        )
    columns = ["task", "transition", "n", "mean", "IQM", "each seed"]
    columns += ["commit", "minutes a run"]
    title = f"Scores after {STEPS:,} environment steps, beside published means"
    return _table(title, [*columns, *METHODS.values()], cells)


def _against(rows):
    columns = ["tasks", "published method", "our runs", "above on", "whole interval above"]
    columns += ["least share of it", "mean of ours less its", "without one task"]
    columns += ["IQM of it", "IQM of ours"]
    cells = [
        [
            row["tasks"],
            row["method"]
            + (f", {row['stand_in']} where it has none" * bool(row["stand_in"])),
            f"{row['runs']}",
            f"{row['above']} of {row['n']}",
            f"{row['surely']} of {row['with_interval']}",
            f"{row['least']:.2f} ({row['least_task']})",
            _interval(row, "ahead"),
            f"{row['ahead_elsewhere']:.0f} ({row['greatest_task']})"
            if row["n"] > 1
            else "",
            f"{row['published']:.0f}",
            _interval(row, "iqm"),
        ]
        for row in rows
    ]
    title = (
        "Against each published method: on how many of the tasks that it has our mean is "
        "higher, on how many of those with five seeds its whole interval is, where our "
        "share of its score is least, how far our mean is ahead, mean over those tasks and "
        "without the one where it is furthest, and interquartile means over them, which "
        "leave out the best and the worst quarter of each, rounded down"
    )
    return _table(title, columns, cells)


def _twins(rows):
    cells = [
        [
            row["task"],
            *(
                f"{row[f'{way}mean']:.0f} (n = {_count(row[f'{way}seeds'])})"
                for way in ("", "than_")
            ),
            _interval(row, "difference"),
        ]
        for row in rows
    ]
    columns = ["task", "Bayesian", "deterministic", "difference"]
    title = "A posterior over the transition's weights against one value for each"
    return _table(title, columns, cells)


def _planners(runs):
    """The comparison of planners on the model of one of the runs."""
    file = next(
        (run / "planners.csv" for run in runs if (run / "planners.csv").exists()), None
    )
    if file is None:
        return ""
    head, *rows = (line.split(",") for line in file.read_text().splitlines())
    conclusion = file.with_suffix(".txt").read_text().strip()
    name = "/".join(file.parent.parts[-3:])
    title = f"Planners on the model of {name}, by `python -m benchmarks.planners`"
    return _table(f"{title}: {conclusion}.", head, rows)


def _films(names):
    if not names:
        return ""
    pictures = [name.removesuffix(".png") for name in names if name.endswith(".png")]
    title = (
        "An episode of the agent at the end of a run (a click shows the film), and what "
        "its model predicts of one open loop, by `bayes-rl video RUN`"
    )
    return "\n\n".join([title, *(_picture(name, names) for name in pictures)])


def _picture(name, names):
    """A picture, a link to the film of which it is the strip."""
    shown = f"![{name}](films/{name}.png)"
    return f"[{shown}](films/{name}.mp4)" if f"{name}.mp4" in names else shown


def _table(title, columns, rows):
    return f"{title}\n\n{as_markdown(columns, rows)}" if rows else ""


def _count(seeds):
    """The number of seeds, marked where an interval of so few says little."""
    return f"{seeds}{FEW}" if 1 < seeds < FEWEST_SEEDS else f"{seeds}"


def _interval(row, name):
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    return f"{value:.0f}" + ("" if math.isnan(low) else f" [{low:.0f}, {high:.0f}]")
