"""Generalized Gauss-Newton matrices of the variables of a model, summed over examples.

    G = sum_n J_n' L_n L_n' J_n,  J = d outputs / d weights,  L L' = Hessian of the loss

Each sum is collected batch by batch in the structure of a block of `blocks`.
"""

import math

import numpy as np
import tensorflow as tf

from bayes_rl.inference.curvature import blocks
from bayes_rl.inference.curvature.likelihoods import flat_root, rows_of
from bayes_rl.inference.curvature.recording import has_factors, recorded
from bayes_rl.weights import trainable_variables

_MEGABYTES = 2**20 // 4  # of float32
_NUMBERS_AT_ONCE = 64 * _MEGABYTES


class _Sums:
    """What is collected: `of_batch(model, likelihood, inputs)` are tensors to `add`.

    `blocks(count)` are the finished blocks, of so many examples; one of all variables
    where nothing else is said.
    """

    sums = None

    def add(self, parts):
        if self.sums is not None:
            parts = [x + y for x, y in zip(self.sums, parts, strict=True)]
        self.sums = parts

    def blocks(self, count):
        return [_block(self.structure, self.shapes, self.sums, count)]

    def check(self, model, inputs):
        """Raises a ValueError where sums cannot be those of the model; any will do."""


class LastLayer(_Sums):
    """Sums of the last layer, a `Dense` whose kernel multiplies features that stay."""

    def __init__(self, layer, variables, structure):
        self.layer, self.structure = layer, structure
        self.shapes = {name: tuple(x.shape) for name, x in variables.items()}

    def of_batch(self, model, likelihood, inputs):
        with recorded([self.layer]) as (record,):
            model(inputs, training=False)
        features, rows = record.rows(), rows_of(record.outputs[0])
        root = flat_root(likelihood, rows)
        units = rows.shape[-1]
        # [N, rows, units, roots]
        root = tf.reshape(root, [-1, rows.shape[1], units, root.shape[-1]])
        return _factors(self.structure, features, root)

    def check(self, model, inputs):
        """Raises a ValueError where the outputs of the model are not those of the layer."""
        with recorded([self.layer]) as (record,):
            outputs = model(inputs, training=False)
        if len(record.outputs) == 1:
            one, other = (np.ravel(x) for x in (outputs, record.outputs[0]))
            if np.array_equal(one, other):
                return
        raise ValueError(_NOT_LAST.format(self.layer.name))


_NOT_LAST = (
    "subset='last_layer' needs a model whose outputs are those of a Dense layer without an "
    "activation, and they are not those of {!r}; leave the last activation to the loss "
    "(from_logits=True), or choose subset='all'"
)


def last_dense(model):
    """The `Dense` layer whose variables are the last of a model; else a ValueError."""
    layers = [x for x in model._flatten_layers() if x._trainable_weights]
    if not layers or type(layers[-1]) is not tf.keras.layers.Dense:
        raise ValueError(_NOT_LAST.format(layers[-1].name if layers else model.name))
    return layers[-1]


def _factors(structure, inputs, gradients):
    """What a batch adds to the curvature of a kernel, and bias.

    The kernel multiplies inputs [N, rows, inputs]; gradients [N, rows, units, roots] are
    those of the loss's root by the products.
    """
    if structure == "kronecker":
        count = tf.cast(tf.shape(inputs)[1], tf.float32)
        return [
            tf.einsum("nri,nrj->ij", inputs, inputs),
            tf.einsum("nruc,nrvc->uv", gradients, gradients) / count,
        ]
    whole = tf.einsum("nri,nruc->nciu", inputs, gradients)
    flat = tf.reshape(whole, [-1, whole.shape[2] * whole.shape[3]])
    return [_square(structure, flat)]


def _square(structure, flat):
    """Of rows [rows, P] their outer products' sum, or its diagonal."""
    if structure == "full":
        return tf.matmul(flat, flat, transpose_a=True)
    return tf.reduce_sum(tf.square(flat), axis=0)


def _block(structure, shapes, sums, count):
    if structure == "kronecker":
        return blocks.Kronecker(shapes, sums[0], sums[1] / count)
    return blocks.STRUCTURES[structure](shapes, sums[0])


