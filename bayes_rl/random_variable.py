"""RandomVariable: a distribution and the value drawn from it."""

import numpy as np
import tensorflow as tf
from tensorflow_probability import distributions as tfd


def _same_graph_scope(is_eager):
    """Lifts a draw out of a `tf.function` when its variable was made outside of it."""
    if is_eager and not tf.executing_eagerly():
        return tf.init_scope()
    return tf.name_scope("")


class RandomVariable:
    """A distribution together with one value drawn from it.

    It can stand wherever a Tensor can: it then is its value. The value is drawn when it
    is first asked for, so a variable that is only asked for its KL or mean costs no draw.
    Methods of the distribution (`log_prob`, `mean`, `sample`, `kl_divergence`, ...) can be
    called on the variable. As an argument of a `tf.function` it is its value alone.

    Source: Tran et al., 2019, Bayesian Layers: A Module for Neural Network Uncertainty,
    section 2.1.

    Args:
        distribution: a `tfp.distributions.Distribution`.
        sample_shape: shape of independent draws that the value holds.
        value: [*sample_shape, *batch_shape, *event_shape], in place of a draw.
        name: what tracers know it by.
        draw: function of no arguments to the value, where `distribution.sample` is not
            how it arises; called when the value is first asked for.

    Raises:
        ValueError: `value` has another shape.

    Example:
        >>> import tensorflow as tf
        >>> from tensorflow_probability import distributions as tfd
        >>> x = RandomVariable(tfd.Normal(0.0, 1.0), value=2.0)
        >>> float(x + 1.0)
        3.0
        >>> float(x.mean())
        0.0
    """

    __array_priority__ = 100  # numpy leaves `array + variable` to `__radd__`

    def __init__(self, distribution, sample_shape=(), value=None, name=None, draw=None):
        self._distribution = distribution
        self._sample_shape = sample_shape
        self._name = name
        self._is_eager = tf.executing_eagerly()
        self._is_given = value is not None
        self._value = None
        self._draw = draw
        if self._is_given:
            self._value = tf.convert_to_tensor(value, dtype=distribution.dtype)
            if not self._value.shape.is_compatible_with(self._drawn_shape()):
                raise ValueError(
                    f"value of random variable {name or distribution.name!r} must have "
                    f"shape {self._drawn_shape()}, got {self._value.shape}"
                )

    def _drawn_shape(self):
        return self.sample_shape + (
            self._distribution.batch_shape + self._distribution.event_shape
        )

    @property
    def distribution(self):
        """The distribution it is drawn from."""
        return self._distribution

    @property
    def value(self):
        """[*sample_shape, *batch_shape, *event_shape], the same at every access."""
        if self._value is None:
            with _same_graph_scope(self._is_eager):
                self._value = self._new_value()
        return self._value

    def _new_value(self):
        if self._draw is not None:
            return self._draw()
        return self._distribution.sample(self._sample_shape)

    @property
    def is_given(self):
        """Whether the value was set, not drawn."""
        return self._is_given

    @property
    def name(self):
        """What tracers know it by, or None."""
        return self._name

    @property
    def shape(self):
        """Static shape of the value."""
        return self._drawn_shape() if self._value is None else self._value.shape

    def get_shape(self):
        """Static shape of the value."""
        return self.shape

    @property
    def ndim(self):
        """Number of axes of the value."""
        return self.shape.rank

    @property
    def dtype(self):
        """Type of the value."""
        return self._distribution.dtype

    @property
    def sample_shape(self):
        """Static shape of independent draws."""
        if isinstance(self._sample_shape, tf.Tensor):
            return tf.TensorShape(tf.get_static_value(self._sample_shape))
        if isinstance(self._sample_shape, (int, np.integer)):
            return tf.TensorShape([self._sample_shape])
        return tf.TensorShape(self._sample_shape)

    def sample_shape_tensor(self, name="sample_shape_tensor"):
        """[rank of sample_shape], int32."""
        return tf.reshape(
            tf.convert_to_tensor(self._sample_shape, tf.int32, name=name), [-1]
        )

    def numpy(self):
        """The value as a NumPy array."""
        return self.value.numpy()

    def __getattr__(self, attribute):
        # Only called for what this class lacks. Private names would let copy and pickle
        # ask for `_distribution` of an empty instance for ever.
        if attribute.startswith("_") and attribute != "_name_and_control_scope":
            raise AttributeError(attribute)
        return getattr(self._distribution, attribute)

    def __tf_tensor__(self, dtype=None, name=None):
        if dtype is not None and not tf.as_dtype(dtype).is_compatible_with(self.dtype):
            raise ValueError(
                f"random variable {self.name or self._distribution.name!r} has dtype "
                f"{self.dtype.name}, asked for {tf.as_dtype(dtype).name}"
            )
        return tf.identity(self.value, name=name) if name else self.value

    def __array__(self, dtype=None):
        return np.asarray(self.value.numpy(), dtype=dtype)

    def __getitem__(self, index):
        if self.sample_shape.rank == 0 and self._distribution.event_shape.rank == 0:
            return RandomVariable(self._distribution[index], value=self.value[index])
        return self.value[index]

    def __iter__(self):
        return iter(self.value)

    def __len__(self):
        return len(self.value)

    def __bool__(self):
        return bool(self.value)

    def __float__(self):
        return float(self.value)

    def __int__(self):
        return int(self.value)

    def __hash__(self):
        return id(self)

    def __str__(self):
        if isinstance(self.value, tf.__internal__.EagerTensor):
            shown = np.array2string(self.value.numpy())
        else:
            shown = self.value.name
        return f'RandomVariable("{shown}", shape={self.shape}, dtype={self.dtype.name})'

    def __repr__(self):
        kind = type(self._distribution).__name__
        tail = ""
        if isinstance(self._value, tf.__internal__.EagerTensor):
            tail = f" numpy={np.array2string(self._value.numpy())}"
        return (
            f"<ed.RandomVariable '{kind}' shape={self.shape} dtype={self.dtype.name}{tail}>"
        )


def _forward(operator):
    def method(self, *args):
        return getattr(self.value, operator)(*args)

    method.__name__ = operator
    return method


for _operator in tf.Tensor.OVERLOADABLE_OPERATORS - {"__getitem__"}:
    setattr(RandomVariable, _operator, _forward(_operator))


@tfd.RegisterKL(tfd.Distribution, RandomVariable)
def _kl_to_random_variable(distribution, variable, name=None):
    return tfd.kl_divergence(distribution, variable.distribution, name=name)
