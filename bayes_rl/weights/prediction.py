"""predict: what each of S functions says of inputs, for every model."""

import collections.abc
import itertools
import time
import warnings

import numpy as np
import tensorflow as tf

from bayes_rl import checks
from bayes_rl.random_variables.random_variable import RandomVariable
from bayes_rl.random_variables.spec import with_whole_batch
from bayes_rl.weights.drawing import sample_weights
from bayes_rl.weights.holding import hold
from bayes_rl.weights.kept_functions import kept_function
from bayes_rl.weights.naming import modules_of, named_signs, named_weights
from bayes_rl.weights.variables import named_variables

_SECONDS_WITHOUT_PROGRESS = 2.0


def predict(model, inputs, draws=20, seed=None, batch_size=32, verbose="auto"):
    """Outputs of a model under each of S draws of its weights, for all inputs.

        outputs[s] = model(inputs, training=False) with draw s held

    One draw is held after the other, so the model has no axis of draws. Any model that
    Keras can call therefore works, unless it is stateful. Use `batch_size=N` if outputs are
    joint over the examples of a batch, as in a Gaussian process, or if a model splits a
    batch among the members of an ensemble: it then takes all inputs at once. Means over the
    first axis are the predictive distribution; see `bayes_rl.uncertainty`. A Flipout layer
    uses its kernel without signs, for all examples. The model is traced in the first call,
    and again if its layers or their attributes have changed.

    Source: Tran et al., 2019, Bayesian Layers, section 2.

    Args:
        model: Keras model or layer; it is built on the first inputs where it is not yet.
        inputs: [N, ...], a tuple, list or dict of such, or batches, of inputs alone or as
            for `fit`: a `tf.data.Dataset`, a `tf.keras.utils.Sequence` or a generator that
            ends.
        draws: S, a number of draws; or draws, as from `sample_weights(model, [S])` or the
            `sample` of `bayes_rl.inference`, whose S copies of the weights are in memory at
            once.
        seed: of the draws where their number is given, as in `sample_weights`.
        batch_size: number of inputs that the model takes at a time, at least 1.
        verbose: 1 for a progress bar, 0 for none; "auto" for one after two seconds.

    Returns:
        NumPy array [S, N, ...], without the first axis where draws have none, in the
        structure of the model's outputs. An output that is a random variable is one here,
        with distributions [S, N, ...]; what has no axis of examples is the first batch's.

    Raises:
        ValueError: a number is not a whole one above 0; a layer is stateful; there are no
            inputs, or they never end; draws do not fit the model, differ in their number or
            have signs, which belong to the examples of one batch; outputs are joint over
            the examples of each of several batches.

    Example:
        >>> import bayes_rl as ed
        >>> model = tf.keras.Sequential([
        ...     ed.layers.Conv1DFlipout(4, 3), tf.keras.layers.BatchNormalization(),
        ...     tf.keras.layers.GlobalMaxPooling1D(), ed.layers.DenseFlipout(2)])
        >>> ed.predict(model, tf.ones([7, 9, 3]), 5, seed=1, verbose=0).shape
        (5, 7, 2)
    """
    _check_stateless(model)
    batches, count = _batches(inputs, batch_size)
    first = next(batches, None)
    if first is None:
        raise ValueError("inputs have no examples")
    if not getattr(model, "built", True):
        model(first[0])
    outputs_of = _Draws(model, *_weights(model, draws, seed))
    progress = _Progress(count * outputs_of.steps, verbose)
    parts = []  # [batches][draws] lists of arrays
    for batch in itertools.chain([first], batches):
        if len(parts) == 1:
            outputs_of.check_apart(*batch)
        parts.append([])
        for index in range(outputs_of.steps):
            parts[-1].append(outputs_of(index, *batch))
            progress.step()
    progress.end()
    return outputs_of.joined(parts)


