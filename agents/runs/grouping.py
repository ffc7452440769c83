"""Which runs belong together, and what tells groups of them apart."""

import collections
import dataclasses
import functools
import pathlib

from agents.runs.config import choices
from agents.runs.config.resolving import OPEN
from agents.runs.config.schema import flatten
from agents.system.errors import UserError

# keys of a config that do not make another experiment, and those that only look at it
_SAME = ("seed", "logdir", "threads", "address", "compile", "video_every_steps")
_SAME += ("probe_every_steps", "checkpoint_every_steps", "logger")
_SAME += ("evaluation.every_steps", "evaluation.episodes", "evaluation.apart")
_SAME += ("environment_steps",)  # a longer run begins like a short one
# what files of a group set beside it: with a strategy goes its noise
_BESIDE = {"explore": "action_noise."}
USUAL = "the usual values"  # label of what others change in some keys each
# what two runs must share for their forecasts to be of the same thing
_OBSERVED = ("task", "observation", "action_repeat", "image", "world_model.image_pool")


def group(configs):
    """Lists of the indices of configs that differ in what `_SAME` names alone.

    Groups and indices stand in order of appearance.

    Example:
        >>> group([{"seed": 0, "beta": 1}, {"seed": 0, "beta": 2}, {"seed": 1, "beta": 1}])
        [[0, 2], [1]]
    """
    groups = {}
    for index, config in enumerate(configs):
        flat = _of_experiment(flatten(config))
        groups.setdefault(repr(sorted(flat.items())), []).append(index)
    return list(groups.values())


def labels(configs, most=4):
    """Names configs by the values in which those of a task differ.

    What differs in one task is told in all, so that one experiment has one name. What
    differs between tasks alone is not told: see `unlike`.

    Where choices of a group differ, such as those of `value`, each is named by its file in
    configs/ alone, and by the keys that differ from it: two choices may differ in all of
    their keys. Where too many keys differ, but each config in few of them from what most
    have, as where one setting is changed at a time, it is named by those few, and one that
    has all the others share by `USUAL`. Of more than `most` differences the number is
    given; where there is none, the text is empty.

    Example:
        >>> labels([{"explore": {"kind": "mine"}}, {"explore": {"kind": "yours"}}])
        ['explore=mine', 'explore=yours']
    """
    whole = [_of_experiment(flatten(config)) for config in configs]
    flats = _with_named_choices(whole)
    # a name stands for keys, which others have alike, or as null
    apart = {*_differing_in_a_task(whole)}
    apart |= {*_choices()} & {*_differing_in_a_task(flats)}
    apart = {key for key in apart if not _follows(key, flats)}
    differing = [key for key in _keys(flats) if key in apart]
    # a name says more than values
    differing.sort(key=lambda key: key not in _choices() and not key.endswith(".kind"))
    told = [[key for key in differing if key in flat] for flat in flats]
    if len(differing) > most:
        told = _unusual(flats, told, most) or told
    texts = []
    for flat, own in zip(flats, told, strict=True):
        parts = [f"{key.removesuffix('.kind')}={flat[key]}" for key in own[:most]]
        parts = parts or [USUAL] * bool(differing)
        if len(own) > most:
            parts.append(f"and {len(own) - most} more")
        texts.append((flat.get("task"), ", ".join(parts)))
    return [
        text
        if texts.count((task, text)) == 1 or not text
        else f"{text} ({texts[:index].count((task, text)) + 1})"
        for index, (task, text) in enumerate(texts)
    ]


def _follows(key, flats):
    """Whether a key that may be left open tells nothing that others do not tell.

    Sizes of networks, and whether XLA compiles, may go with what is observed.
    """
    if key not in OPEN or not (key.startswith("world_model.") or key == "compile"):
        return False
    seen = collections.defaultdict(list)
    for flat in flats:
        seen[flat.get("task"), flat.get("observation")].append(flat)
    return len(seen) > 1 and not any(_differs(key, alike) for alike in seen.values())


def _unusual(flats, told, most):
    """The keys in which each has another value than most; None where one has too many."""
    usual = {}
    for key in {key for own in told for key in own}:
        values = collections.Counter(repr(flat.get(key, ())) for flat in flats)
        ((usual[key], count),) = values.most_common(1)
        if count <= len(flats) / 2:
            return None
    unusual = [
        [key for key in own if repr(flat[key]) != usual[key]]
        for flat, own in zip(flats, told, strict=True)
    ]
    return unusual if max(map(len, unusual)) <= most else None


def unlike(configs):
    """The keys, other than the task, in which experiments of one name differ.

    What a config may leave to the task, such as sizes of networks and the precision of
    observations, is left out: it differs between tasks as a matter of course.

    Example:
        >>> unlike([{"task": "a", "kl_weight": 0.1}, {"task": "b", "kl_weight": 1.0}])
        ['kl_weight']
    """
    flats = [_of_experiment(flatten(config)) for config in configs]
    usual = {"task", "data", *OPEN}
    return [key for key in _keys(flats) if key not in usual and _differs(key, flats)]


