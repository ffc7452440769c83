"""RandomFeatureGaussianProcess: the SNGP output layer."""

import tensorflow as tf

from bayes_rl import checks, initializers
from bayes_rl.layers.processes import parameters
from bayes_rl.layers.processes.random_features.fourier_features import RandomFeatures
from bayes_rl.layers.processes.random_features.laplace_covariance import (
    LaplaceRandomFeatureCovariance,
)
from bayes_rl.serialization import config_of, register


@register
class RandomFeatureGaussianProcess(tf.keras.layers.Layer):
    """Gaussian process output layer by random features and a Laplace approximation.

        features = sqrt(2 / num_inducing) cos(inputs @ frequencies / sqrt(s) + phases)
        logits = features @ kernel + bias
        covariance = ridge features (ridge I + sum features features^T)^-1 features^T

    with s = `gp_kernel_scale`, so the prior covariance is exp(-|x1 - x2|^2 / (2 s)). The
    kernel is trained to its posterior mode; the covariance is accumulated while training
    and the same for all units. On top of a network with spectral normalization this is
    SNGP. `bayes_rl.layers.utils.mean_field_logits` turns logits and covariance into
    predictions.

    Source: Liu et al., 2020, Simple and Principled Uncertainty Estimation with
    Deterministic Deep Learning via Distance Awareness, section 3 and algorithm 1.

    Args:
        units: number of outputs, at least 1.
        num_inducing: number of random features.
        gp_kernel_type: 'gaussian', 'laplacian' for exp(-|x1 - x2|_1 / sqrt(s)), or
            'linear' to use the inputs as features.
        gp_kernel_scale: s, above 0.
        gp_output_bias: initial bias.
        normalize_input: whether inputs first go through layer normalization.
        gp_kernel_scale_trainable: whether s is trained.
        gp_output_bias_trainable: whether the bias is trained.
        gp_cov_momentum: momentum of the covariance; see `LaplaceRandomFeatureCovariance`.
        gp_cov_ridge_penalty: ridge of the covariance.
        scale_random_features: whether the factor sqrt(2 / num_inducing) is used.
        use_custom_random_features: whether the next two arguments are used.
        custom_random_features_initializer: of the frequencies, default as by the type.
        custom_random_features_activation: in place of the cosine.
        l2_regularization: of the kernel.
        gp_cov_likelihood: of the covariance.
        return_gp_cov: whether a call returns the covariance and, training, adds to it.
        return_random_features: whether a call returns the features.
        dtype, name: as in `tf.keras.layers.Layer`.
        **gp_output_kwargs: of the `tf.keras.layers.Dense` from features to logits.

    Raises:
        ValueError: an argument is out of its range or unknown.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.RandomFeatureGaussianProcess(4, num_inducing=64)
        >>> logits, covariance = layer(tf.ones([2, 3]))
        >>> logits.shape, covariance.shape
        (TensorShape([2, 4]), TensorShape([2, 2]))
    """

    def __init__(
        self,
        units,
        num_inducing=1024,
        gp_kernel_type="gaussian",
        gp_kernel_scale=1.0,
        gp_output_bias=0.0,
        normalize_input=True,
        gp_kernel_scale_trainable=False,
        gp_output_bias_trainable=False,
        gp_cov_momentum=0.999,
        gp_cov_ridge_penalty=1e-6,
        scale_random_features=True,
        use_custom_random_features=True,
        custom_random_features_initializer=None,
        custom_random_features_activation=None,
        l2_regularization=0.0,
        gp_cov_likelihood="gaussian",
        return_gp_cov=True,
        return_random_features=False,
        dtype=None,
        name="random_feature_gaussian_process",
        **gp_output_kwargs,
    ):
        checks.at_least_1(units=units)
        options = {
            key: gp_output_kwargs.pop(key)
            for key in ("trainable", "batch_input_shape", "input_shape")
            if key in gp_output_kwargs
        }
        super().__init__(**{"autocast": False, **options}, dtype=dtype, name=name)
        self.units = units
        self.num_inducing = num_inducing
        self.gp_kernel_type = gp_kernel_type
        self.gp_kernel_scale_trainable = gp_kernel_scale_trainable
        self.gp_kernel_scale = self._kernel_scale(gp_kernel_scale)
        self.gp_output_bias = gp_output_bias
        self.normalize_input = normalize_input
        self.gp_output_bias_trainable = gp_output_bias_trainable
        self.scale_random_features = scale_random_features
        self.use_custom_random_features = use_custom_random_features
        self.custom_random_features_initializer = initializers.get(
            custom_random_features_initializer
        )
        self.custom_random_features_activation = custom_random_features_activation
        self.l2_regularization = l2_regularization
        self.return_gp_cov = return_gp_cov
        self.return_random_features = return_random_features
        self.gp_output_kwargs = gp_output_kwargs
        self._make_layers(gp_cov_momentum, gp_cov_ridge_penalty, gp_cov_likelihood)

    def _kernel_scale(self, value):
        value = parameters.from_config(value)
        if not isinstance(value, (int, float)):
            return value
        checks.above_0(gp_kernel_scale=value)
        if not self.gp_kernel_scale_trainable:
            return value
        return parameters.positive(value, self.variable_dtype, "kernel_scale")

    def _make_layers(self, momentum, ridge_penalty, likelihood):
        # The layers inside compute in the type of the variables: sums over a thousand
        # features and their inverse need its precision.
        dtype = self.variable_dtype
        self.input_norm = None
        if self.normalize_input:
            self.input_norm = tf.keras.layers.LayerNormalization(dtype=dtype, name="norm")
        self.random_features = self._make_features(dtype)
        strength = self.l2_regularization
        penalty = tf.keras.regularizers.L2(strength) if strength else None
        self.output_layer = tf.keras.layers.Dense(
            self.units,
            use_bias=False,
            dtype=dtype,
            **{"name": "output", "kernel_regularizer": penalty, **self.gp_output_kwargs},
        )
        self.covariance = LaplaceRandomFeatureCovariance(
            momentum, ridge_penalty, likelihood, dtype=dtype, name="covariance"
        )

    def _make_features(self, dtype):
        if self.gp_kernel_type == "linear":
            return None
        custom = self.custom_random_features_initializer
        activation = self.custom_random_features_activation
        return RandomFeatures(
            self.num_inducing,
            kernel_type=self.gp_kernel_type,
            frequencies_initializer=custom if self.use_custom_random_features else None,
            activation=activation if self.use_custom_random_features else None,
            is_scaled=self.scale_random_features,
            dtype=dtype,
            name="features",
        )

    def build(self, input_shape):
        shape = tf.TensorShape(input_shape)
        if self.normalize_input:
            self.input_norm.build(shape)
        if self.random_features is not None:
            self.random_features.build(shape)
            shape = shape[:-1].concatenate(self.num_inducing)
        self.output_layer.build(shape)
        self.covariance.build(shape)
        self.bias = self.add_weight(
            "bias",
            [self.units],
            initializer=tf.keras.initializers.Constant(self.gp_output_bias),
            trainable=self.gp_output_bias_trainable,
            experimental_autocast=False,
        )
        super().build(input_shape)

    def call(self, inputs, global_step=None, training=None):
        """Logits and their covariance.

        Args:
            inputs: [batch, features].
            global_step: unused; for compatibility.
            training: whether the batch is added to the covariance, which then is returned
                as the identity.

        Returns:
            [logits [batch, units], covariance [batch, batch], features [batch,
            num_inducing]] as far as they were asked for; the covariance is that of the
            noise-free function of one unit.
        """
        del global_step
        features = self._features(inputs)
        logits = self.output_layer(features) + tf.convert_to_tensor(self.bias)
        outputs = [tf.cast(logits, self.compute_dtype)]
        if self.return_gp_cov:
            outputs.append(self.covariance(features, logits, training=training))
        if self.return_random_features:
            outputs.append(features)
        return outputs

    def _features(self, inputs):
        features = tf.cast(inputs, self.variable_dtype)
        if self.normalize_input:
            features = self.input_norm(features)
        if self.random_features is None:
            return features
        scale = parameters.value_of(self.gp_kernel_scale, features.dtype)
        return self.random_features(features / tf.sqrt(scale))

    def reset_covariance_matrix(self):
        """Forgets the data; for momentum 0, call it before each pass over them."""
        self.covariance.reset_precision_matrix()

    def get_config(self):
        return config_of(
            RandomFeatureGaussianProcess,
            self,
            gp_kernel_scale=parameters.to_config(self.gp_kernel_scale, self.name),
            gp_cov_momentum=self.covariance.momentum,
            gp_cov_ridge_penalty=self.covariance.ridge_penalty,
            gp_cov_likelihood=self.covariance.likelihood,
            **self.gp_output_kwargs,
        )
