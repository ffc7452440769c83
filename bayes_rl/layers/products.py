"""Products of inputs with one kernel or with S kernels."""

import dataclasses

import tensorflow as tf

from bayes_rl.numerics.fused import fused, is_fused


def dense(inputs, kernel):
    """Matrix product over the last axis of the inputs, which may be whole numbers.

    One kernel [features, units] takes inputs [..., features]. S kernels [S, features,
    units] take [S, ..., features], or [N, features] to give the same inputs to each, and
    give [S, ..., units].

    Raises:
        ValueError: the leading axis of the inputs is not that of the kernels.
    """
    if isinstance(inputs, (tf.RaggedTensor, tf.SparseTensor)):
        raise ValueError(
            f"inputs must be a tensor without gaps, got a {type(inputs).__name__}; "
            "its to_tensor(), or tf.sparse.to_dense, makes it one"
        )
    if not inputs.dtype.is_floating:
        inputs = tf.cast(inputs, kernel.dtype)
    leading = kernel.shape.rank - 1
    if leading > 1 and inputs.shape.rank > 2:
        check_draws(inputs, kernel.shape[0], f", {kernel.shape[1]}")
    if inputs.shape.rank in (2, leading + 1):
        return tf.matmul(inputs, kernel)
    shape = sizes(inputs)
    flat = tf.reshape(inputs, [*shape[: leading - 1], -1, shape[-1]])
    outputs = tf.matmul(flat, kernel)
    return tf.reshape(outputs, [*shape[:-1], kernel.shape[-1]])


def check_draws(inputs, draws, channels=""):
    """Raises a ValueError where inputs are not [draws, ...]; None is any number."""
    if not inputs.shape[:1].is_compatible_with([draws]):
        raise ValueError(
            f"{draws} draws of the weights are held, so inputs must have shape "
            f"[{draws}, ...{channels}], got {inputs.shape}"
        )


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where the axes of a layer's tensors are: [*batch, *space, channels]."""

    rank: int = 0  # number of axes of space
    channels_first: bool = False  # [*batch, channels, *space] instead

    def without_space(self, shape):
        """The part [*batch, channels] of a shape."""
        batch = len(shape) - self.rank - 1
        return [*shape[:batch], shape[batch if self.channels_first else -1]]


def add_bias(outputs, bias, layout=Layout()):  # noqa: B008
    """Adds a bias [units], or S biases [S, units] to [S, ...]."""
    if bias.shape.rank == 1 and not layout.channels_first:
        return tf.nn.bias_add(outputs, bias)
    if bias.shape.rank == 1:
        return outputs + tf.reshape(bias, [-1] + [1] * layout.rank)
    return outputs + align(bias, outputs, layout)


def finish(outputs, bias=None, activation=None):
    """Bias [units] or [S, units] and activation, each or None, of a product [..., units].

    Large narrow outputs pass through float32, on a processor: once over memory, where
    TensorFlow's fusion with the product would leave the matrix units unused.
    """
    if bias is None:
        return outputs if activation is None else activation(outputs)
    if outputs.dtype.size < 4 and is_fused(outputs):
        return _finish_narrow(outputs, align(bias, outputs), activation=activation)
    outputs = add_bias(outputs, bias)
    return outputs if activation is None else activation(outputs)


@fused
def _finish_narrow(outputs, bias, activation):
    exact = tf.cast(outputs, tf.float32) + tf.cast(bias, tf.float32)
    return tf.cast(exact if activation is None else activation(exact), outputs.dtype)


def align(factors, tensor, layout=Layout()):  # noqa: B008
    """Adds axes to factors so that leading axes, and channels, meet those of a tensor.

        [*leading, channels] -> [*leading, 1, ..., 1, channels]

    or as the layout of the tensor says.
    """
    missing = max(tensor.shape.rank - factors.shape.rank, layout.rank)
    if missing == 0:
        return factors
    shape = sizes(factors)
    after = layout.rank if layout.channels_first else 0
    ones = [1] * missing
    return tf.reshape(factors, [*shape[:-1], *ones[after:], shape[-1], *ones[:after]])


def convolve(convolution, inputs, kernel, rank):
    """Convolution of inputs [*batch, ...] with one kernel, or with S kernels [S, ...].

    The latter take inputs [S, *batch, ...], or [N, ...] to give the same inputs to each,
    and give [S, *batch, ...]. `convolution` is a function of inputs [N, ...], with `rank`
    axes of space, and one kernel.

    Raises:
        ValueError: the leading axis of the inputs is not that of the kernels.
    """
    if kernel.shape.rank == rank + 2:
        return _over_batch(convolution, inputs, kernel, rank)
    if inputs.shape.rank == rank + 2:
        return _over_draws(lambda one: convolution(inputs, one), [kernel])
    check_draws(inputs, kernel.shape[0])
    return _over_draws(
        lambda *pair: _over_batch(convolution, *pair, rank), [inputs, kernel]
    )


def _over_draws(function, arguments):
    draws = next((x.shape[0] for x in arguments if x.shape[0] is not None), None)
    if draws is None:
        dtype = arguments[0].dtype
        return tf.map_fn(lambda xs: function(*xs), arguments, fn_output_signature=dtype)
    each = zip(*(tf.unstack(x, draws) for x in arguments), strict=True)
    return tf.stack([function(*xs) for xs in each])


def _over_batch(convolution, inputs, kernel, rank):
    """Convolution with any number of batch axes."""
    batch = inputs.shape.rank - rank - 1
    if batch == 1:
        return convolution(inputs, kernel)
    shape = sizes(inputs)
    outputs = convolution(tf.reshape(inputs, [-1, *shape[batch:]]), kernel)
    return tf.reshape(outputs, [*shape[:batch], *sizes(outputs)[1:]])


def sizes(tensor):
    """Shape as a list, static where it is known."""
    static = tensor.shape.as_list()
    if None not in static:
        return static
    dynamic = tf.unstack(tf.shape(tensor))
    return [d if s is None else s for s, d in zip(static, dynamic, strict=True)]