def check_same_observations(configs):
    """Raises a UserError where a run does not predict the observations of the first."""
    (run, first), *others = ((name, flatten(config)) for name, config in configs.items())
    for other, values in others:
        for key in first:
            shared = any(key == each or key.startswith(f"{each}.") for each in _OBSERVED)
            if shared and first[key] != values.get(key):
                raise UserError(
                    f"{other} must have the same observations as {run}: "
                    f"{key} must be {first[key]}, got {values.get(key)}"
                )


def _differing_in_a_task(flats):
    """The keys in which configs of one task differ, whichever it is."""
    of_tasks = {}
    for flat in flats:
        of_tasks.setdefault(flat.get("task"), []).append(flat)
    tasks = of_tasks.values()
    return [key for key in _keys(flats) if any(_differs(key, own) for own in tasks)]


def _keys(flats):
    """Those of all, in order."""
    return list(dict.fromkeys(key for flat in flats for key in flat))


def _differs(key, flats):
    """Whether values do. Nobody typed what is open: its absence is told by a choice."""
    having = [flat for flat in flats if key in flat] if key in OPEN else flats
    return len({repr(flat.get(key)) for flat in having}) > 1


def task_of(config):
    """What scores are of: the task, and what was learned from where nothing is collected.

    Logged episodes are named by the end of their path; of a run it may be a seed alone.

    Example:
        >>> task_of({"task": "cheetah_run", "data": "logdir/logged/random"})
        'cheetah_run from random'
        >>> task_of({"task": "cheetah_run", "data": "logdir/cheetah_run/noise/0"})
        'cheetah_run from noise/0'
    """
    task, data = config.get("task", ""), config.get("data")
    if data is None:
        return task
    parts = pathlib.PurePath(data.removeprefix("minari:")).parts or (data,)
    end = parts[-2:] if parts[-1].isdigit() else parts[-1:]
    return f"{task} from {'/'.join(end)}"


def _of_experiment(flat):
    """The values that make the experiment."""
    values = {key: value for key, value in flat.items() if key not in _SAME}
    return values | ({"task": task_of(flat)} if flat.get("data") is not None else {})


@functools.cache
def _choices():
    """Of each group of configs/ the flat values of its files, by their names."""
    found = {}
    for group, names in choices.groups().items():
        if group != "experiment":  # they set keys of all groups
            values = {name: choices.values(group, name) for name in names}
            found[group] = {
                name: flatten(own if group in own else {group: own})
                for name, own in values.items()
            }
    return found


def _with_named_choices(flats):
    """The values with those of a group replaced by the name of a choice and what it lacks.

    Groups whose choice is the same in each task are left as they are.
    """
    for group, files in _choices().items():
        named = _named(flats, group, files)
        texts = [
            {group: flat.get(group, flat.get(f"{group}.kind")), "task": flat.get("task")}
            for flat in named
        ]
        if group in _differing_in_a_task(texts):
            flats = named
    return flats


def _named(flats, group, files):
    """The values with those that a choice of the group sets replaced by its name.

    What the choice leaves open is of it, unless configs of one choice and task differ.
    """
    names = [_nearest_choice(flat, group, files) for flat in flats]
    of_one = {}
    for flat, name in zip(flats, names, strict=True):
        of_one.setdefault((name, flat.get("task")), []).append(flat)
    named = []
    for flat, name in zip(flats, names, strict=True):
        file, alike = files.get(name, {}), of_one[name, flat.get("task")]
        rest = {
            key: value
            for key, value in flat.items()
            if file.get(key, ()) != value
            and not (_leaves_open(file, key) and not _differs(key, alike))
        }
        named.append(flat if name is None else {group: name} | rest)
    return named


def _nearest_choice(flat, group, files):
    """The choice from which values differ least; None where none has their keys."""
    own = _below(flat, f"{group}.")
    kind = f"{group}.kind"
    alike = [
        name
        for name, file in files.items()
        if _below(file, f"{group}.").keys() == own.keys()
        and file.get(kind) == own.get(kind)
    ]

    def away(name):
        prefixes = (f"{group}.", _BESIDE.get(group, f"{group}."))
        differing = [
            sum(
                flat.get(key, ()) != value and not _leaves_open(own, key)
                for key, value in own.items()
            )
            for own in (_below(files[name], prefix) for prefix in prefixes)
        ]
        return *differing, name != own.get(kind)

    return min(alike, key=away, default=None)


def _leaves_open(file, key):
    return key in OPEN and file.get(key, ()) is None


def _below(flat, prefix):
    return {key: value for key, value in flat.items() if key.startswith(prefix)}


@dataclasses.dataclass(frozen=True)
class Group:
    """Runs of one experiment, see `group`: they differ in their seed."""

    label: str  # what tells it from other groups of the task
    task: str
    runs: list  # of `agents.runs.history.History`
    number: int  # of the label among all, from 0; groups of one label look alike


def arrange(runs):
    """Returns the groups of runs, labelled by what differs between those of a task."""
    members = group([run.config for run in runs])
    firsts = [runs[indices[0]].config for indices in members]
    texts = labels(firsts)
    numbers = {text: index for index, text in enumerate(dict.fromkeys(texts))}
    return [
        Group(text, task_of(first), [runs[index] for index in own], numbers[text])
        for text, first, own in zip(texts, firsts, members, strict=True)
    ]