class Layers(_Sums):
    """Sums of layers of which the Kronecker factors are known, one block each."""

    def __init__(self, model):
        own = {id(x): (name, x) for name, x in trainable_variables(model).items()}
        self.shapes, self.layers = [], []
        for layer in model._flatten_layers():
            if has_factors(layer) and all(id(x) in own for x in layer.weights):
                named = [own[id(x)] for x in layer.weights]
                self.shapes.append({name: tuple(x.shape) for name, x in named})
                self.layers.append(layer)

    @property
    def names(self):
        """Of all variables of these layers."""
        return {name for shapes in self.shapes for name in shapes}

    def of_batch(self, model, likelihood, inputs):

        def factors(column):
            with tf.GradientTape() as tape, recorded(self.layers) as records:
                outputs = rows_of(model(inputs, training=False))
                root = flat_root(likelihood, tf.stop_gradient(outputs))
                flat = tf.reshape(outputs, [-1, root.shape[1]])
                target = tf.reduce_sum(flat * root[:, :, column])
            gradients = tape.gradient(target, [record.outputs for record in records])
            found = []
            for record, own in zip(records, gradients, strict=True):
                if not own or any(x is None for x in own):
                    raise ValueError(
                        f"the outputs do not depend on layer {record.layer.name!r}; set "
                        "its trainable to False"
                    )
                parts = record.rows(), record.joined(own)[..., tf.newaxis]
                found.append(_factors("kronecker", *parts))
            return found

        roots = _roots(model, inputs)
        start = factors(tf.constant(0))
        whole = tf.foldl(
            lambda sums, column: [
                [a, b + other[1]]
                for (a, b), other in zip(sums, factors(column), strict=True)
            ],
            tf.range(1, roots),
            start,
        )
        return tf.nest.flatten(whole)

    def blocks(self, count):
        return [
            _block("kronecker", shapes, self.sums[2 * i : 2 * i + 2], count)
            for i, shapes in enumerate(self.shapes)
        ]


def _roots(model, inputs):
    """Number of outputs of an example."""
    outputs = rows_of(model(inputs, training=False))
    return math.prod(outputs.shape[1:])


class Variables(_Sums):
    """Sums of any variables, from the gradients of each example: one block."""

    def __init__(self, variables, structure):
        self.variables, self.structure = variables, structure
        self.shapes = {name: tuple(x.shape) for name, x in variables.items()}
        self.size = sum(math.prod(shape) for shape in self.shapes.values())
        self._is_vectorized = True

    def of_batch(self, model, likelihood, inputs):
        roots = _roots(model, inputs)

        def square(column):
            def gradient(example):
                return self._gradient(model, likelihood, example, column)

            map_fn = tf.vectorized_map if self._is_vectorized else _one_by_one
            return _square(self.structure, map_fn(gradient, inputs))

        shape = [self.size] * (2 if self.structure == "full" else 1)
        return [
            tf.foldl(lambda sums, i: sums + square(i), tf.range(roots), tf.zeros(shape))
        ]

    def without_vectorizing(self):
        """Lets examples be taken one by one: not all operations can be vectorized."""
        self._is_vectorized = False

    def examples_at_once(self):
        """Number of examples whose gradients are in memory at once."""
        return max(1, _NUMBERS_AT_ONCE // max(self.size, 1))

    def _gradient(self, model, likelihood, example, column):
        """[P]."""
        batch = tf.nest.map_structure(lambda x: x[tf.newaxis], example)
        variables = list(self.variables.values())
        with tf.GradientTape() as tape:
            outputs = rows_of(model(batch, training=False))
            root = flat_root(likelihood, tf.stop_gradient(outputs))
            target = tf.reduce_sum(tf.reshape(outputs, [-1]) * root[0, :, column])
        gradients = tape.gradient(
            target, variables, unconnected_gradients=tf.UnconnectedGradients.ZERO
        )
        parts = [tf.convert_to_tensor(x) for x in gradients]
        return tf.concat([tf.cast(tf.reshape(x, [-1]), tf.float32) for x in parts], axis=0)


def _one_by_one(function, inputs):
    return tf.map_fn(function, inputs, fn_output_signature=tf.float32)


def make_sums(model, subset, structure):
    """What collects the curvature of a model's variables, "last_layer" or "all": a list."""
    variables = trainable_variables(model)
    if subset == "last_layer":
        layer = last_dense(model)
        own = {k: x for k, x in variables.items() if any(x is w for w in layer.weights)}
        return [LastLayer(layer, own, structure)]
    if structure != "kronecker":
        return [Variables(variables, structure)]
    layers = Layers(model)
    others = {k: x for k, x in variables.items() if k not in layers.names}
    found = [layers] if layers.layers else []
    return found + ([Variables(others, "diagonal")] if others else [])


def as_float64(parts):
    """Tensors as arrays that sums of many batches do not round."""
    return [np.asarray(x, np.float64) for x in parts]
