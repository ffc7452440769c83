"""How a bonus is weighed against the return of a plan."""

from agents.system.lazy import tf

# Differences of the bonus below this share of its size do not count.
_BONUS_FLOOR = 0.01


def balance(returns, bonus, beta, return_floor):
    """Return and bonus on one scale, so that the same beta serves every task.

        score = (R - mean R) / (stddev R + return_floor) + beta (U - mean U) / stddev U

    with means and stddevs over the candidates: beta weighs one stddev of the bonus against
    one of the return. The floor keeps the noise of a reward model that predicts nothing
    from being blown up to the size of a return. A bonus that is the same for all
    candidates counts nothing.

    Args:
        returns: [B, N].
        bonus: [B, N].
        beta: [], may be negative.
        return_floor: in the unit of `returns`.

    Returns:
        [B, N].

    Example:
        >>> values = tf.constant([[1.0, 3.0]])
        >>> balance(values, 100.0 * values, beta=1.0, return_floor=0.0).numpy().round(1)
        array([[-2.,  2.]], dtype=float32)
    """
    mean_bonus = tf.reduce_mean(tf.abs(bonus), axis=-1, keepdims=True)
    bonus_floor = _BONUS_FLOOR * mean_bonus + 1e-12
    return _standardize(returns, return_floor) + beta * _standardize(bonus, bonus_floor)


def _standardize(values, floor):
    mean, variance = tf.nn.moments(values, axes=[-1], keepdims=True)
    return tf.math.divide_no_nan(values - mean, tf.sqrt(variance) + floor)


def anneal(first, last, *phases):
    """Linear from `first` to `last`, which is reached when the first of some phases ends.

    Args:
        first: at the start of a run.
        last: at the end; None: it stays `first`.
        phases: pairs of a count, [], and what it is at the end of the phase; None: never.

    Returns:
        [], float32.

    Example:
        >>> float(anneal(1.0, 0.0, (250, 500), (10, 100)))
        0.5
    """
    shares = [tf.cast(count, tf.float32) / end for count, end in phases if end]
    if last is None or not shares:
        return tf.constant(first, tf.float32)
    return first + (last - first) * tf.minimum(tf.reduce_max(shares), 1.0)
