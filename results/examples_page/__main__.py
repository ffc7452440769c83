"""results/examples.md: what the layers are worth, from the files that examples leave.

python -m examples.digits METHOD --seed 0 1 2 3 4     # for each method,
python -m examples.regression --seed 0 1 2 3 4        # so the other programs, then
python -m results.examples_page                       # of the files in logdir/

Programs without a file stay on the page as they are.
"""

import argparse
import csv
import json
import pathlib
import re

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from agents.figures.drawing import save_figure, tidy, with_palette
from agents.files import replacing, write_csv, write_text
from benchmarks.measuring import report
from results.examples_page.programs import PROGRAMS
from results.examples_page.tables import beaten, cost, read, summarize, table, words_of

_ABOUT = """
Made by `python -m results.examples_page`; no number is typed by hand. Each score is a mean
over seeds. In brackets: Student's 95 % interval of the mean, over what is random in
training and, where a seed chooses them, over the data. A score is bold where it is better
than that of the method that the program's others stand beside, and struck through where
worse, with Student's 95 % interval of the differences seed by seed on one side of 0; no
correction for the number of comparisons. Calibration error: 10 bins. Date, commit
and processor below are those of the page; a program that was not run anew keeps its scores
and seconds, and says of which commit its runs are.
""".strip()


def find(logdir):
    """Dict of program -> its files of results, that of the plain method first."""
    found = {}
    for name, program in PROGRAMS.items():
        paths = [*logdir.glob(f"{name}.json"), *logdir.glob(f"{name}/*.json")]
        if paths:
            plain = logdir / name / f"{program.plain}.json"
            found[name] = sorted(sorted(paths), key=plain.__ne__)
    return found


def section(name, rows, paths):
    """Markdown of a program: what it is, who beats the plain method, tables, a picture."""
    program, facts = PROGRAMS[name], [json.loads(path.read_text()) for path in paths]
    summary = summarize(rows, program.plain)
    commits = sorted({str(each.get("commit")) for each in facts})
    seeds = map(str, sorted({row["seed"] for row in rows}))
    origin = f"Commit of the runs: {', '.join(commits)}; seeds {', '.join(seeds)}."
    parts = [f"## `examples/{name}.py`", f"{program.about} {origin}"]
    parts.append(f"Beside {words_of(program.plain)}:\n\n{beaten(summary, program)}")
    for test, title in program.tests.items():
        own = [row for row in summary if row["test"] == test]
        parts.append(f"### {title}\n\n{table(own)}")
    if name == "digits" or paths[0].with_suffix(".png").exists():
        parts.append(f"![{name.replace('_', ' ')}](examples_{name}.png)")
    return "\n\n".join(parts)


def kept_rows(folder, programs):
    """Dict of program -> rows of examples.csv, of programs that have any there."""
    found = {}
    if (folder / "examples.csv").exists():
        with open(folder / "examples.csv", newline="") as file:
            for row in csv.DictReader(file):
                seconds = float(row["seconds"]) if row["seconds"] else None
                row |= {"seed": int(row["seed"]), "value": float(row["value"])}
                found.setdefault(row["program"], []).append(row | {"seconds": seconds})
    return {name: rows for name, rows in found.items() if name in programs}


def kept_sections(folder, programs):
    """Dict of program -> Markdown in examples.md."""
    if not programs:
        return {}
    parts = re.split(r"^## ", (folder / "examples.md").read_text(), flags=re.MULTILINE)
    starts = {name: f"`examples/{name}.py`" for name in programs}
    return {
        name: f"## {part.strip()}"
        for name, start in starts.items()
        for part in parts
        if part.startswith(start)
    }


def draw(paths, tests, file):
    """Reliability plots: accuracy over confidence, all seeds together, a panel a test.

    Args:
        paths: files of results, a method each.
        tests: dict of name -> heading.
        file: of the picture.
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
    handles, labels = panels["test"].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
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
    parser = argparse.ArgumentParser("python -m results.examples_page")
    parser.add_argument("--logdir", type=pathlib.Path, default="logdir")
    parser.add_argument("--folder", type=pathlib.Path, default="results")
    options = parser.parse_args(arguments)
    files = find(options.logdir)
    if not files:
        parser.error(f"no files in {options.logdir}; run python -m examples.digits METHOD")
    rows = {name: read(name, paths) for name, paths in files.items()}
    kept = kept_rows(options.folder, PROGRAMS.keys() - files.keys())
    all_rows = [row for name in PROGRAMS for row in (kept | rows).get(name, ())]
    sections = kept_sections(options.folder, kept)
    sections |= {name: section(name, rows[name], paths) for name, paths in files.items()}
    facts = report.origin("python -m results.examples_page")
    parts = ["# What the layers are worth", _ABOUT]
    parts.append("\n".join(f"- {name}: {value}" for name, value in facts.items()))
    parts += [sections[name] for name in PROGRAMS if name in sections]
    parts.append(f"## Cost\n\n{cost(all_rows)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    save_pictures(files, options.folder)
    write_csv(options.folder / "examples.csv", all_rows)
    write_text(options.folder / "examples.md", "\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
