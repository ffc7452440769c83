"""Observations in units of their spread and rewards of their size, as networks see them."""

import numpy as np
import tensorflow as tf

CLIP = 10.0  # stddevs; what lies farther is as if it lay there
SHARE = 1e-5  # of the size of a number: below it is rounding, float32 keeps 1e-7
NOTHING = 1e-7  # least stddev, in any unit: of what is 0 all the time, but for rounding
PIXEL_FLOOR = 0.03  # as much as a step of the 5 bits that are kept of a pixel


class Standardizer(tf.Module):
    """Mean and stddev of each number of an array, over all that were ever seen.

        x -> clip((x - mean) / stddev, -10, 10)
        stddev^2 = variance + (share size)^2 + floor^2,   size^2 = variance + mean^2

    The share is of what was seen, so that metres and kilometres come to the same. It is as
    small as rounding allows: a pressure of 100,000 may move by 10. The floor is in the
    units of the array.

    The n-th episode moves the statistics by about 1 / n of what sets it apart, so the
    inputs of a network that learns beside them do not jump. Before the first update they
    are 0 and 1.

    Source of the update: Chan et al., 1979, Updating Formulae and a Pairwise Algorithm for
    Computing Sample Variances, equation 2.1.

    Example:
        >>> standardizer = Standardizer([1])
        >>> standardizer.update(np.array([[1.0], [3.0]]))
        >>> standardizer(tf.constant([[3.0]])).numpy().round(2)
        array([[1.]], dtype=float32)
    """

    def __init__(self, shape, share=SHARE, floor=NOTHING):
        super().__init__("standardizer")
        self._share, self._floor = share, floor
        self._count = statistic(tf.zeros([], tf.float64), "count")
        self._mean = statistic(tf.zeros(shape, tf.float64), "mean")
        self._variance = statistic(tf.zeros(shape, tf.float64), "variance")

    @property
    def mean(self):
        """[*shape], float32."""
        return tf.cast(self._mean, tf.float32)

    @property
    def stddev(self):
        """[*shape], float32, at least the floor; 1 before the first update."""
        square = self._variance + self._mean**2
        floored = tf.sqrt(self._variance + self._share**2 * square + self._floor**2)
        return tf.cast(
            tf.where(self._count > 0, floored, tf.ones_like(floored)), tf.float32
        )

    @property
    def size(self):
        """Root of the mean square, [*shape], float32; 1 before the first update."""
        size = tf.sqrt(self._variance + self._mean**2)
        return tf.cast(tf.where(self._count > 0, size, tf.ones_like(size)), tf.float32)

    def update(self, rows):
        """Takes rows, [N, *shape], into the statistics."""
        rows = np.asarray(rows, np.float64)
        before, added = self._count.numpy(), len(rows)
        share = added / (before + added)
        apart = rows.mean(axis=0) - self._mean.numpy()
        spread = before * self._variance.numpy() + added * rows.var(axis=0)
        spread += before * share * apart**2
        self._count.assign(before + added)
        self._mean.assign_add(share * apart)
        self._variance.assign(spread / (before + added))

    def __call__(self, arrays):
        """Standardized arrays, [..., *shape]."""
        return tf.clip_by_value((arrays - self.mean) / self.stddev, -CLIP, CLIP)

    def invert(self, standardized):
        """Arrays of standardized ones, [..., *shape], but for what was clipped."""
        return self.mean + self.stddev * standardized


def statistic(start, name=None):
    """A variable of one value on all devices, which no gradient reaches."""
    aggregation = tf.VariableAggregation.ONLY_FIRST_REPLICA
    return tf.Variable(start, trainable=False, name=name, aggregation=aggregation)
