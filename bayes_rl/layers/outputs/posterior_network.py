"""PosteriorNetworkLayer: a classifier that counts its evidence."""

import tensorflow as tf

from bayes_rl.layers.outputs.class_flows import (
    AffineFlows,
    MaskedAutoregressiveFlows,
    RadialFlows,
)
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.serialization import register

_FLOWS = {"affine": AffineFlows, "maf": MaskedAutoregressiveFlows, "radial": RadialFlows}
# exp of it is a float32 whose digamma is one too.
_MOST_LOG_EVIDENCE = 80.0


@register
class PosteriorNetworkLayer(tf.keras.layers.Layer):
    """Dirichlet concentrations from densities of the inputs, one flow a class.

        concentration_c = 1 + class_counts_c * density(inputs | c)

    Far from the data all densities vanish and the Dirichlet is uniform. Train it with
    `bayes_rl.losses.uce_loss` on inputs of few dimensions and unit scale, such as those of
    a batch normalization. Evidence above exp(80) counts as exp(80).

    Source: Charpentier et al., 2020, Posterior Network: Uncertainty Estimation without OOD
    Samples via Density-Based Pseudo-Counts, equations 3 and 4.

    Args:
        num_classes: at least 2.
        flow_type: "maf", "radial" or "affine".
        flow_depth: number of steps of each flow, at least 1.
        flow_width: number of hidden units of a "maf" step; default: twice the size of the
            inputs.
        class_counts: number of training examples of each class, default 1.
        name: of the layer.
        **kwargs: of `tf.keras.layers.Layer`.

    Inputs of a call are [B, features]; it returns [B, num_classes], above 1.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> layer = ed.layers.PosteriorNetworkLayer(3, class_counts=[100, 50, 50])
        >>> layer(tf.ones([5, 2])).shape
        TensorShape([5, 3])
    """

    def __init__(
        self,
        num_classes,
        flow_type="maf",
        flow_depth=8,
        flow_width=None,
        class_counts=None,
        name=None,
        **kwargs,
    ):
        if flow_type not in _FLOWS:
            raise ValueError(
                f"flow_type must be one of {', '.join(_FLOWS)}, got {flow_type!r}"
            )
        if min(num_classes - 1, flow_depth) < 1:
            raise ValueError(
                "num_classes must be at least 2 and flow_depth at least 1, got "
                f"{num_classes} and {flow_depth}"
            )
        counts = [1.0] * num_classes if class_counts is None else list(class_counts)
        if len(counts) != num_classes or min(counts) <= 0:
            raise ValueError(
                f"class_counts must be {num_classes} numbers above 0, got {counts}"
            )
        super().__init__(name=name, **kwargs)
        self.num_classes = num_classes
        self.flow_type = flow_type
        self.flow_depth = flow_depth
        self.flow_width = flow_width
        self.class_counts = [float(count) for count in counts]
        # Densities need more digits than 16 bits have.
        dtype = parameter_dtype(self).name
        flows = _FLOWS[flow_type]
        self.flows = flows(num_classes, flow_depth, flow_width, dtype=dtype, name="flows")

    def build(self, input_shape):
        with tf.name_scope("flows"):
            self.flows.build([self.num_classes, *input_shape])
        super().build(input_shape)

    def call(self, inputs):
        log_density = self.flows.log_prob(tf.cast(inputs, parameter_dtype(self)))
        counts = tf.constant(self.class_counts, log_density.dtype)
        log_evidence = tf.math.log(counts) + log_density
        return 1 + tf.exp(tf.minimum(log_evidence, _MOST_LOG_EVIDENCE))

    def compute_output_shape(self, input_shape):
        return tf.TensorShape([input_shape[0], self.num_classes])
