"""RandomVariable: a distribution and the value drawn from it."""

import contextlib

import numpy as np
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.compatibility import versions
from bayes_rl.numerics import graphs
from bayes_rl.random_variables.spec import PartsSpec, map_parts
from bayes_rl.random_variables.tensor_like import TensorLike


class _GradientOfValue(versions.composite_tensor_gradient.CompositeTensorGradient):
    """Gradients of and with respect to a random variable are those of its value."""

    def get_gradient_components(self, value):
        return value.value

    def replace_gradient_components(self, value, component_grads):
        return component_grads


class RandomVariable(TensorLike, tf.__internal__.CompositeTensor):
    """A distribution together with one value drawn from it.

    It can stand wherever a Tensor can: it then is its value. The value is drawn when it
    is first asked for, so a variable that is only asked for its KL or mean costs no draw.
    Methods of the distribution (`log_prob`, `mean`, `sample`, `kl_divergence`, ...) can be
    called on the variable.

    Arguments and results of a `tf.function` keep their distribution, where it is a
    CompositeTensor, as nearly all of TFP's are; otherwise they come as the value alone.
    To cross that border, it is drawn.

    Source: Tran et al., 2019, Bayesian Layers, section 2.1.

    Args:
        distribution: a `tfp.distributions.Distribution`.
        sample_shape: shape of independent draws that the value holds.
        value: [*sample_shape, *batch_shape, *event_shape], in place of a draw.
        name: its name in traces.
        draw: function of no arguments to the value, where `distribution.sample` is not
            how it arises; called when the value is first asked for.

    Raises:
        ValueError: `value` has another shape.

    Example:
        >>> import tensorflow as tf
        >>> x = RandomVariable(tfd.Normal(0.0, 1.0), value=2.0)
        >>> float(x + 1.0)
        3.0
        >>> float(x.mean())
        0.0
        >>> double = tf.function(lambda x: RandomVariable(tfd.Normal(2.0 * x.loc, x.scale)))
        >>> float(double(x).stddev())
        1.0
    """

    __composite_gradient__ = _GradientOfValue()

    def __init__(self, distribution, sample_shape=(), value=None, name=None, draw=None):
        self._distribution = distribution
        self._sample_shape = sample_shape
        self._name = name
        self._graph = graphs.current()
        self._is_given = value is not None
        self._value = None
        self._draw = draw
        if self._is_given:
            self._value = self._converted(value)

    def _converted(self, value):
        shape, dtype = self._drawn_shape(), self.dtype
        value = map_parts(self._as_type, dtype, value, dtype)
        fits = map_parts(lambda s, v: v.shape.is_compatible_with(s), shape, shape, value)
        if not all(tf.nest.flatten(fits)):
            got = map_parts(lambda v: v.shape, shape, value)
            raise ValueError(f"value of {self._label()} must have shape {shape}, got {got}")
        return value

    def _as_type(self, value, dtype):
        with contextlib.suppress(TypeError, ValueError):
            if not _would_be_cut(value, dtype):
                return tf.convert_to_tensor(value, dtype)
        got = value.dtype.name if tf.is_tensor(value) else value
        raise ValueError(
            f"value of {self._label()} must be of type {dtype.name}, got {got}"
        )

    def _label(self):
        return f"random variable {self._name or self._distribution.name!r}"

    def _drawn_shape(self):
        batch, event = self._distribution.batch_shape, self._distribution.event_shape
        if isinstance(event, tf.TensorShape):
            return self.sample_shape + batch + event
        if isinstance(batch, tf.TensorShape):  # one for all parts of a joint distribution
            batch = tf.nest.map_structure(lambda _: batch, event)
        return map_parts(lambda b, e: self.sample_shape + b + e, event, batch, event)

    @property
    def distribution(self):
        """The distribution it is drawn from."""
        return self._distribution

    @property
    def value(self):
        """[*sample_shape, *batch_shape, *event_shape], the same at every access."""
        if self._value is None:
            with _scope_of(self._graph):
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
        """Its name in traces, or None."""
        return self._name

    @property
    def shape(self):
        """Static shape of the value; of a joint distribution those of its parts."""
        if self._value is None:
            return self._drawn_shape()
        return map_parts(lambda value: value.shape, self._distribution.dtype, self._value)

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

    def __getattr__(self, attribute):
        # Only called for what this class lacks. Private names would let copy and pickle
        # ask for `_distribution` of an empty instance for ever.
        if attribute.startswith("_") and attribute != "_name_and_control_scope":
            raise AttributeError(attribute)
        return getattr(self._distribution, attribute)

    def __getstate__(self):
        value = self.value
        return {**vars(self), "_value": value, "_draw": None, "_graph": None}

    def __getitem__(self, index):
        is_mask = tf.bool == getattr(index, "dtype", None)  # for TFP, a number
        if self.sample_shape.rank == 0 and not is_mask and self._is_within_batch(index):
            with contextlib.suppress(NotImplementedError):
                sliced = self._distribution[index]
                if self._is_given:
                    return RandomVariable(sliced, value=self._value[index])
                return RandomVariable(sliced, draw=lambda: self.value[index])
        return self.value[index]

    def _is_within_batch(self, index):
        if self._distribution.event_shape.rank == 0:
            return True
        indices = index if isinstance(index, tuple) else (index,)
        if any(i is Ellipsis for i in indices):
            return False
        axes = sum(i is not None for i in indices)
        return axes <= self._distribution.batch_shape.rank

    @property
    def _type_spec(self):
        return RandomVariableSpec.of(self)

    def _convert_variables_to_tensors(self):
        distribution = self._distribution
        if self._type_spec.keeps_distribution:
            distribution = distribution._convert_variables_to_tensors()
        value = tf.nest.map_structure(tf.convert_to_tensor, self.value)
        return self._restore(
            distribution, value, self._sample_shape, self._name, self._is_given
        )

    @classmethod
    def _restore(cls, distribution, value, sample_shape, name, is_given):
        """A random variable of parts that need no check and may not be Tensors."""
        variable = cls.__new__(cls)
        vars(variable).update(
            _distribution=distribution,
            _sample_shape=sample_shape,
            _name=name,
            _graph=None,
            _is_given=is_given,
            _value=value,
            _draw=None,
        )
        return variable

    def __str__(self):
        shown = self.value
        if isinstance(shown, tf.__internal__.EagerTensor):
            shown = np.array2string(shown.numpy())
        else:
            shown = getattr(shown, "name", shown)
        dtype = getattr(self.dtype, "name", self.dtype)
        return f'RandomVariable("{shown}", shape={self.shape}, dtype={dtype})'

    def __repr__(self):
        kind = type(self._distribution).__name__
        tail = ""
        if isinstance(self._value, tf.__internal__.EagerTensor):
            tail = f" numpy={np.array2string(self._value.numpy())}"
        dtype = getattr(self.dtype, "name", self.dtype)
        return f"<ed.RandomVariable '{kind}' shape={self.shape} dtype={dtype}{tail}>"


