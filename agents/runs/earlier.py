"""The config.yaml of a run: damaged, or of an earlier version, in today's words.

Nothing that reads a run translates: `agents.runs.migrating` does it, once and for all.
"""

import copy
import dataclasses

import yaml

import envs
from agents.planet.explore import STRATEGIES
from agents.planet.planning import PLANNERS
from agents.runs.config.resolving import open_keys
from agents.runs.config.schema import (
    COUNTED_IN_EPISODES,
    COUNTED_IN_REWARDS,
    RENAMED,
    Train,
    in_rewarded_episodes,
    in_steps,
    is_count,
)
from envs.tasks import ALIASES, FAKE

# Keys that configs of earlier versions lack, and what those versions did, in the order in
# which they came: a config that has one has those before it. Earlier versions compiled
# nothing; to do so now changes numbers by rounding, so it hinders no run from going on.
_LATER = {
    "probe_every_steps": 0,
    "compile": None,
    "act": "plan",
    "value": {"kind": "none"},
    "actors": 0,
    "noise_ladder": 1.0,
    "learners": 1,
    "ensemble_members": 4,
    "dropout_rate": 0.1,
    "hold_out_every": None,
    "latents": "samples",
    "averaging": 0.0,
    "time_limit": None,
    "action_bound": 1.0,
    "address": None,
    "checkpoint_every_steps": 1,
    "logger": "tensorboard",
    "data": None,
    "exploit": {"kind": "greedy"},
    "ensemble_shares_batch": True,
    "physics": {"mass": 1.0, "friction": 1.0, "gain": 1.0},
    # parts of groups, which are as old
    "action_noise.of_elites": False,
    "action_noise.color": 0.0,
    "evaluation.apart": None,
    "optimizer.ivon_learning_rate": 0.1,
    "optimizer.ivon_curvature": 1.0,
    "value.return_lambda": 1.0,
    "value.target_draws": 0,
    "value.pessimism": 0.0,
    "value.imitation": 0.0,
    "value.updates": 1,
    "value.centered": False,
    "world_model.standardize": False,
    "world_model.learn_observation_stddev": False,
    "world_model.image_pool": 1,
    "world_model.image_decoder": "convolutions",
}

# Where a task was none of these, earlier versions held an action for 2 steps unless
# they were told: of DeepMind Control. They had no value.
_PLANET_TASKS = (
    "ball_in_cup_catch",
    "cartpole_balance",
    "cartpole_swingup",
    "cheetah_run",
    "finger_spin",
    "reacher_easy",
    "walker_walk",
)
_REPEAT = 2
_EPISODE_STEPS = 1000  # of an episode, in environment steps, where nobody knows better
_TODAY = RENAMED | COUNTED_IN_EPISODES | COUNTED_IN_REWARDS
_MOST_TOLD = 3  # of the keys that a cut file lacks

# Where a kind stands now, earlier versions had the path of its class as `_target_`.
_KINDS = {"planner": PLANNERS, "explore": STRATEGIES}
_BONUSES = ("disagreement", "information_gain", "uncertainty_penalty")
_SCORING = ("thompson", "pets", "upper_confidence", "optimistic")
_SCORING += ("conditional_value_at_risk", *_BONUSES)
_LATER_OF_BONUSES = {
    "critic": False,
    "beta_rate": 0.0,
    "reward_from": 0,
    "annealing_episodes": None,
    "bonus_from": 0,
}


def parse(text):
    """Reads the bytes of a config.yaml, which may be cut.

    Returns (nested plain values as they stand there, None), or (None, what is damaged).
    """
    try:
        values = yaml.safe_load(text.decode())
    except UnicodeDecodeError as error:
        return None, f"line {_lines(text[: error.start])} is no text"
    except yaml.MarkedYAMLError as error:
        return None, f"line {error.problem_mark.line + 1} cannot be read"
    except yaml.YAMLError:  # bytes that are no letters
        return None, "it cannot be read"
    if not isinstance(values, dict):
        return None, "it is empty" if values is None else "it has no keys"
    missing = cut_before(values)
    if missing:
        return None, f"it ends with line {_lines(text)}, before {_told(missing)}"
    if not text.endswith((b"\n", b"}")):  # braces are written by hand, and closed
        return None, f"its last line, {_lines(text)}, is cut, or lacks its end"
    return values, None


def _lines(text):
    """How many lines there are, a part of one among them."""
    return len(text.removesuffix(b"\n").split(b"\n"))


def _told(names):
    if len(names) <= _MOST_TOLD:
        return ", ".join(names)
    return f"{', '.join(names[:_MOST_TOLD])} and {len(names) - _MOST_TOLD} more keys"


def is_earlier(values):
    """Whether a run of an earlier version wrote these values.

    What no run wrote, such as a file that lacks keys of all versions, is left to those
    who check it.

    Example:
        >>> is_earlier({"task": "fake", "strategy": "default"})
        True
    """
    if any(name in values for name in _TODAY):
        return True
    known = {field.name for field in dataclasses.fields(Train)}
    if not known - _LATER.keys() <= values.keys():
        return False
    return bool(open_keys(values)) or updated(copy.deepcopy(values)) != values


