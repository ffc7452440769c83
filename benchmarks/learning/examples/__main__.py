"""results/examples.md: how well the layers predict, from the files that examples leave.

python -m examples.digits METHOD --seed 0 1 2 3 4     # for each method,
python -m examples.regression --seed 0 1 2 3 4        # so the other programs, then
python -m benchmarks.learning.examples               # of the files in logdir/

Methods without a file keep their rows of examples.csv; without any, the page is made anew.
"""

import argparse
import collections
import json
import pathlib

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from agents.study.figures.drawing import legend_of_all, save_figure, tidy, with_palette
from agents.system.files import replacing, write_csv, write_text
from agents.system.screen.text import as_markdown, folded
from benchmarks.learning.examples.programs import PROGRAMS, SHIFT
from benchmarks.learning.examples.tables import (
    cost,
    read,
    summarize,
    table,
    verdicts,
    words_of,
)
from benchmarks.measuring import report

_TITLE = "How well Bayesian layers predict"
_QUESTION = "Do Bayesian methods predict better than plain ones?"
_COLUMNS = ("program", "test", "score", "plain method", "better", "no difference shown")
_COLUMNS += ("worse",)
_ABOUT = """
- No number is typed by hand: `python -m benchmarks.learning.examples` makes the page from
  the files of the programs.
- Each score is a mean over seeds. Brackets: Student's 95 % interval of the mean, over what
  is random in training and, where a seed chooses them, over the data.
- Each method is compared with the plain method of its program, seed by seed. A score is
  bold where it is better and struck through where it is worse: Student's 95 % interval of
  the differences lies on one side of 0. The number of comparisons is not corrected for.
- Calibration error: 10 bins.
- The date, commit and processor are those of the page. A method that was not run anew
  keeps its scores and seconds; programs name the commits of their runs. The picture of
  digits has the methods that were run anew.
""".strip()
_DRAWN = ("digits", "images", "regression", "cox_process")  # with a picture


def find(logdir):
    """Dict of program -> its files of results, that of the plain method first."""
    found = {}
    for name, program in PROGRAMS.items():
        paths = [*logdir.glob(f"{name}.json"), *logdir.glob(f"{name}/*.json")]
        if paths:
            plain = logdir / name / f"{program.plain}.json"
            found[name] = sorted(sorted(paths), key=plain.__ne__)
    return found


def claims(name, rows):
    """Rows of the first table: which methods of a program beat the plain one."""
    program = PROGRAMS[name]
    found = verdicts(summarize(rows, program.plain), program)
    return [[words_of(name), *row] for row in found]


def answer(found):
    """How often a Bayesian method beats the plain one, by rows as from `claims`."""
    others = {words_of(each) for program in PROGRAMS.values() for each in program.others}
    better, of = collections.Counter(), collections.Counter()
    for _, test, _, _, *names in found:
        methods = [set(each.split(", ")) - others - {""} for each in names]
        better[SHIFT in test] += len(methods[0])
        of[SHIFT in test] += sum(map(len, methods))
    return (
        f"They do in {better[True]} of {of[True]} comparisons where the data shift, and in "
        f"{better[False]} of {of[False]} elsewhere."
    )


def section(name, rows):
    """Markdown of a program: what it is, and its tables, folded."""
    program = PROGRAMS[name]
    commits, seeds = (sorted({str(row[key]) for row in rows}) for key in ("commit", "seed"))
    origin = f"Commit of the runs: {', '.join(commits)}; seeds {', '.join(seeds)}."
    summary = summarize(rows, program.plain)
    parts = []
    for test, title in program.tests.items():
        own = [row for row in summary if row["test"] == test]
        parts += [f"**{title}**", table(own)] if own else []
    if name in _DRAWN:
        parts.append(_picture(name))
    head = [f"## `examples/{name}.py`", program.about, origin]
    return "\n\n".join([*head, folded("Scores", *parts)])


def _picture(name):
    return f"![{words_of(name)}](examples_{name}.png)"


