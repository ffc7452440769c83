"""Rows of scores, their intervals over seeds, and tables of them."""

import collections
import json
import statistics

import numpy as np
import pandas as pd
from scipy import stats

from agents.system.screen.text import as_markdown
from benchmarks.learning.examples.programs import PROGRAMS, SCORES

_USUAL = "--seed", "--method", "--out"  # words of runs that the page shows


def read(program, paths):
    """Rows of a program's files, one a score; seconds are None where nothing was trained.

    Raises:
        SystemExit: a file is of a run that was made small, or otherwise than the page says.
    """
    rows = []
    for path in paths:
        facts = json.loads(path.read_text())
        _check_arguments(path, facts.get("arguments", ()))
        for found in facts["results"]:
            own = {"program": program, "method": found["method"], "seed": found["seed"]}
            own |= {"data": found.get("data", ""), "seconds": found.get("seconds")}
            own |= {"commit": facts.get("commit")}
            rows += [
                own | {"test": test, "score": score, "value": found[test][score]}
                for test in PROGRAMS[program].tests
                for score in SCORES
                if score in found.get(test, {})
            ]
    return rows + list(_means(rows, PROGRAMS[program].means))


def _means(rows, means):
    """Rows of tests that are means of others, of those that have all of them."""
    for test, parts in means.items():
        found = collections.defaultdict(dict)
        for row in rows:
            if row["test"] in parts:
                found[row["method"], row["seed"], row["score"]][row["test"]] = row
        for each in found.values():
            if len(each) == len(parts):
                first, *_ = each.values()
                value = statistics.fmean(row["value"] for row in each.values())
                own = {"test": test, "value": value, "seconds": None, "data": "all"}
                yield first | own


def _check_arguments(path, words):
    for word in words:
        if word.startswith("--") and word.partition("=")[0] not in _USUAL:
            raise SystemExit(
                f"{path} is of a run with {word}, which the page does not say: run the "
                "program without it, or take the file away"
            )


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


def summarize(rows, plain):
    """A row for each method, test and score: mean, interval, and that of differences.

    `verdict` is 1 where a method is better than the plain one with its interval, -1 where
    worse, else 0.
    """
    values = {}
    for row in rows:
        key = row["method"], row["test"], row["score"]
        values.setdefault(key, {})[row["seed"]] = row["value"]
    found = []
    for (method, test, score), by_seed in values.items():
        beside = values.get((plain, test, score), {})
        pairs = [by_seed[seed] - beside[seed] for seed in by_seed.keys() & beside.keys()]
        _, *ends = interval(pairs) if pairs else (np.nan,) * 3
        signs = np.sign(ends) * SCORES[score][1]
        mean, low, high = map(float, interval(list(by_seed.values())))
        own = {"method": method, "test": test, "score": score, "seeds": len(by_seed)}
        own |= {"mean": mean, "mean_low": low, "mean_high": high}
        found.append(own | {"verdict": int(signs[0]) if signs[0] == signs[1] else 0})
    return found


def verdicts(summary, program):
    """A row for each claim: who is better than the plain method, is not, is worse."""
    rows = []
    for test, score in program.claims:
        found = {
            words_of(row["method"]): row["verdict"]
            for row in summary
            if (row["test"], row["score"]) == (test, score)
            and row["method"] != program.plain
        }
        names = [
            ", ".join(name for name in found if found[name] == sign) for sign in (1, 0, -1)
        ]
        head = [program.tests[test], SCORES[score][0], words_of(program.plain)]
        if found:
            rows.append([*head, *names])
    return rows


def table(rows):
    """Markdown of a test: methods down, scores across."""
    scores = list(dict.fromkeys(row["score"] for row in rows))
    cells = {(row["method"], row["score"]): _cell(row) for row in rows}
    head = ["method", *(SCORES[score][0] for score in scores)]
    methods = dict.fromkeys(row["method"] for row in rows)
    body = [[words_of(m), *(cells.get((m, s), "") for s in scores)] for m in methods]
    return as_markdown(head, body)


def cost(rows):
    """Markdown of the seconds of training."""
    method = ["program", "method"]
    table = pd.DataFrame(rows).groupby([*method, "seed", "data"], sort=False)
    of_seeds = table["seconds"].last().dropna().groupby([*method, "seed"], sort=False).sum()
    body = [
        [*map(words_of, names), len(seeds), f"{seeds.median():.0f}"]
        for names, seeds in of_seeds.groupby(method, sort=False)
    ]
    return as_markdown(["program", "method", "seeds", "processor seconds, median"], body)


def words_of(name):
    """A name as it is read."""
    return name.replace("_", " ")


def _cell(row):
    text = f"{row['mean']:.3f}"
    text = {1: f"**{text}**", 0: text, -1: f"~~{text}~~"}[row["verdict"]]
    if np.isnan(row["mean_low"]):
        return text
    return f"{text} [{row['mean_low']:.3f}, {row['mean_high']:.3f}]"
