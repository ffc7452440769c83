"""TensorLike: what lets an object with a value stand wherever a Tensor can."""

import numpy as np
import tensorflow as tf


class TensorLike:
    """Mixin for objects with `value`, `shape` and `dtype`: operators, NumPy and Python.

    Comparison is element by element, as for Tensors, and the hash is the object's own.
    """

    __array_priority__ = 100  # numpy leaves `array + variable` to `__radd__`

    def get_shape(self):
        """Static shape of the value."""
        return self.shape

    @property
    def ndim(self):
        """Number of axes of the value."""
        return self.shape.rank

    def numpy(self):
        """The value as a NumPy array."""
        return self.value.numpy()

    def __tf_tensor__(self, dtype=None, name=None):
        if dtype is not None and not tf.as_dtype(dtype).is_compatible_with(self.dtype):
            raise ValueError(
                f"{self._label()} has dtype {self.dtype.name}, "
                f"asked for {tf.as_dtype(dtype).name}"
            )
        return tf.identity(self.value, name=name) if name else self.value

    def _label(self):
        return type(self).__name__

    def __array__(self, dtype=None):
        return np.asarray(self.value.numpy(), dtype=dtype)

    def __array_function__(self, function, types, args, kwargs):
        # Without it, NumPy would call methods such as `mean` of the distribution.
        def plain(x):
            return x.numpy() if isinstance(x, TensorLike) else x

        args, kwargs = tf.nest.map_structure(plain, (args, kwargs))
        return function(*args, **kwargs)

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

    def __index__(self):
        return self.value.__index__()

    def __hash__(self):
        return id(self)


def _forward(operator):
    def method(self, *args):
        return getattr(self.value, operator)(*args)

    method.__name__ = operator
    return method


for _operator in tf.Tensor.OVERLOADABLE_OPERATORS - {"__getitem__"}:
    setattr(TensorLike, _operator, _forward(_operator))
