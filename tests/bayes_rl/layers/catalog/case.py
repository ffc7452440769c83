"""Case: how the common test makes and calls one public layer."""

import dataclasses
import typing

import numpy as np
import tensorflow as tf

PRECISIONS = ("mixed_bfloat16", "mixed_float16", "float64")


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """One public layer at a small size.

    Args:
        make: function of Keras layer options (`name`, `dtype`) to a new layer.
        shapes: shapes of the inputs, batch first, as positional arguments of the call.
        inputs: function of a NumPy generator to the list of inputs, in place of standard
            normal ones of `shapes`; an input may be a list itself.
        noisy: whether outputs differ between calls where weights have a posterior.
        xla: whether it compiles; a string says why not.
        precisions: policies under which it works.
        draws: whether S held draws of its weights take inputs [S, N, ...].
        saves: formats that keep it; a Keras model that holds it is saved as these.
        model: function of a layer and Keras inputs to Keras outputs, where it is not
            `layer(*inputs)`.
        unused: names of trainable variables that one call leaves without a gradient.
        name: of the case, default the class's name.
    """

    make: typing.Callable
    shapes: typing.Sequence = ()
    inputs: typing.Callable | None = None
    noisy: bool = True
    xla: bool | str = True
    precisions: tuple = PRECISIONS
    draws: bool = True
    saves: tuple = (".keras", "")
    model: typing.Callable | None = None
    unused: tuple = ()
    name: str | None = None

    def arguments(self, dtype="float32"):
        """Inputs of a call, floating ones in `dtype`."""
        generator = np.random.default_rng(0)
        if self.inputs is None:
            found = [generator.normal(size=shape) for shape in self.shapes]
        else:
            found = self.inputs(generator)

        def tensor(value):
            array = np.asarray(value)
            is_floating = array.dtype.kind == "f"
            return tf.cast(array, dtype) if is_floating else tf.constant(array)

        return tf.nest.map_structure(tensor, list(found))
