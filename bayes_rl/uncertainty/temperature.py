"""temperature: one number that makes probabilities of classes honest."""

import math

import numpy as np

from bayes_rl.uncertainty import arguments

_RANGE = math.log(1e-2), math.log(1e2)
_POINTS = 41  # of a grid, whose best the golden section starts from
_STEPS = 60
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def temperature(labels, logits):
    """Temperature of the highest likelihood on held-out examples.

        T = argmax sum_n log mean_s softmax(logits[s, n] / T)[label n]

    Divide logits by it: above 1 the model was too sure, below 1 not sure enough. The most
    probable class of one draw stays the same.

    Source: Guo et al., 2017, On Calibration of Modern Neural Networks, section 4.2.

    Args:
        labels: [N] or [N, 1], int, of examples that the model was not trained on.
        logits: [N, classes], or [S, N, classes] under S draws.

    Returns:
        A float, between 0.01 and 100.

    Raises:
        ValueError: the shapes do not fit, or a label is of no class.

    Example:
        >>> logits = np.log([[0.9, 0.1]] * 4)
        >>> round(temperature([0, 0, 0, 1], logits), 3)  # three of four are right
        2.0
    """
    logits = np.asarray(logits, np.float64)
    labels = arguments.tensor_of("labels", labels)
    draws = logits if logits.ndim == 3 else logits[np.newaxis]
    if draws.ndim != 3 or labels.shape not in (draws.shape[1:2], (*draws.shape[1:2], 1)):
        raise ValueError(
            "temperature takes labels [N] and logits [N, classes] or [S, N, classes], got "
            f"{labels.shape} and {logits.shape}"
        )
    own = arguments.whole("labels", labels, draws.shape[-1]).numpy().reshape([1, -1, 1])

    def cost(log_temperature):
        scaled = draws / math.exp(log_temperature)
        log_probs = scaled - np.logaddexp.reduce(scaled, axis=-1, keepdims=True)
        chosen = np.take_along_axis(log_probs, own, axis=-1)[..., 0]
        return -float(np.sum(np.logaddexp.reduce(chosen, axis=0)))

    grid = np.linspace(*_RANGE, _POINTS)
    best = int(np.argmin([cost(x) for x in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, _POINTS - 1)]
    return math.exp(_minimum(cost, low, high))


def _minimum(cost, low, high):
    """Where a function of one valley is least, by golden section."""
    for _ in range(_STEPS):
        step = _GOLDEN * (high - low)
        if cost(high - step) < cost(low + step):
            high = low + step
        else:
            low = high - step
    return (low + high) / 2.0
