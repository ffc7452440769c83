"""results/README.md: what was asked, what was found, and where it stands."""

import csv
import math
import re

from agents.compare.report import FEW, FEW_NOTE, FEWEST_SEEDS
from agents.screen.text import as_markdown, number

# file of results/ -> what it shows, and the command that wrote it
_BENCHMARKS = {
    "benchmarks": ("Speed (the whole command on the page)", "make bench ARGS=..."),
    "layers": ("Speed", "python -m benchmarks.layers --folder results"),
    "mesh": ("Weights over devices", "python -m benchmarks.mesh --folder results"),
    "scale": ("Runs of many processes", "python -m benchmarks.scale --folder results"),
    "cheap_environment/scale": (
        "Runs of many processes where little is learned (the whole command on the page)",
        "python -m benchmarks.scale task=fake observation=pixels ...",
    ),
    "examples": ("What the layers are worth", "python -m results.examples_page"),
}
_ONE = "‡"  # marks a number of one seed
_ABOUT = f"""
Made by `python -m results`; no number of a table is typed by hand. A score is an
undiscounted return, at most 1000 on DeepMind Control. In brackets: the 95 % bootstrap
interval over seeds; in parentheses: the extremes of seeds. Each page has its commands,
commit and hardware; a commit with +changes had edits that no commit holds. On another kind
of processor a seed may end as another seed does.
{FEW_NOTE}
{_ONE} One seed.
""".strip()
_SEEDS = ("seeds", "than_seeds")  # columns of tables, of a task
_CELL = re.compile(r"\{(\w+)\.(\w+): ([^}]*)\}")


def readme(folder, studies):
    """The text of README.md.

    Args:
        folder: results/.
        studies: dict of experiments.yaml.
    """
    rows = [
        [each["question"], answer(folder / name, each), _link(folder / name, study)]
        for name, study in studies.items()
        for each in (study, *study.get("also", ()))
    ]
    benchmarks = [
        f"{what}, [{name}.md]({name}.md): `{command}`"
        for name, (what, command) in _BENCHMARKS.items()
        if (folder / f"{name}.md").exists()
    ]
    parts = [
        "# Results",
        _ABOUT,
        as_markdown(["question", "found", "page"], rows),
        "\n\n".join(benchmarks),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def answer(folder, study):
    """What was found, with the numbers that a study's tables hold now.

    Its text names them as `{table.column: column=value; column=value}`: the cell of the
    only row of `table.csv` that has those values. An interval, with a mark where it is of
    too few seeds, or the extremes of seeds follow where the table has them.

    Args:
        folder: of the study.
        study: its entry in experiments.yaml.

    Raises:
        SystemExit: a table has several such rows.
    """
    if not folder.exists():  # a text may name no table
        return "not measured yet"
    try:
        return _CELL.sub(lambda found: _cell(folder, *found.groups()), study["answer"])
    except FileNotFoundError:
        return "not measured yet"


def _cell(folder, table, column, words):
    wanted = dict(word.split("=", 1) for word in words.split("; "))
    with open(folder / f"{table}.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if wanted.items() <= row.items()]
    if not rows:
        return "(not measured yet)"
    if len(rows) > 1:
        raise SystemExit(f"{folder / table}.csv has {len(rows)} rows with {words}; not one")
    text = _text(rows[0][column])
    interval = [rows[0].get(f"{column}{end}") for end in ("_low", "_high")]
    extremes = [rows[0].get(f"{column}{end}") for end in ("_lowest", "_highest")]
    if all(interval):
        text += f" [{_text(interval[0])}, {_text(interval[1])}]{_few(rows[0])}"
    elif f"{column}_low" in rows[0] and rows[0].get("seeds") == "1":
        text += _ONE
    if all(extremes) and extremes[0] != extremes[1]:
        text += f" ({_text(extremes[0])} to {_text(extremes[1])})"
    return text


def _few(row):
    """A mark of an interval of too few seeds."""
    seeds = [int(row[name]) for name in _SEEDS if row.get(name)]
    return FEW if seeds and min(seeds) < FEWEST_SEEDS else ""


def _text(cell):
    """A number as it is read; anything else as it stands."""
    try:
        value = float(cell)
    except ValueError:
        return cell
    if value == math.inf:
        return "never"
    return f"{value:,.0f}" if value == int(value) else number(value)


def _link(folder, study):
    title = study["title"] + (" (an earlier agent)" if "agent" in study else "")
    page = folder / "README.md"
    return f"[{title}]({folder.name}/{page.name})" if page.exists() else title
