"""results/examples.md: what the layers are worth, from the files that examples leave.

python -m examples.digits METHOD --seed 0 1 2 3 4     # for each method, then
python -m results.examples_page                       # of logdir/digits/*.json
"""

import argparse
import json
import pathlib

import numpy as np
from matplotlib.figure import Figure
from scipy import stats

from agents.figures.drawing import save_figure, tidy
from agents.files import write_csv, write_text
from agents.screen.text import as_markdown
from benchmarks import report

PLAIN = "deterministic"
TESTS = {"test": "Digits", "rotated": "Digits rotated by 15 to 45 degrees, the shift"}
# score -> heading, and the sign of what is better
SCORES = {
    "accuracy": ("accuracy", 1),
    "negative_log_likelihood": ("NLL, nats", -1),
    "calibration_error": ("calibration error", -1),
    "brier": ("Brier", -1),
    "auroc": ("AUROC of letters", 1),
}
_ABOUT = """
Made by `python -m results.examples_page`; no number is typed by hand. A small
convolutional net learns 1000 of scikit-learn's digits, ten ways; see `examples/digits.py`.
Each score is a mean over seeds. In brackets: Student's 95 % interval of the mean, over what
is random in training and over the choice of training digits; all seeds are tested on the
same images. A score is bold where it is better than the plain network's, and struck through
where worse, with Student's 95 % interval of the differences seed by seed on one side of 0;
no correction for the number of comparisons. Calibration error: 10 bins. Letters are told
from digits by the entropy of the mean prediction.
""".strip()


def read(paths):
    """Rows of result files.

    Returns:
        List of dicts with method, seed, seconds, test, score and value, a row a score.
    """
    rows = []
    for path in paths:
        for found in json.loads(path.read_text())["results"]:
            own = {key: found[key] for key in ("method", "seed", "seconds")}
            rows += [
                own | {"test": test, "score": score, "value": found[test][score]}
                for test in (*TESTS, "letters")
                for score in SCORES
                if score in found[test]
            ]
    return rows


def interval(values):
    """Mean and Student's 95 % interval of it; without an interval, NaN, for one value.

    Example:
        >>> [round(float(x), 2) for x in interval([1.0, 2.0, 3.0])]
        [2.0, -0.48, 4.48]
    """
    mean = np.mean(values)
    if len(values) < 2:
        return mean, np.nan, np.nan
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    return mean, mean - half, mean + half


def summarize(rows):
    """A row for each method, test and score: mean, interval, and that of differences.

    Args:
        rows: as `read` returns them.

    Returns:
        List of dicts; `verdict` is 1 where a method is better than the plain network with
        its interval, -1 where worse, else 0.
    """
    values = {}
    for row in rows:
        key = row["method"], row["test"], row["score"]
        values.setdefault(key, {})[row["seed"]] = row["value"]
    found = []
    for (method, test, score), by_seed in values.items():
        plain = values.get((PLAIN, test, score), {})
        pairs = [by_seed[seed] - plain[seed] for seed in by_seed.keys() & plain.keys()]
        difference = interval(pairs) if pairs else (np.nan,) * 3
        names = [
            f"{x}{end}" for x in ("mean", "less_plain") for end in ("", "_low", "_high")
        ]
        numbers = (*interval(list(by_seed.values())), *difference)
        own = {"method": method, "test": test, "score": score, "seeds": len(by_seed)}
        own |= dict(zip(names, map(float, numbers), strict=True))
        signs = np.sign(difference[1:]) * SCORES[score][1]
        found.append(own | {"verdict": int(signs[0]) if signs[0] == signs[1] else 0})
    return found


