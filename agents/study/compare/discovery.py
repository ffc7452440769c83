"""What exploration found: the first reward, the share of the physics visited.

Reward is found where an agent step without any is followed by one with it: an episode may
start where reward is. Every run begins with episodes of random actions, the same with every
strategy; first rewards and shares are those of the planned episodes after them, and it is
told how many runs had found reward before. Coverage counts all episodes, for a strategy
gains nothing by going there again. Where random actions are rewarded all the time there is
nothing to find, and of first rewards nothing is told. What is told wherever the
highest return is known is the first planned episode that returned a tenth of it.
"""

import logging
import math

import pandas as pd

from agents.study.compare.ends import common_end
from agents.study.compare.scores import means, scale

_REACHED, _RETURN = "explore/reached_reward", "collect/return"
_LAST = 10  # episodes whose returns are averaged
_RARE = 0.1  # share of the agent steps of random episodes that are rewarded, at most
_TENTH = 0.1  # of the highest return
_FEW = 10  # rewarded episodes that one may learn from
_FIRST, _FEWEST = ["first_reward_episode", "first_reward_steps"], "ten_rewarded_steps"
FIRSTS = [*_FIRST, _FEWEST]
_OF_REWARD = [*_FIRST, "found_before", "rewarded_share"]
EXPLORED = [
    *(*FIRSTS, "rewarded_share", "tenth_episode", "collected_return", "collected_cost"),
    *("coverage", "epistemic_ratio"),
]

log = logging.getLogger(__name__)


def explorations(frames, at=None):
    """How each run explored, up to the same environment steps as others of its task.

    There is a row for each run that has a planned episode by then, with `place`, `task`,
    `group`, `run` and `environment_steps`, those that count. A run that learns from logged
    episodes explores nothing, and has no row. Numbers of first rewards are nan where reward
    is not rare:

    * `first_reward_episode`: the first planned episode that found reward; inf: none.
    * `first_reward_steps`: environment steps at its end; inf.
    * `ten_rewarded_steps`: at the end of the tenth planned episode that found reward; inf.
      It is told of every task.
    * `found_before`: 1 where random episodes had found reward, else 0.
    * `rewarded_share`: of the planned episodes, those that found reward.
    * `tenth_episode`: the first planned episode that returned a tenth of the highest
      return; inf: none did; nan: the highest is not known.
    * `collected_return`: mean return of the last ten planned episodes, or nan.
    * `collected_cost`: mean over planned episodes of what actions and negative rewards
      took, or nan.
    * `coverage`: share of the task's grid visited by then, random episodes too, or nan.
    * `epistemic_ratio`: mean over episodes of epistemic over aleatoric stddev, or nan.
    """
    seed_steps = frames.runs.get("seed_steps", pd.Series(dtype=float))
    early = frames.episodes["run"].map(seed_steps)
    begun = frames.episodes.groupby("run")["environment_steps"].shift(fill_value=0)
    is_early = (begun < early.fillna(0)).astype(float)
    is_random = frames.episodes["explore/is_random"].fillna(is_early).astype(bool)
    episodes = frames.episodes.assign(is_random=is_random)
    collecting = frames.runs
    if "data" in collecting:
        collecting = collecting[collecting["data"].isna()]
    parts = [
        _of_task(runs, episodes[episodes["run"].isin(runs.index)], at)
        for _, runs in collecting.groupby("task", sort=False)
    ]
    keys = ["place", "task", "group", "run", "environment_steps"]
    empty = pd.DataFrame(columns=[*keys, "found_before", *EXPLORED])
    return pd.concat([part for part in parts if part is not None] or [empty])


def _of_task(runs, episodes, at):
    logged = _explored(episodes)
    if not len(logged):
        return None
    ends = episodes.groupby("run")["environment_steps"].max()[logged]
    end = common_end("explorations", runs.loc[logged], ends, at)
    by_then = episodes[episodes["environment_steps"] <= end]
    explored = _explored(by_then)
    _warn_of_left_out(runs.drop(explored), end)
    task = runs["task"].iloc[0]
    numbers = _numbers(by_then[by_then["run"].isin(explored)], scale(task))
    found = runs.loc[explored, ["place", "task", "group"]].assign(environment_steps=end)
    found = found.join(numbers).rename_axis("run").reset_index()
    share = _share_of_random_rewards(episodes[episodes["run"].isin(logged)])
    if share <= _RARE:
        return found
    log.warning(
        f"no first rewards for {task}: random actions are rewarded in {100 * share:.0f} % "
        "of their steps"
    )
    return found.assign(**dict.fromkeys(_OF_REWARD, math.nan))


def _explored(episodes):
    """The runs that logged a planned episode."""
    planned = episodes[~episodes["is_random"] & episodes[_REACHED].notna()]
    return planned["run"].unique()


def _warn_of_left_out(runs, end):
    if len(runs):
        log.warning(
            f"left out of exploration: {len(runs)} runs without a planned episode in the "
            f"first {end:,} environment steps, such as {runs['folder'].iloc[0]}"
        )


def _share_of_random_rewards(episodes):
    """The share of the agent steps of random episodes that are rewarded.

    A rewarded episode that found no reward has started where reward is. It does not count,
    unless there is no other.
    """
    ends = episodes["agent_steps"].fillna(0)
    steps = ends.groupby(episodes["run"]).diff().fillna(ends)
    random = episodes.assign(steps=steps, rewarded=episodes["explore/rewarded_steps"])
    random = random[random["is_random"]]
    others = random[(random[_REACHED] != 0) | ~(random["rewarded"] > 0)]
    random = others if len(others) else random
    steps = random["steps"].sum()
    return random["rewarded"].sum() / steps if steps else 0.0


def _numbers(episodes, highest):
    """A row for each run."""
    planned = episodes[~episodes["is_random"]]
    of_run = planned.groupby("run")
    runs = pd.Index(of_run.groups)
    rewarded = episodes[episodes[_REACHED] == 1]
    found = rewarded[~rewarded["is_random"]].set_index("run")
    firsts = found.groupby("run")[["episodes", "environment_steps"]].first()
    firsts = firsts.reindex(runs, fill_value=math.inf).set_axis(_FIRST, axis=1)
    few = found["environment_steps"].groupby("run").nth(_FEW - 1)
    firsts[_FEWEST] = few.reindex(runs, fill_value=math.inf)
    before = rewarded.loc[rewarded["is_random"], "run"]
    tenth = math.nan
    if highest is not None:
        enough = planned[planned[_RETURN] >= _TENTH * highest]
        tenth = enough.groupby("run")["episodes"].first().reindex(runs, fill_value=math.inf)
    last = planned.dropna(subset=[_RETURN]).groupby("run").tail(_LAST)
    return firsts.assign(
        found_before=runs.isin(before).astype(float),
        rewarded_share=means(of_run[_REACHED]),
        tenth_episode=tenth,
        collected_return=means(last.groupby("run")[_RETURN]),
        collected_cost=means(of_run["explore/cost"]),
        coverage=episodes.groupby("run")["explore/coverage"].last(),
        epistemic_ratio=means(of_run["explore/epistemic_ratio"]),
    ).astype(float)
