"""How compiled runs of one seed part, by two versions of TensorFlow.

python -m benchmarks.speed.versions FOLDER --folder results

FOLDER/<task>/<version>/<seed> are runs of one config, as of

make train VENV=.venv-3.12 PYTHON=python3.12 \
  ARGS="task=reacher_easy seed=1 environment_steps=20_000 logdir=FOLDER/reacher_easy/2.19/1"
"""

import argparse
import pathlib
import statistics

from agents.runs.records import read_metrics, read_scores
from agents.system.files import write_csv
from agents.system.screen.text import as_markdown, folded
from benchmarks.measuring.options import add_folder
from benchmarks.measuring.report import rows_of

NAME = "versions"
_TERMS = ("train/loss", "train/weight_kl")
NOTES = """\
Runs of one config and seed, compiled by two versions of TensorFlow. After the first 300
gradient steps, from the same five random episodes, loss and weight KL differ by rounding.
Then each version acts a little differently and learns from other episodes. The difference
grows as that of two seeds does. A score is the mean return of the evaluation after the last
step."""


def measure(folder):
    """Compares runs `<task>/<version>/<seed>` of two versions, seed by seed.

    A row a task and seed: versions as `first` and `second`, the relative differences of
    loss and weight KL of the first and of the last training (`loss_first`, `loss_last`,
    `weight_kl_first`, `weight_kl_last`) and the scores.

    Raises:
        ValueError: there is no such folder, a task has not two versions, or a seed has one.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder of runs")
    rows = []
    for task in sorted(each for each in folder.iterdir() if each.is_dir()):
        versions = sorted(each.name for each in task.iterdir())
        if len(versions) != 2:
            raise ValueError(f"{task} must hold two versions, got {versions}")
        seeds = [{run.name for run in (task / each).iterdir()} for each in versions]
        if seeds[0] != seeds[1]:
            raise ValueError(f"{task}: seeds {sorted(seeds[0] ^ seeds[1])} lack a version")
        for seed in sorted(seeds[0]):
            pair = [task / version / seed for version in versions]
            own = {"task": task.name, "seed": seed, "first": versions[0]}
            rows.append({**own, "second": versions[1], **_differences(*pair)})
    return rows


def _differences(one, other):
    trained = [
        [row for row in read_metrics(run) if _TERMS[0] in row] for run in (one, other)
    ]
    found = {"train_steps_first": trained[0][0]["train_steps"]}
    found["train_steps_last"] = trained[0][-1]["train_steps"]
    for term in _TERMS:
        for place, index in (("first", 0), ("last", -1)):
            x, y = (rows[index][term] for rows in trained)
            found[f"{term.removeprefix('train/')}_{place}"] = abs(x - y) / abs(x)
    scores = {"score_of_first": one, "score_of_second": other}
    return found | {name: _score(run) for name, run in scores.items()}


def _score(run):
    rows = read_scores(run)
    last = max(row["environment_steps"] for row in rows)
    return statistics.mean(r["return"] for r in rows if r["environment_steps"] == last)


def section(folder):
    """The part of the page of benchmarks that these rows make; empty without any."""
    rows = rows_of(folder / f"{NAME}.csv")
    if not rows:
        return ""
    first, second = rows[0]["first"], rows[0]["second"]
    places = "first", "last"  # of two trainings
    steps = [f"{int(rows[0][f'train_steps_{place}']):,}" for place in places]
    heads = [
        f"{term} differs by, after {n} steps" for term in ("loss", "KL") for n in steps
    ]
    header = ["task", "seed", *heads, f"score by {first}", f"score by {second}"]
    names = [f"{term}_{place}" for term in ("loss", "weight_kl") for place in places]
    cells = [
        [
            *(row[name] for name in ("task", "seed")),
            *(f"{float(row[name]):.0e}" for name in names),
            *(f"{float(row[f'score_of_{which}']):.0f}" for which in ("first", "second")),
        ]
        for row in rows
    ]
    title = "Runs of one seed by two TensorFlow versions"
    return folded(title, NOTES, as_markdown(header, cells)) + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(
        "python -m benchmarks.speed.versions", description=NOTES
    )
    parser.add_argument("runs", type=pathlib.Path, help="folder of <task>/<version>/<seed>")
    add_folder(parser, f"{NAME}.csv")
    options = parser.parse_args(arguments)
    try:
        rows = measure(options.runs)
    except ValueError as error:
        parser.error(str(error))
    for row in rows:
        print(", ".join(f"{name} {value}" for name, value in row.items()))
    if options.folder:
        write_csv(pathlib.Path(options.folder) / f"{NAME}.csv", rows)


if __name__ == "__main__":
    main()