@versions.type_spec_registry.register("bayes_rl.RandomVariableSpec")
class RandomVariableSpec(PartsSpec):
    """What a `tf.function` of random variables is traced for, see `PartsSpec`.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> spec = tf.type_spec_from_value(ed.Normal([0.0, 1.0], 1.0))
        >>> spec.value_type.__name__, spec.shape
        ('RandomVariable', TensorShape([2]))
    """

    __slots__ = ()

    @property
    def value_type(self):
        return RandomVariable


def _would_be_cut(value, dtype):
    """Whether TensorFlow would make whole numbers of NumPy's that are not."""
    is_floating = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "f"
    return dtype.is_integer and is_floating and np.any(value != np.floor(value))


def _scope_of(graph):
    """Where to draw a variable made in `graph`, so that all who see it see its value."""
    if graph is graphs.current():
        return contextlib.nullcontext()
    return tf.init_scope() if graph is None else graph.as_default()


def _kl_of_variables(a, b, name=None):
    a, b = (x.distribution if isinstance(x, RandomVariable) else x for x in (a, b))
    return tfd.kl_divergence(a, b, name=name)


for _pair in (
    (tfd.Distribution, RandomVariable),
    (RandomVariable, tfd.Distribution),
    (RandomVariable, RandomVariable),
):
    tfd.RegisterKL(*_pair)(_kl_of_variables)
