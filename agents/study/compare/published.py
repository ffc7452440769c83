"""Scores that others have published, to be seen beside one's own.

published_scores.csv holds means over seeds, each row with its source (`SOURCES`). Steps
are environment steps. The action repeat, or the number of seeds, is empty where the source
does not state it.
"""

import functools
import pathlib

import pandas as pd

FURTHEST = 1.5  # times the steps of a run, up to which a published score stands beside it
MOST_SHOWN = 6  # methods of a task, in a figure and in a printed table

SOURCES = """
Published scores are from

- the score files of [danijar/dreamerv3](https://github.com/danijar/dreamerv3), MIT licence:
  DreamerV3 (Hafner et al., 2023, Mastering Diverse Domains through World Models), and its
  runs of D4PG (Barth-Maron et al., 2018), DDPG (Lillicrap et al., 2016), MPO and DMPO
  (Abdolmaleki et al., 2018), PPO (Schulman et al., 2017), and from pixels of CURL
  (Laskin et al., 2020), DrQ-v2 (Yarats et al., 2022) and SAC;
- the score files of [nicklashansen/tdmpc2](https://github.com/nicklashansen/tdmpc2), MIT
  licence: TD-MPC2 (Hansen, Su and Wang, 2024, Scalable, Robust World Models for Continuous
  Control), SAC (Haarnoja et al., 2018), and its runs of DreamerV3 and TD-MPC;
- the result files of [nicklashansen/tdmpc](https://github.com/nicklashansen/tdmpc): TD-MPC
  with an action repeat for each task (Hansen, Wang and Su, 2022, Temporal Difference
  Learning for Model Predictive Control);
- the result files of [wertyuilife2/bmpc](https://github.com/wertyuilife2/bmpc): BMPC (Wang
  et al., 2025, Bootstrapped Model Predictive Control), and its runs of TD-MPC2;
- the result files of [facebookresearch/MRQ](https://github.com/facebookresearch/MRQ): MR.Q
  (Fujimoto et al., 2025, Towards General-Purpose Model-Free Reinforcement Learning);
- the result files of [aidanscannell/dcmpc](https://github.com/aidanscannell/dcmpc): DC-MPC
  (Scannell et al., 2025, Discrete Codebook World Models for Continuous Control), its steps
  rounded to 25,000;
- table 1 of Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels, with
  danijar/dreamer: PlaNet, and A3C (Mnih et al., 2016) and D4PG after 100,000,000 steps;
- section 3.2 of Tran et al., 2019, Bayesian Layers: Bayesian PlaNet.
""".strip()

_FILE = pathlib.Path(__file__).with_name("published_scores.csv")
_BESIDE = {"mean_return": "mean", "min_return": "low", "max_return": "high"}  # our names


def published_scores(config):
    """What was published of a run's task, for the same observations.

    A row is a point of a method's curve, by environment steps; `low` and `high` are the
    extremes over seeds, or nan. Nothing is comparable where the run's config has a cost of
    actions, for returns mean something else, or where it learned from logged episodes.

    Example:
        >>> config = {"task": "cheetah_run", "observation": "pixels"}
        >>> published_scores(config)["method"].unique()[:3].tolist()
        ['DreamerV3', 'PlaNet', 'Bayesian PlaNet']
    """
    table = _table()
    own = table["task"] == config.get("task")
    own &= table["observation"] == config.get("observation")
    is_comparable = not config.get("action_cost") and config.get("data") is None
    points = table[own & is_comparable].rename(columns=_BESIDE)
    points = points.assign(order=points.groupby("method", sort=False).ngroup())
    points = points.sort_values(["order", "environment_steps"], ignore_index=True)
    return points.drop(columns=["task", "observation", "order"])


@functools.cache
def _table():
    counts = dict.fromkeys(["seeds", "action_repeat"], "Int64")
    return pd.read_csv(_FILE, dtype=counts, float_precision="round_trip")


def nearest(points, steps):
    """Of each method the point whose number of steps is nearest, in proportion.

    Methods whose nearest has more than 1.5 times as many steps, or as few, have none.
    """
    theirs = points["environment_steps"]
    away = theirs.clip(lower=steps) / theirs.clip(upper=steps)
    closest = points.loc[away.groupby(points["method"], sort=False).idxmin()]
    return closest[away[closest.index] <= FURTHEST]


def best(points):
    """The points of the `MOST_SHOWN` methods whose last ones have the highest means.

    Example:
        >>> points = pd.DataFrame({"method": [*"abcdefg"], "mean": range(7)})
        >>> "".join(best(points)["method"])
        'bcdefg'
    """
    methods = points.groupby("method")["mean"].last().nlargest(MOST_SHOWN).index
    return points[points["method"].isin(methods)]


def protocol(points):
    """(seeds, action repeat) of the points of a method; None where they are not known.

    The seeds are the fewest of a point. The action repeat is that of all points.
    """
    seeds, repeats = points["seeds"], points["action_repeat"]
    same = repeats.iloc[0] if repeats.nunique(dropna=False) == 1 else pd.NA
    fewest = pd.NA if seeds.isna().any() else seeds.min()
    return tuple(None if each is pd.NA else int(each) for each in (fewest, same))
