"""What exploration found: the first reward, the share of the physics visited.

Reward is found where an agent step without any is followed by one with it: an episode may
start where reward is. Every run begins with episodes of random actions, the same with every
strategy; first rewards and shares are those of the planned episodes after them, and it is
told how many runs had found reward before. Coverage counts all episodes, for a strategy
gains nothing by going there again. Where random actions are rewarded all the time there is
nothing to find, and of first rewards nothing is told. What is told wherever the
highest return is known is the first planned episode that returned a tenth of it.
"""

import dataclasses
import logging
import math

import numpy as np

from agents.runs.grouping import Group
from agents.study import statistics
from agents.study.compare.ends import common_end, last_step
from agents.study.compare.scores import scale

_REACHED, _COVERAGE = "explore/reached_reward", "explore/coverage"
_RATIO, _RETURN = "explore/epistemic_ratio", "collect/return"
_COST, _RANDOM = "explore/cost", "explore/is_random"
_LAST = 10  # episodes whose returns are averaged
_RARE = 0.1  # share of the agent steps of random episodes that are rewarded, at most
_OF_REWARD = ("episodes", "steps", "before", "rewarded")
_TENTH = 0.1  # of the highest return

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Exploration:
    """How the runs of a group explored; arrays are [seeds], in the order of its runs.

    Those of first rewards are nan where reward is not rare.

    Args:
        group: `agents.runs.grouping.Group`.
        episodes: number of the first planned episode that found reward; inf: none did.
        steps: environment steps at its end; inf.
        before: 1 where random episodes had found reward, else 0.
        seen: environment steps of the run that count.
        rewarded: share of the planned episodes that found reward, or nan.
        tenth: number of the first planned episode that returned a tenth of the highest
            return; inf: none did; nan: the highest is not known.
        returns: mean return of the last ten planned episodes, or nan.
        cost: mean over planned episodes of what actions and negative rewards took, or nan.
        coverage: share of the task's grid visited by then, random episodes too, or nan.
        ratio: mean over episodes of epistemic over aleatoric stddev, or nan.
    """

    group: Group
    episodes: np.ndarray
    steps: np.ndarray
    before: np.ndarray
    seen: np.ndarray
    rewarded: np.ndarray
    tenth: np.ndarray
    returns: np.ndarray
    cost: np.ndarray
    coverage: np.ndarray
    ratio: np.ndarray

    @property
    def found(self):
        """How many runs have found reward."""
        return int(np.isfinite(self.steps).sum())

    @property
    def is_rare(self):
        """Whether first rewards are told."""
        return not np.isnan(self.steps).any()

    def median_of(self, values):
        """(median, lower, upper) over seeds; runs that never found count as the last.

        Their order is known and their value is not, which is all that a median needs:
        where half of the runs never found, it is infinite.
        """
        return statistics.median(values), *statistics.interval([values], statistics.median)


def explorations(groups, at=None):
    """How each group of a task explored, up to the same environment steps.

    Args:
        groups: list of `agents.runs.grouping.Group`; runs that did not log it are left out,
            and so are those that have no planned episode yet.
        at: the environment steps; None: as `agents.study.compare.ends.common_end` says.

    Returns:
        List of `Exploration`.
    """
    runs = [run for group in groups for run in group.runs]
    logged = [run for run in runs if _has_explored(run)]
    if not logged:
        return []
    end = common_end("explorations", logged, lambda run: last_step(run.metrics), at)
    _warn_of_left_out([run for run in runs if not _has_explored(run, end)], end)
    found = []
    for group in groups:
        runs = [run for run in group.runs if _has_explored(run, end)]
        if runs:
            rows = np.array([_numbers(run, end) for run in runs])
            own = dataclasses.replace(group, runs=runs)
            found.append(Exploration(own, *rows.T))
    share = _share_of_random_rewards(logged)
    if share <= _RARE:
        return found
    log.warning(
        "no first rewards for %s: random actions are rewarded in %.0f %% of their steps",
        groups[0].task,
        100 * share,
    )
    return list(map(_without_first_rewards, found))


def _warn_of_left_out(runs, end):
    if runs:
        log.warning(
            "left out of exploration: %d runs without a planned episode in the first "
            "%s environment steps, such as %s",
            len(runs),
            f"{end:,}",
            runs[0].folder,
        )


def _share_of_random_rewards(runs):
    """The share of the agent steps of random episodes that are rewarded."""
    rewarded, steps = 0, 0
    for run in runs:
        before = 0
        for row in run.metrics:
            now = row.get("agent_steps", 0)
            if _is_random(row, run):
                rewarded += row.get("explore/rewarded_steps", 0)
                steps += now - before
            before = now
    return rewarded / steps if steps else 0.0


def _is_random(row, run):
    """Whether the actions of an episode were random; by order where it was not logged."""
    is_early = row["episodes"] <= run.config.get("seed_episodes", 0)
    return row.get(_RANDOM, is_early)


def _without_first_rewards(exploration):
    unknown = np.full_like(exploration.steps, np.nan)
    return dataclasses.replace(exploration, **dict.fromkeys(_OF_REWARD, unknown))


def first_reward(rows):
    """Episode and environment steps of the first episode that found reward; inf: none did.

    Example:
        >>> row = {"episodes": 1, "environment_steps": 20, "explore/reached_reward": 0}
        >>> first_reward([row])
        (inf, inf)
        >>> first_reward([row, row | {"episodes": 2, "explore/reached_reward": 1}])
        (2, 20)
    """
    for row in rows:
        if row.get(_REACHED):
            return row["episodes"], row["environment_steps"]
    return math.inf, math.inf


def _has_explored(run, end=math.inf):
    rows = (row for row in run.metrics if row["environment_steps"] <= end)
    return any(_REACHED in row and not _is_random(row, run) for row in rows)


def _numbers(run, end):
    rows = [row for row in run.metrics if row["environment_steps"] <= end]
    planned = [row for row in rows if not _is_random(row, run)]
    coverage = [row[_COVERAGE] for row in rows if row.get(_COVERAGE) is not None]
    returns = [row[_RETURN] for row in planned if row.get(_RETURN) is not None]
    return [
        *(first_reward(planned) if planned else (math.nan, math.nan)),
        any(row.get(_REACHED) for row in rows if _is_random(row, run)),
        end,
        _mean([row[_REACHED] for row in planned if row.get(_REACHED) is not None]),
        _first_tenth(planned, scale(run.config.get("task", ""))),
        _mean(returns[-_LAST:]),
        _mean([row[_COST] for row in planned if row.get(_COST) is not None]),
        coverage[-1] if coverage else math.nan,
        _mean([row[_RATIO] for row in planned if row.get(_RATIO) is not None]),
    ]


def _first_tenth(planned, highest):
    """The first episode that returned a tenth of the highest return; inf: none did."""
    if highest is None or not planned:
        return math.nan
    returned = [row for row in planned if row.get(_RETURN) is not None]
    enough = (row["episodes"] for row in returned if row[_RETURN] >= _TENTH * highest)
    return next(enough, math.inf)


def _mean(values):
    return float(np.mean(values)) if values else math.nan
