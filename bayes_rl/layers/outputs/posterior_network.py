"""PosteriorNetworkLayer: a classifier that counts its evidence, by one flow a class."""

import math

import numpy as np
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import checks
from bayes_rl.layers import products
from bayes_rl.layers.outputs.radial_flow import radial_flow, radial_parameters
from bayes_rl.layers.precision import parameter_dtype
from bayes_rl.layers.reversible.masks import create_masks
from bayes_rl.serialization import configured, register

_MOST_LOG_SCALE = 3.0


@configured
class ClassFlows(tf.keras.layers.Layer):
    """Normalizing flows side by side, one for each class, evaluated together.

    Each family maps points [classes, B, dim] to (base points [classes, B, dim], log
    determinant [classes, B]), in `depth` steps; the base is standard normal. All start near
    the identity.
    """

    def __init__(self, num_classes, depth, width=None, **kwargs):
        super().__init__(**kwargs)
        self.num_classes, self.depth, self.width = num_classes, depth, width

    def log_prob(self, points):
        """[B, classes], log density of points [B, dim] under the flow of each class."""
        shape = [self.num_classes, *products.sizes(points)]
        base, log_det = self(tf.broadcast_to(points, shape))
        log_prob = tf.reduce_sum(
            tfd.Normal(tf.zeros([], base.dtype), 1.0).log_prob(base), -1
        )
        return tf.transpose(log_prob + log_det)

    def add_parameter(self, name, shape, initializer):
        """Variable [classes, *shape]; a random one differs between the classes."""
        return self.add_weight(name, [self.num_classes, *shape], initializer=initializer)


@register
class RadialFlows(ClassFlows):
    """Radial flows: see `radial_flow`."""

    def build(self, input_shape):
        dim = input_shape[-1]
        limit = dim**-0.5
        initializers = [
            tf.keras.initializers.RandomUniform(-limit, limit) for _ in range(3)
        ]
        self.center = self.add_parameter("center", [self.depth, dim], initializers[0])
        self.alpha = self.add_parameter("alpha", [self.depth, 1], initializers[1])
        self.beta = self.add_parameter("beta", [self.depth, 1], initializers[2])
        super().build(input_shape)

    def call(self, points):
        total = tf.zeros([], points.dtype)
        for step in range(self.depth):
            parameters = radial_parameters(self.alpha[:, step], self.beta[:, step])
            center = self.center[:, step, tf.newaxis]
            points, log_det = radial_flow(points, center, *parameters)
            total += log_det
        return points, total


@register
class AffineFlows(ClassFlows):
    """Affine flows: a triangular matrix and a shift in each step.

        outputs = (points + shift) @ L

    L is upper triangular, its diagonal exp(.).
    """

    def build(self, input_shape):
        dim = input_shape[-1]
        small = [tf.keras.initializers.RandomNormal(stddev=0.01) for _ in range(2)]
        self.shift = self.add_parameter("shift", [self.depth, dim], small[0])
        self.matrix = self.add_parameter("matrix", [self.depth, dim, dim], small[1])
        super().build(input_shape)

    def call(self, points):
        matrix = tf.convert_to_tensor(self.matrix)
        log_diagonal = tf.linalg.diag_part(matrix)
        matrix = tf.linalg.set_diag(
            tf.linalg.band_part(matrix, 0, -1), tf.exp(log_diagonal)
        )
        for step in range(self.depth):
            shift = self.shift[:, step, tf.newaxis]
            points = tf.matmul(points + shift, matrix[:, step])
        total = tf.reduce_sum(log_diagonal, axis=[-2, -1])[:, tf.newaxis]
        return points, tf.broadcast_to(total, tf.shape(points)[:-1])


@register
class MaskedAutoregressiveFlows(ClassFlows):
    """Masked autoregressive flows, their order reversed from step to step.

        outputs_k = (points_k - shift_k) exp(-log_scale_k)
        shift_k, log_scale_k = network(points of lower place)

    The network has two hidden layers of `width` ReLU units; masks multiply its kernels at
    every call. log_scale = 3 tanh(. / 3), so that densities far from the data are finite.

    Source: Papamakarios et al., 2017, Masked Autoregressive Flow for Density Estimation,
    section 3, but for the bound.
    """

    def build(self, input_shape):
        dim = input_shape[-1]
        width = self.width or 2 * dim
        self._masks = [self._step_masks(dim, width, step) for step in range(self.depth)]
        scale = [math.sqrt(2 / dim), math.sqrt(2 / width), 0.01]
        self.kernels, self.biases = [], []
        for index, stddev in enumerate(scale):
            shape = [self.depth, *self._masks[0][index].shape]
            normal = tf.keras.initializers.RandomNormal(stddev=stddev)
            bias_shape = [self.depth, 1, shape[-1]]
            self.kernels.append(self.add_parameter(f"kernel_{index}", shape, normal))
            self.biases.append(self.add_parameter(f"bias_{index}", bias_shape, "zeros"))
        super().build(input_shape)

    def _step_masks(self, dim, width, step):
        order = "right-to-left" if step % 2 else "left-to-right"
        with tf.init_scope():
            masks = create_masks(dim, [width, width], order)
            masks = [np.asarray(mask, "float32") for mask in masks]
        return [*masks[:-1], np.concatenate([masks[-1]] * 2, axis=1)]

    def call(self, points):
        total = tf.zeros([], points.dtype)
        for step in range(self.depth):
            shift, raw = tf.split(self._network(points, step), 2, axis=-1)
            log_scale = _MOST_LOG_SCALE * tf.tanh(raw / _MOST_LOG_SCALE)
            points = (points - shift) * tf.exp(-log_scale)
            total -= tf.reduce_sum(log_scale, axis=-1)
        return points, total

    def _network(self, hidden, step):
        for index, mask in enumerate(self._masks[step]):
            hidden = tf.nn.relu(hidden) if index else hidden
            kernel = self.kernels[index][:, step] * tf.cast(mask, hidden.dtype)
            hidden = tf.matmul(hidden, kernel) + self.biases[index][:, step]
        return hidden


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
        checks.one_of(_FLOWS, flow_type=flow_type)
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