def page(rows, facts):
    """The text of examples.md, of the rows of each program."""
    found = [row for name in rows for row in claims(name, rows[name])]
    every = [row for own in rows.values() for row in own]
    pictures = [_picture(name) for name in _DRAWN if name in rows]
    parts = [
        f"# {_TITLE}",
        _QUESTION,
        answer(found),
        *pictures[:1],
        "Methods that are better or worse than the plain method, each with a 95 % "
        "interval of the difference on one side of 0.",
        as_markdown(_COLUMNS, found),
        folded("How it was measured", _ABOUT, report.as_lines(facts)),
        *(section(name, own) for name, own in rows.items()),
        "## Cost",
        folded("Processor seconds", cost(every)),
    ]
    return "\n\n".join(parts) + "\n"


def kept_rows(folder):
    """Dict of program -> rows of examples.csv, of programs that have any there."""
    found = {}
    for row in report.rows_of(folder / "examples.csv"):
        seconds = float(row["seconds"]) if row["seconds"] else None
        row |= {"seed": int(row["seed"]), "value": float(row["value"])}
        found.setdefault(row["program"], []).append(row | {"seconds": seconds})
    return found


def merged(before, new):
    """Rows of a program, method by method: new ones, and those of methods without any."""
    methods = {row["method"] for row in new}
    rows = [row for row in before if row["method"] not in methods] + new
    order = list(dict.fromkeys(row["method"] for row in before + new))
    return sorted(rows, key=lambda row: order.index(row["method"]))


def draw(paths, tests, file):
    """Reliability plots: accuracy over confidence, all seeds together, a panel a test.

    `paths` are files of results, a method each; `tests` is a dict of name -> heading.
    """
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    panels = dict(zip(tests, figure.subplots(1, len(tests)), strict=True))
    for number, path in enumerate(paths):
        results = json.loads(path.read_text())["results"]
        for test, panel in panels.items():
            bins = np.sum([found[test]["reliability"] for found in results], axis=0)
            count, right, confidence = bins[bins[:, 0] >= 10].T
            style = ("o-", "s--")[number % 2]
            options = {"label": words_of(results[0]["method"]), "markersize": 3}
            panel.plot(confidence / count, right / count, style, **options)
    for test, panel in panels.items():
        panel.plot([0, 1], [0, 1], color="0.4", linestyle="--", linewidth=1)
        panel.set(xlim=(0, 1), ylim=(0, 1), title=tests[test], xlabel="confidence")
        tidy(panel, "accuracy (bins of 10 or more)")
    legend_of_all(figure, [panels["test"]], ncols=5)
    save_figure(figure, file)


def save_pictures(files, folder):
    """Reliability plots of digits, and the pictures that programs left, as small PNGs."""
    for name, paths in files.items():
        file = folder / f"examples_{name}.png"
        if name == "digits":
            tests = {test: PROGRAMS[name].tests[test] for test in ("test", "rotated")}
            draw(paths, tests, file)
        elif (picture := paths[0].with_suffix(".png")).exists():
            with replacing(file) as handle:
                with_palette(Image.open(picture).convert("RGB")).save(handle, "PNG")


def main(arguments=None):
    parser = argparse.ArgumentParser("python -m benchmarks.learning.examples")
    parser.add_argument("--logdir", type=pathlib.Path, default="logdir")
    parser.add_argument("--folder", type=pathlib.Path, default="results")
    options = parser.parse_args(arguments)
    files = find(options.logdir)
    rows = kept_rows(options.folder)
    if not (files or rows):
        parser.error(f"no files in {options.logdir}; run python -m examples.digits METHOD")
    for name, paths in files.items():
        rows[name] = merged(rows.get(name, []), read(name, paths))
    rows = {name: rows[name] for name in PROGRAMS if name in rows}
    kept = options.folder / "examples.md"
    command = "python -m benchmarks.learning.examples"
    facts = report.origin(command) if files else report.facts_on(kept.read_text())
    options.folder.mkdir(parents=True, exist_ok=True)
    save_pictures(files, options.folder)
    every = [row for own in rows.values() for row in own]
    write_csv(options.folder / "examples.csv", every)
    write_text(kept, page(rows, facts))


if __name__ == "__main__":
    main()
