"""What is on disk after a run, for tests of the trainer."""

import csv
import json

LENGTH = 20  # steps of an episode


def metrics(folder):
    return [json.loads(line) for line in open(folder / "metrics.jsonl")]


def scores(folder):
    if not (folder / "scores.csv").exists():
        return []  # it was never evaluated
    with open(folder / "scores.csv") as file:
        return list(csv.DictReader(file))


def leftovers(folder):
    return [path for path in folder.rglob("*") if path.name.endswith(".tmp")]