def _check_stateless(model):
    for module in modules_of(model):
        if isinstance(module, tf.keras.layers.RNN) and module.stateful:
            raise ValueError(
                f"layer {module.name!r} is stateful, so a draw would start from the state "
                "of another; make it with stateful=False"
            )


def _batches(inputs, batch_size):
    """Iterator of (inputs, their specification) of each batch, and a number of batches."""
    if isinstance(inputs, tf.keras.utils.Sequence):
        return _converted(inputs), len(inputs)
    if isinstance(inputs, collections.abc.Iterator):
        return _converted(inputs), -1
    if not isinstance(inputs, tf.data.Dataset):
        batch_size = checks.as_size("batch_size", batch_size)
        # A dataset would make one tensor of a list.
        inputs = tuple(inputs) if isinstance(inputs, list) else inputs
        inputs = tf.data.Dataset.from_tensor_slices((inputs,)).batch(batch_size)
    checks.finite(inputs)
    spec = _of_any_size(_inputs_of(inputs.element_spec))
    batches = ((_inputs_of(batch), spec) for batch in inputs)
    return batches, int(inputs.cardinality())


def _converted(batches):
    for batch in batches:
        inputs = tf.nest.map_structure(tf.convert_to_tensor, _inputs_of(batch))
        if any(x.shape.rank == 0 for x in tf.nest.flatten(inputs)):
            raise ValueError("inputs must be batches [N, ...], got one of shape ()")
        yield inputs, _of_any_size(tf.nest.map_structure(tf.type_spec_from_value, inputs))


def _inputs_of(batch):
    return tf.keras.utils.unpack_x_y_sample_weight(batch)[0]


def _of_any_size(specs):
    """The number of examples is not static, so that parts that have it can be told."""
    return tf.nest.map_structure(lambda spec: spec._unbatch()._batch(None), specs)


def _weights(model, draws, seed):
    """Draws, and their number; None for one without an axis."""
    if not isinstance(draws, dict):
        draws = checks.as_size("draws", draws)
        return sample_weights(model, [draws], seed), draws
    if signs := sorted(draws.keys() & named_signs(model).keys()):
        raise ValueError(
            f"draws must not have signs, which fit one batch alone, got {signs[0]!r}; draw "
            "weights without batch_size"
        )
    shapes = {name: weight.shape for name, (_, weight) in named_weights(model).items()}
    if not draws.keys() <= shapes.keys():
        shapes = {k: x.shape for k, x in named_variables(model).items()} | shapes
    counts = {
        draws[name].shape[0] if len(draws[name].shape) > len(shape) else None
        for name, shape in shapes.items()
        if name in draws
    }
    if len(counts) > 1:
        raise ValueError(
            "all weights must have the same number of draws, got "
            f"{sorted(map(str, counts))}"
        )
    return draws, counts.pop() if counts else None


class _Traced:
    """The model under one of S draws, or under one draw, traced once."""

    def __init__(self, model, weights, is_one, inputs):
        self.specs = None  # of the outputs

        def outputs_of(index, weights, inputs):
            one = {k: w if is_one else w[index] for k, w in weights.items()}
            with hold(model, one):
                outputs = model(inputs, training=False)
            outputs = tf.nest.map_structure(_with_whole_batch, outputs)
            self.specs = tf.nest.map_structure(tf.type_spec_from_value, outputs)
            return tf.nest.flatten(outputs, expand_composites=True)

        signature = [tf.TensorSpec([], tf.int32), weights, inputs]
        self.function = tf.function(outputs_of, input_signature=signature)


