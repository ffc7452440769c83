"""Scores that others have published, to be seen beside one's own.

published_scores.csv holds means over seeds, each row with its source (`SOURCES`). Steps
are environment steps. The action repeat, or the number of seeds, is empty where the source
does not state it.
"""

import csv
import dataclasses
import pathlib

FURTHEST = 1.5  # times the steps of a run, up to which a published score stands beside it

SOURCES = """
Published scores are from

- the score files of [danijar/dreamerv3](https://github.com/danijar/dreamerv3), MIT licence:
  DreamerV3 (Hafner et al., 2023, Mastering Diverse Domains through World Models) and D4PG
  (Barth-Maron et al., 2018);
- the score files of [nicklashansen/tdmpc2](https://github.com/nicklashansen/tdmpc2), MIT
  licence: TD-MPC2 (Hansen, Su and Wang, 2024, Scalable, Robust World Models for Continuous
  Control), SAC (Haarnoja et al., 2018), and its runs of DreamerV3;
- the result files of [nicklashansen/tdmpc](https://github.com/nicklashansen/tdmpc): TD-MPC
  with an action repeat for each task (Hansen, Wang and Su, 2022, Temporal Difference
  Learning for Model Predictive Control);
- the result files of [wertyuilife2/bmpc](https://github.com/wertyuilife2/bmpc): BMPC (Wang
  et al., 2025, Bootstrapped Model Predictive Control), and its runs of TD-MPC2;
- the result files of [facebookresearch/MRQ](https://github.com/facebookresearch/MRQ): MR.Q
  (Fujimoto et al., 2025, Towards General-Purpose Model-Free Reinforcement Learning);
- table 1 of Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels, with
  danijar/dreamer: PlaNet;
- section 3.2 of Tran et al., 2019, Bayesian Layers: Bayesian PlaNet.
""".strip()

_FILE = pathlib.Path(__file__).with_name("published_scores.csv")


@dataclasses.dataclass(frozen=True)
class Point:
    """A published score; `low` and `high` are the extremes over seeds, or None."""

    environment_steps: int
    seeds: int | None
    action_repeat: int | None
    mean: float
    low: float | None
    high: float | None
    source: str


@dataclasses.dataclass(frozen=True)
class Published:
    """The curve of a method on one task."""

    method: str
    points: list  # by environment steps

    @property
    def seeds(self):
        """The fewest of a point, or None where one does not state them."""
        counts = [point.seeds for point in self.points]
        return None if None in counts else min(counts)

    @property
    def action_repeat(self):
        """That of all points, or None where they differ or it is not stated."""
        repeats = {point.action_repeat for point in self.points}
        return repeats.pop() if len(repeats) == 1 else None

    def nearest(self, steps):
        """The point whose number of steps is nearest, in proportion.

        None, where that is more than 1.5 times as many steps, or as few.
        """

        def away(point):
            return max(point.environment_steps, steps) / min(point.environment_steps, steps)

        found = min(self.points, key=away)
        return found if away(found) <= FURTHEST else None


def published_scores(config):
    """What was published of a run's task, for the same observations.

    Args:
        config: nested dict of a run. With a cost of actions returns mean something else,
            and nothing is comparable.

    Returns:
        List of `Published`.

    Example:
        >>> [each.method for each in published_scores({"task": "cheetah_run", "observation": "pixels"})]
        ['DreamerV3', 'PlaNet', 'Bayesian PlaNet']
    """  # noqa: E501
    if config.get("action_cost"):
        return []
    wanted = [config.get("task"), config.get("observation")]
    with open(_FILE, newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if [row["task"], row["observation"]] == wanted
        ]
    return [
        Published(
            method,
            sorted(
                (_point(row) for row in rows if row["method"] == method),
                key=lambda point: point.environment_steps,
            ),
        )
        for method in dict.fromkeys(row["method"] for row in rows)
    ]


def _point(row):
    low, high = (
        float(row[key]) if row[key] else None for key in ("min_return", "max_return")
    )
    seeds, repeat = (
        int(row[key]) if row[key] else None for key in ("seeds", "action_repeat")
    )
    steps, mean = int(row["environment_steps"]), float(row["mean_return"])
    return Point(steps, seeds, repeat, mean, low, high, row["source"])
