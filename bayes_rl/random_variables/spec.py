"""How random variables enter and leave `tf.function`s."""

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl.compatibility import versions


def map_parts(function, parts, *values):
    """Maps over the parts of a joint distribution, or over the one value of others."""
    return tf.__internal__.nest.map_structure_up_to(parts, function, *values)


class PartsSpec(versions.type_spec.BatchableTypeSpec):
    """Static part of a random variable: what a `tf.function` is traced for.

    It knows what a variable is made of. `value_type`, which puts one together again, is
    said beside that class.

    Args:
        value: `tf.TensorSpec` of the value.
        distribution: spec of the distribution; None where it has none, and the variable
            then crosses as its value.
        sample_shape: `tf.TensorShape`; None where it is no longer in front of the value.
        name: of the variable.
        is_given: whether the value was set.
    """

    __slots__ = ("_value", "_distribution", "_sample_shape", "_name", "_is_given")

    def __init__(self, value, distribution, sample_shape, name, is_given):
        self._value = value
        self._distribution = distribution
        self._sample_shape = sample_shape
        self._name = name
        self._is_given = is_given

    @classmethod
    def of(cls, variable):
        """The specification of a random variable; it is not drawn for it."""
        return cls(
            map_parts(tf.TensorSpec, variable.dtype, variable.shape, variable.dtype),
            _spec_of(variable.distribution),
            variable.sample_shape,
            variable.name,
            variable.is_given,
        )

    @property
    def keeps_distribution(self):
        """Whether a variable comes back as one, not as its value."""
        return self._distribution is not None and self._sample_shape is not None

    @property
    def shape(self):
        """Static shape of the value."""
        return tf.nest.map_structure(lambda spec: spec.shape, self._value)

    @property
    def dtype(self):
        """Type of the value."""
        return tf.nest.map_structure(lambda spec: spec.dtype, self._value)

    def _serialize(self):
        parts = self._value, self._distribution, self._sample_shape
        return *parts, self._name, self._is_given

    @property
    def _component_specs(self):
        return [s for s in (self._value, self._distribution) if s is not None]

    def _to_components(self, variable):
        parts = [variable.value, variable.distribution]
        return parts[: len(self._component_specs)]

    def _from_components(self, components):
        value, *distribution = components
        if not self.keeps_distribution:
            return value
        return self.value_type._restore(
            distribution[0], value, self._sample_shape, self._name, self._is_given
        )

    def _to_batched_tensor_list(self, variable):
        spec = super(PartsSpec, self._of_items())
        whole = with_whole_batch(variable.distribution)
        return spec._to_batched_tensor_list(
            self.value_type._restore(whole, variable.value, *self._serialize()[2:])
        )

    def _of_items(self):
        """What has an item on every first axis; a sample's items are values alone."""
        is_sample = self._sample_shape is None or self._sample_shape.rank != 0
        distribution = None if is_sample else _spec_of_whole_batch(self._distribution)
        return type(self)(self._value, distribution, *self._serialize()[2:])

    def _batch(self, batch_size):
        return self._changed(lambda spec: spec._batch(batch_size))

    def _unbatch(self):
        return self._of_items()._changed(lambda spec: spec._unbatch())

    def _changed(self, change):
        # A batch axis stands in front of the sample's axes, where none of ours can be.
        sample_shape = self._sample_shape
        if sample_shape is not None and sample_shape.rank != 0:
            sample_shape = None
        distribution = self._distribution and change(self._distribution)
        value = tf.nest.map_structure(change, self._value)
        return type(self)(value, distribution, sample_shape, self._name, self._is_given)


def with_whole_batch(distribution):
    """An equal distribution whose parameters all have the axes of its batch, if it can be.

    A parameter that is the same for all would not know which part is an item's.
    """
    shape = distribution.batch_shape
    try:
        if not isinstance(shape, tf.TensorShape) or _has_whole_batch(distribution):
            return distribution
        sizes = shape if shape.is_fully_defined() else distribution.batch_shape_tensor()
        return distribution._broadcast_parameters_with_batch_shape(sizes)
    except NotImplementedError:  # It does not say what its parameters are.
        return distribution


def _has_whole_batch(distribution):
    parts = versions.batch_shape_lib.map_fn_over_parameters_with_event_ndims(
        distribution, versions.batch_shape_lib.get_batch_shape_part
    )
    values = distribution.parameters.values()
    return all(part == distribution.batch_shape for part in parts.values()) and all(
        _has_whole_batch(x) for x in values if isinstance(x, tfd.Distribution)
    )


def _spec_of_whole_batch(spec):
    if spec is None:
        return None
    with tf.Graph().as_default():
        parts = tf.nest.flatten(spec, expand_composites=True)
        parts = [tf.compat.v1.placeholder(part.dtype, part.shape) for part in parts]
        distribution = tf.nest.pack_sequence_as(spec, parts, expand_composites=True)
        return _spec_of(with_whole_batch(distribution))


def _spec_of(distribution):
    """Type specification of a distribution, or None."""
    try:
        return getattr(distribution, "_type_spec", None)
    except (NotImplementedError, TypeError, ValueError):  # such as subclasses of TFP's
        return None