def updated(values, episode_steps=_EPISODE_STEPS):
    """Puts a config of an earlier version into today's words.

    Keys get the names of today. What it lacks is added, as that version did it; a class
    becomes its kind; the end of a schedule that changes nothing is None, and shares of the
    run, or numbers of episodes, become environment steps; `episode_steps` is how many an
    episode of the run has on average. What is of today stays as it is.

    Example:
        >>> updated({"planner": {"_target_": "agents.planner.CrossEntropy"}})["planner"]
        {'kind': 'cem'}
    """
    _name_as_today(values, episode_steps)
    if values.get("action_repeat") is None and _repeats_otherwise(values):
        values["action_repeat"] = _REPEAT
    _add_later_keys(values)  # those that are lacking have told the repeat
    for name, kinds in _KINDS.items():
        if isinstance(values.get(name), dict) and "_target_" in values[name]:
            values[name] = _with_kind(values[name], kinds)
    noise = values.get("action_noise")
    if isinstance(noise, dict) and noise.get("steps") == 0:
        noise["final_stddev"] = None
    if isinstance(values.get("explore"), dict):
        _schedule_bonuses(values)  # those of the kinds named above
    return values


def cut_before(values, known=None):
    """The keys that a config must have had below those that are left of it.

    A config is written in the order of its keys. One of an earlier version lacks keys that
    came later, and with one of these all that came after it; what else is missing at the
    end was cut off. The list is empty where the config is whole, or no run wrote it.

    Example:
        >>> known = ["task", "averaging", "planner", "latents"]
        >>> cut_before({"task": "fake", "averaging": 0.1}, known)
        ['planner', 'latents']
        >>> cut_before({"task": "fake", "planner": {}}, known)
        []
    """
    known = known or [field.name for field in dataclasses.fields(Train)]
    own = [name for name in (_TODAY.get(each, each) for each in values) if name in known]
    if not own:
        return []
    end = known.index(own[-1]) + 1
    above = [name for name in known[:end] if name in own or name not in _LATER]
    missing = known[end:]
    return missing if own == above and not _came_later(own, missing) else []


def _came_later(own, missing):
    """Whether an earlier version may have lacked what is missing."""
    came = [name for name in _LATER if "." not in name]
    newest = max((came.index(name) for name in own if name in came), default=-1)
    return all(name in came and came.index(name) > newest for name in missing)


def _name_as_today(values, episode_steps):
    """Keys, their units, and the task."""
    for old, new in _TODAY.items():
        parent, last = _place(values, old)
        if last in parent:
            value = parent.pop(last)
            if old in COUNTED_IN_EPISODES and is_count(value):
                value = in_steps(old, value, episode_steps)
            elif old in COUNTED_IN_REWARDS and is_count(value):
                value = in_rewarded_episodes(value)
            parent[new.rpartition(".")[2]] = value
    if values.get("task") in tuple(ALIASES):
        values["task"] = ALIASES[values["task"]]


def _add_later_keys(values):
    for name, value in _LATER.items():
        parent, last = _place(values, name)
        has_others = name.startswith("value.") and parent.get("kind") != "td"
        if not has_others:
            parent.setdefault(last, value)
    # No model had a continuation head; where no episode can end, none has one now.
    task, model = values.get("task"), values.get("world_model")
    if isinstance(task, str) and isinstance(model, dict):
        model.setdefault("continuation_scale", 0.0 if envs.can_end(task) else 1.0)


def _place(values, name):
    """The group that has a dotted key, an empty one where it is lacking, and its name."""
    group, _, last = name.rpartition(".")
    parent = values.get(group) if group else values
    return (parent if isinstance(parent, dict) else {}), last


def _schedule_bonuses(values):
    explore = values["explore"]
    told = [explore.get(name) for name in ("kind", "draws", "redraw")]
    filters_by_a_draw = told == ["thompson", 1, "episode"]
    scores = explore.get("kind") in _SCORING and not filters_by_a_draw
    if values.get("act") == "policy" and scores:
        explore = values["explore"] = {"kind": "greedy"}  # nothing was scored
    if explore.get("kind") in _BONUSES:
        for name, value in _LATER_OF_BONUSES.items():
            explore.setdefault(name, value)
    total = values.get("environment_steps")
    if isinstance(explore.get("annealed_at"), float | int) and isinstance(total, int):
        values["explore"] = _in_steps(explore, total)


def _repeats_otherwise(values):
    task = values.get("task")
    if "value" in values or task in (None, *_PLANET_TASKS, *FAKE):
        return False
    return isinstance(task, str) and ":" not in task


def _with_kind(group, kinds):
    """The class alone tells: where its file stood has changed before."""
    name = str(group["_target_"]).rpartition(".")[2]
    names = {made.__name__: kind for kind, made in kinds.items()}
    rest = {key: value for key, value in group.items() if key != "_target_"}
    return {"kind": names.get(name, name)} | rest


def _in_steps(explore, total):
    """A strategy whose schedule was in shares of the run, in environment steps."""
    today = {key: value for key, value in explore.items() if key != "annealed_at"}
    if today.get("final_beta") in (None, today.get("beta")):
        today |= {"final_beta": None, "annealing_steps": None}
    else:
        today["annealing_steps"] = max(round(explore["annealed_at"] * total), 1)
    if "reward_from" in today:
        today["reward_from"] = round(today["reward_from"] * total)
    return today