class _Draws:
    """The model under one draw after the other, as arrays."""

    def __init__(self, model, weights, count):
        self._model, self._count = model, count
        self._weights = {k: tf.convert_to_tensor(w) for k, w in weights.items()}
        self._specs = None  # of the outputs
        self.steps = count or 1

    def __call__(self, index, inputs, spec):
        traced = self._traced(spec)
        outputs = traced.function(tf.constant(index, tf.int32), self._weights, inputs)
        self._specs = traced.specs
        return [output.numpy() for output in outputs]

    def _traced(self, inputs):
        is_one = self._count is None
        weights = {
            k: tf.TensorSpec(w.shape if is_one else [None, *w.shape[1:]], w.dtype)
            for k, w in self._weights.items()
        }
        key = repr((is_one, weights, inputs))
        return kept_function(
            self._model, key, lambda: _Traced(self._model, weights, is_one, inputs)
        )

    def check_apart(self, inputs, spec):
        """Checks that the outputs of several batches can be joined, by those of one."""
        size = tf.nest.flatten(inputs)[0].shape[0]
        # An axis that happens to be as long may be one of examples.
        if all(
            spec.shape[1:].is_fully_defined() and spec.shape[:1] != [size]
            for spec in self._parts()
        ):
            return
        more = tf.nest.map_structure(lambda x: tf.concat([x, x], axis=0), inputs)
        outputs = self(0, inputs, spec), self(0, more, spec)
        for one, other in zip(*outputs, strict=True):
            if one.shape[1:] != other.shape[1:]:
                raise ValueError(
                    "outputs are joint over the examples of a batch, so that those of "
                    "several batches cannot be joined; pass batch_size=N for all N inputs, "
                    "or a dataset of one batch"
                )

    def _parts(self):
        """Specifications of the tensors that the outputs are made of."""
        return tf.nest.flatten(self._specs, expand_composites=True)

    def joined(self, parts):
        """The outputs of all batches, [S, N, ...]."""
        arrays = [
            np.stack([_joined(x, spec) for x in draws])
            for spec, draws in zip(self._parts(), _regrouped(parts), strict=True)
        ]
        if (self._count or 1) > 1 and all((x == x[:1]).all() for x in arrays):
            warnings.warn(
                f"all {self._count} draws predict the same; ed.posteriors(model) has the "
                "weights that are random",
                stacklevel=3,
            )
        if self._count is None:
            arrays, batched = [x[0] for x in arrays], self._specs
        else:
            batched = tf.nest.map_structure(lambda x: x._batch(self._count), self._specs)
        return _packed(batched, arrays)


def _with_whole_batch(output):
    if not isinstance(output, RandomVariable):
        return output
    value, whole = output.value, with_whole_batch(output.distribution)
    return RandomVariable(whole, output.sample_shape, value)


def _regrouped(parts):
    """[batches][draws][outputs] as [outputs][draws][batches]."""
    outputs, draws = range(len(parts[0][0])), range(len(parts[0]))
    return [[[batch[s][i] for batch in parts] for s in draws] for i in outputs]


def _joined(batches, spec):
    is_shared = spec.shape.rank is not None and spec.shape[:1].is_fully_defined()
    return batches[0] if is_shared else np.concatenate(batches)


def _packed(specs, arrays):
    arrays = iter(arrays)

    def pack(spec):
        if isinstance(spec, tf.TensorSpec):
            return next(arrays)
        parts = tf.nest.flatten(spec, expand_composites=True)
        parts = [tf.convert_to_tensor(next(arrays)) for _ in parts]
        return tf.nest.pack_sequence_as(spec, parts, expand_composites=True)

    return tf.nest.map_structure(pack, specs)


class _Progress:
    """Keras' progress bar."""

    def __init__(self, total, verbose):
        self._bar = tf.keras.utils.Progbar(
            total if total > 0 else None,
            verbose=int(verbose not in ("auto", 0)),
            unit_name="batch",
        )
        self._is_late = verbose == "auto"
        self._start, self._done = time.monotonic(), 0

    def step(self):
        self._done += 1
        elapsed = time.monotonic() - self._start
        if self._is_late and elapsed > _SECONDS_WITHOUT_PROGRESS:
            self._bar.verbose = 1
        self._bar.update(self._done, finalize=False)

    def end(self):
        self._bar.update(self._done, finalize=True)
