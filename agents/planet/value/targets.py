"""What critics learn, rewards of n steps and the value after them; running scales."""

import tensorflow as tf

LEAST_SCALE = 0.05  # values closer than this are alike, whatever their spread
_SPREAD = (0.05, 0.95)  # quantiles of the values whose distance is their scale
_SCALE_RATE = 0.01


def n_step_targets(batch, rewards, values, discount, stride=1):
    """Targets of the value of some steps' states and the actions taken there.

        y_t = sum over k < n of discount^k g_k r[t+k+1] + discount^n g_n V[t+n]

    g_k is 1, and 0 once the episode has ended before. Row t of a batch holds the reward
    that led to it, so the first reward of the sum stands in row t + 1. A step from which
    the n rows after it run into another episode, unless this one ended, has weight 0.

    Source: Sutton and Barto, 2018, Reinforcement Learning, equation 7.1.

    Args:
        batch: is_first and is_terminal [B, T].
        rewards: list of n, below T, each of the shape of `values`: r[t+k+1] of k = 0, 1
            and so on, see `after`.
        values: V of the states n steps after those, [B, ceil((T - n) / stride)].
        discount: of one step.
        stride: t is 0, stride, 2 stride and so on.

    Returns:
        Targets and weights, of the shape of `values`.
    """
    steps = len(rewards)

    def ahead(name, count):
        return tf.cast(after(batch[name], count, steps, stride), tf.float32)

    going = weight = tf.ones_like(values)
    target = tf.zeros_like(values)
    for count, reward in enumerate(rewards, 1):
        weight *= 1.0 - going * ahead("is_first", count)
        target += discount ** (count - 1) * going * reward
        going *= 1.0 - ahead("is_terminal", count)
    return target + discount**steps * going * values, weight


def in_turn(sequences, number, steps, stride):
    """Sequences without as many rows, before and after, as a stride leaves over.

    Of T rows, T - n have a target; one in `stride` is learned from, the first and so on.
    Where that leaves some over at the end, they would never be: sequences end where an
    episode that a time limit cut does. So the first row moves by one in each gradient step.

    Args:
        sequences: batch, a dict of [B, T, ...]; features [B, T, F]; noise [2, B, T, A].
        number: of the gradient step, [].
        steps: n.
        stride: from a row that is learned from to the next.

    Example:
        >>> features = tf.reshape(tf.range(8.0), [1, 8, 1])
        >>> sequences = {}, features, tf.zeros([2, 1, 8, 1])
        >>> _, rows, _ = in_turn(sequences, number=2, steps=1, stride=4)
        >>> rows[0, :, 0].numpy()
        array([2., 3., 4., 5., 6., 7.], dtype=float32)
    """
    batch, features, noise = sequences
    rows = features.shape[1]
    spare = (rows - 1 - steps) % stride
    first = tf.cast(number, tf.int32) % (spare + 1)

    def part(tensor):
        begin = tf.one_hot(1, len(tensor.shape), first, 0)
        size = [tensor.shape[0], rows - spare, *tensor.shape[2:]]
        return tf.ensure_shape(tf.slice(tensor, begin, size), size)

    kept = {key: part(tensor) for key, tensor in batch.items()}
    return kept, part(features), noise[:, :, : rows - spare]


def after(tensor, count, steps, stride):
    """The rows `count` steps after those that have a target, [B, T, ...] -> [B, ...]."""
    length = tensor.shape[1] - steps
    return tensor[:, count : count + length : stride]


def make_scale(start):
    """A variable, [], the same on all replicas."""
    return tf.Variable(
        start, trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
    )


def move(scale, size):
    """Moves a scale on by one hundredth towards what a gradient step has seen."""
    return scale + _SCALE_RATE * (size - scale)


def spread(values):
    """The distance of two quantiles, [].

    Example:
        >>> float(spread(tf.range(21.0)))
        18.0
    """
    ordered = tf.sort(tf.reshape(values, [-1]))
    last = ordered.shape[0] - 1
    low, high = (ordered[round(share * last)] for share in _SPREAD)
    return high - low
