"""Times, measured in turn so that drift and other processes meet all cases alike."""

import time

import numpy as np

CLOCKS = {"processor": time.process_time, "wall": time.perf_counter}


def measure(functions, repeats, warmup=2, clock=time.perf_counter):
    """Seconds of each call, a dict of name -> [repeats].

    Rounds of one call of each function, in an order that moves on by one in every round.
    The functions, a dict, wait for their results; `warmup` calls of each are not counted.
    The clock `time.process_time` does not count what other processes take.

    Example:
        >>> measure({"nothing": lambda: None}, repeats=3)["nothing"].shape
        (3,)
    """
    for function in functions.values():
        for _ in range(warmup):
            function()
    names = list(functions)
    seconds = {name: np.zeros(repeats) for name in names}
    for repeat in range(repeats):
        first = repeat % len(names)
        for name in names[first:] + names[:first]:
            start = clock()
            functions[name]()
            seconds[name][repeat] = clock() - start
    return seconds


def quartiles(values):
    """Lower quartile, median and upper quartile.

    Example:
        >>> quartiles([3.0, 1.0, 2.0, 5.0, 4.0])
        [2.0, 3.0, 4.0]
    """
    return np.percentile(values, [25, 50, 75]).tolist()


def spread(name, values):
    """Dict of `name`, the median, `name`_low and `name`_high, the other quartiles."""
    low, median, high = quartiles(values)
    return {name: median, f"{name}_low": low, f"{name}_high": high}
