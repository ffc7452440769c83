"""The table of metrics: every number of metrics.jsonl, in one place, metrics.csv.

Whoever writes, draws, compares or explains a metric takes its words from here. TensorBoard
shows its sentence, the page of columns is made of it.
"""

import csv
import pathlib
import re
from typing import NamedTuple


class Metric(NamedTuple):
    """One number of a line of metrics.jsonl; a text is empty where it says nothing."""

    name: str  # key of the line; `train/weight_kl/*` is that of any layer
    unit: str  # empty also where it depends on the config
    label: str  # name in charts and on the screen; empty: the name
    chart: str  # name of the figure that has it, of `bayes-rl plot` or compare
    meaning: str  # one sentence


with open(pathlib.Path(__file__).with_suffix(".csv"), newline="") as _rows:
    METRICS = {row["name"]: Metric(**row) for row in csv.DictReader(_rows)}


def metric(name):
    """The `Metric` of a key of metrics.jsonl.

    Raises:
        KeyError: the table lacks it.

    Example:
        >>> metric("explore/epistemic_ratio").unit
        'ratio'
        >>> metric("train/weight_kl/gru").unit
        'nats'
    """
    of_any = re.sub(r"[^/]+$", "*", name)
    found = METRICS.get(name) or METRICS.get(of_any)
    if found is None:
        raise KeyError(f"agents/runs/metrics.csv does not say what {name!r} means")
    return found


def of_chart(chart):
    """Dict of name -> label of the metrics of a chart, in order.

    Example:
        >>> of_chart("returns")
        {'collect/return': 'return'}
    """
    return {each.name: each.label for each in METRICS.values() if each.chart == chart}
