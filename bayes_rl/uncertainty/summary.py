"""posterior_summary: a table of a model's posteriors."""

import dataclasses
import math

import numpy as np

from bayes_rl.random_variables.families import mean_of
from bayes_rl.weights import kl_divergences, posteriors


@dataclasses.dataclass(frozen=True)
class WeightSummary:
    """One line of a `PosteriorSummary`.

    Args:
        name: full name of the weight.
        shape: of the weight.
        mean: posterior mean, averaged over the weight's elements.
        stddev: posterior stddev, averaged likewise; nan where there is none.
        kl: cost of the posterior, as of `bayes_rl.kl_divergences`: in nats, times its
            regularizer's `scale_factor` and the scale of `bayes_rl.scale_kl`, also where
            its layer is not trainable; None without a regularizer.
    """

    name: str
    shape: tuple
    mean: float
    stddev: float
    kl: float | None

    @property
    def size(self):
        """Number of elements."""
        return math.prod(self.shape)


@dataclasses.dataclass(frozen=True, repr=False)
class PosteriorSummary:
    """Table of the posteriors of a model; prints as one.

    Args:
        weights: tuple of `WeightSummary`.
    """

    weights: tuple

    @property
    def size(self):
        """Number of elements of all stochastic weights."""
        return sum(weight.size for weight in self.weights)

    @property
    def kl(self):
        """Sum of the weights' costs, scaled as these are."""
        return sum(weight.kl for weight in self.weights if weight.kl is not None)

    def __iter__(self):
        return iter(self.weights)

    def __len__(self):
        return len(self.weights)

    def __repr__(self):
        rows = [("weight", "shape", "mean", "stddev", "KL")]
        rows += [
            (w.name, str(w.shape), f"{w.mean:.4g}", f"{w.stddev:.4g}", _number(w.kl))
            for w in self.weights
        ]
        rows += [("total", f"{self.size} elements", "", "", _number(self.kl))]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(_line(row, widths) for row in rows)


def _number(kl):
    return "-" if kl is None else f"{kl:.6g}"


def _line(row, widths):
    text, numbers = row[:2], row[2:]
    cells = [cell.ljust(width) for cell, width in zip(text, widths, strict=False)]
    cells += [c.rjust(width) for c, width in zip(numbers, widths[2:], strict=True)]
    return "  ".join(cells).rstrip()


def posterior_summary(model):
    """Summarises the posterior of every stochastic weight of a model.

    Args:
        model: built Keras model or layer, `tf.Module` that holds such, or a list.

    Returns:
        A `PosteriorSummary`; its `kl` is the sum of the stochastic weights' `losses` where
        all layers are trainable.

    Example:
        >>> import bayes_rl as ed
        >>> fixed = ed.initializers.TrainableNormalFixedStddev(1.0, "ones")
        >>> layer = ed.layers.DenseReparameterization(
        ...     2, kernel_initializer=fixed, name="dense")
        >>> layer.build([None, 3])
        >>> ed.posterior_summary(layer)
        weight        shape       mean  stddev  KL
        dense/kernel  (3, 2)         1       1   3
        total         6 elements                 3
    """
    costs = kl_divergences(model)
    return PosteriorSummary(
        tuple(
            WeightSummary(
                name,
                tuple((posterior.batch_shape + posterior.event_shape).as_list()),
                float(np.mean(mean_of(posterior))),
                _average_stddev(posterior),
                float(costs[name]) if name in costs else None,
            )
            for name, posterior in posteriors(model).items()
        )
    )


def _average_stddev(posterior):
    try:
        return float(np.mean(posterior.stddev()))
    except NotImplementedError:
        return math.nan