def tables(summary, rows):
    """Markdown of a table for each test, then of the seconds of training."""
    parts = []
    for test, title in TESTS.items():
        own = [row for row in summary if row["test"] == test]
        if test == "test":
            own += [row for row in summary if row["test"] == "letters"]
        scores = list(dict.fromkeys(row["score"] for row in own))
        cells = {(row["method"], row["score"]): _cell(row) for row in own}
        methods = list(dict.fromkeys(row["method"] for row in own))
        head = ["method", *(SCORES[score][0] for score in scores)]
        body = [[_words(m), *(cells[m, score] for score in scores)] for m in methods]
        parts.append(f"## {title}\n\n{as_markdown(head, body)}")
    seconds = {}
    for row in rows:
        seconds.setdefault(row["method"], {})[row["seed"]] = row["seconds"]
    body = [
        [_words(method), str(len(each)), f"{np.median(list(each.values())):.0f}"]
        for method, each in seconds.items()
    ]
    table = as_markdown(["method", "seeds", "processor seconds of training, median"], body)
    return "\n\n".join([*parts, f"## Cost\n\n{table}"])


def beaten(summary):
    """Lines that say which methods beat the plain network under shift, and which do not."""
    shift = [row for row in summary if row["test"] == "rotated" and row["method"] != PLAIN]
    lines = []
    for score in ("negative_log_likelihood", "calibration_error"):
        own = [row for row in shift if row["score"] == score]
        words = [
            f"{word}: {', '.join(_words(r['method']) for r in own if r['verdict'] == sign)}"
            for word, sign in (("better", 1), ("no difference shown", 0), ("worse", -1))
            if any(row["verdict"] == sign for row in own)
        ]
        lines.append(f"- {SCORES[score][0]}: {'; '.join(words)}")
    return "Beside the plain network, on rotated digits:\n\n" + "\n".join(lines)


def _words(method):
    return method.replace("_", " ")


def _cell(row):
    text = f"{row['mean']:.3f}"
    text = {1: f"**{text}**", 0: text, -1: f"~~{text}~~"}[row["verdict"]]
    if np.isnan(row["mean_low"]):
        return text
    return f"{text} [{row['mean_low']:.3f}, {row['mean_high']:.3f}]"


def draw(paths, file):
    """Reliability plots: accuracy over confidence, all seeds together, a panel a test."""
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    panels = dict(zip(TESTS, figure.subplots(1, len(TESTS)), strict=True))
    for number, path in enumerate(paths):
        results = json.loads(path.read_text())["results"]
        for test, panel in panels.items():
            bins = np.sum([found[test]["reliability"] for found in results], axis=0)
            count, right, confidence = bins[bins[:, 0] >= 10].T
            style = ("o-", "s--")[number % 2]
            options = {"label": _words(results[0]["method"]), "markersize": 3}
            panel.plot(confidence / count, right / count, style, **options)
    for test, panel in panels.items():
        panel.plot([0, 1], [0, 1], color="0.4", linestyle="--", linewidth=1)
        panel.set(xlim=(0, 1), ylim=(0, 1), title=TESTS[test], xlabel="confidence")
        tidy(panel, "accuracy (bins of 10 or more)")
    handles, labels = panels["test"].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    save_figure(figure, file)


def main(arguments=None):
    parser = argparse.ArgumentParser("python -m results.examples_page")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, default="results")
    options = parser.parse_args(arguments)
    paths = options.files or sorted(pathlib.Path("logdir/digits").glob("*.json"))
    if not paths:
        parser.error("no files in logdir/digits/; run python -m examples.digits METHOD")
    paths.sort(key=lambda path: (path.stem != PLAIN, path.stem))
    rows = read(paths)
    summary = summarize(rows)
    facts = report.origin("python -m results.examples_page")
    lines = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    picture = "![Accuracy over confidence](examples_reliability.png)"
    parts = ["# What the layers are worth", _ABOUT, lines, beaten(summary)]
    page = "\n\n".join([*parts, tables(summary, rows), picture]) + "\n"
    options.folder.mkdir(parents=True, exist_ok=True)
    draw(paths, options.folder / "examples_reliability.png")
    write_csv(options.folder / "examples.csv", rows)
    write_text(options.folder / "examples.md", page)


if __name__ == "__main__":
    main()
