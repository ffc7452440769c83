"""Summaries over seeds: which runs belong together, and how their curves spread."""

import numpy as np

from agents.config import flatten

# keys of a config that do not make another experiment
_SAME = ("seed", "logdir", "threads")


def group(configs):
    """Finds the runs that differ in their seed alone.

    Args:
        configs: nested dicts, one for each run.

    Returns:
        Lists of indices into `configs`, groups and indices in order of appearance.

    Example:
        >>> group([{"seed": 0, "beta": 1}, {"seed": 0, "beta": 2}, {"seed": 1, "beta": 1}])
        [[0, 2], [1]]
    """
    groups = {}
    for index, config in enumerate(configs):
        flat = {key: value for key, value in flatten(config).items() if key not in _SAME}
        groups.setdefault(repr(sorted(flat.items())), []).append(index)
    return list(groups.values())


def labels(configs, most=4):
    """Names configs by the values in which they differ.

    Args:
        configs: nested dicts, one for each group of runs.
        most: differences to spell out; of more, the number is given.

    Returns:
        One text for each config; empty ones where there is no difference.

    Example:
        >>> labels([{"explore": {"_target_": "a.Greedy"}}, {"explore": {"_target_": "a.Thompson"}}])
        ['explore=Greedy', 'explore=Thompson']
    """  # noqa: E501
    flats = [flatten(config) for config in configs]
    keys = dict.fromkeys(key for flat in flats for key in flat if key not in _SAME)
    differing = [key for key in keys if len({repr(flat.get(key)) for flat in flats}) > 1]
    # a class says more than its values
    differing.sort(key=lambda key: not key.endswith("_target_"))
    texts = []
    for flat in flats:
        own = [key for key in differing if key in flat]
        parts = [_text(key, flat[key]) for key in own[:most]]
        if len(own) > most:
            parts.append(f"and {len(own) - most} more")
        texts.append(", ".join(parts))
    return [
        text
        if texts.count(text) == 1 or not text
        else f"{text} ({texts[:index].count(text) + 1})"
        for index, text in enumerate(texts)
    ]


def align(curves):
    """Puts curves of several seeds on one axis; each keeps its value until its next one.

    Args:
        curves: (steps, values) for each seed, steps ascending, values [points, ...].

    Returns:
        (steps, values): all steps that every seed has reached, [points], and the values
        there, [points, seeds, ...].

    Example:
        >>> align([([1, 3], [10, 30]), ([1, 2, 9], [1, 2, 9])])
        (array([1, 2, 3]), array([[10,  1],
               [10,  2],
               [30,  2]]))
    """
    curves = [(np.asarray(steps), np.asarray(values)) for steps, values in curves]
    first = max(steps[0] for steps, _ in curves)
    last = min(steps[-1] for steps, _ in curves)
    grid = np.unique(np.concatenate([steps for steps, _ in curves]))
    grid = grid[(grid >= first) & (grid <= last)]
    columns = [
        values[np.searchsorted(steps, grid, side="right") - 1] for steps, values in curves
    ]
    return grid, np.stack(columns, axis=1)


def spread(values, low=5, high=95):
    """Returns median and percentiles over all axes but the first; nan is left out.

    It says how much results vary, not how well their mean is known.

    Source: Hafner et al., 2019, Learning Latent Dynamics for Planning from Pixels,
    figure 4: median and 5 to 95 percentiles over seeds and evaluation episodes.

    Args:
        values: [points, ...].
        low: percentile of the lower edge.
        high: percentile of the upper edge.

    Returns:
        (median, lower, upper), each [points].

    Example:
        >>> [float(x) for (x,) in spread(np.arange(101.0)[None])]
        [50.0, 5.0, 95.0]
    """
    values = np.asarray(values, float)
    values = values.reshape(len(values), values[:1].size)
    if not len(values):
        return np.zeros(0), np.zeros(0), np.zeros(0)
    return tuple(np.nanpercentile(values, [50, low, high], axis=1))


def _text(key, value):
    if key.endswith("._target_"):
        return f"{key.removesuffix('._target_')}={str(value).rpartition('.')[2]}"
    return f"{key}={value}"
