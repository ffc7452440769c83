"""LaplaceRandomFeatureCovariance: covariance of predictions that are linear in features."""

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.numerics.linear_algebra import double, solve_lower
from bayes_rl.numerics.means import replica_count
from bayes_rl.serialization import register

LIKELIHOODS = ("gaussian", "binary_logistic", "poisson")


@register
class LaplaceRandomFeatureCovariance(tf.keras.layers.Layer):
    """Posterior covariance of the outputs of a linear model on features, by Laplace.

        precision = ridge_penalty I + sum over the data of weight features features^T
        covariance = ridge_penalty features @ precision^-1 @ features^T

    with weight 1 (gaussian), p (1 - p) at p = sigmoid(logits) (binary_logistic) or
    exp(logits) (poisson). While training, a call adds its batch to the precision: with
    momentum as a moving average of batch means, without (momentum <= 0) as the exact sum,
    for one pass over the data after `reset_precision_matrix`. At test time a call returns
    the covariance of its batch, from a float64 factorization of the precision, or from the
    inverse that `update_feature_covariance_matrix` has stored since the last training
    call. The ridge does not decay with the moving average, so the precision never becomes
    singular.

    Source: Liu et al., 2020, Simple and Principled Uncertainty Estimation with
    Deterministic Deep Learning via Distance Awareness, equations 9 and 10.

    Args:
        momentum: of the moving average, below 1; 0 or less for the exact sum.
        ridge_penalty: not negative; the noise variance of gaussian outputs whose weights
            have prior variance 1. For other likelihoods 1 is Laplace's approximation under
            that prior, and r counts each example 1 / r times.
        likelihood: 'gaussian', 'binary_logistic' or 'poisson'.
        dtype, name: as in `tf.keras.layers.Layer`.
        use_on_read_synchronization_for_single_replica_vars: unused; for compatibility.
        **kwargs: of `tf.keras.layers.Layer`.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> layer = LaplaceRandomFeatureCovariance(momentum=0.0, ridge_penalty=1.0)
        >>> features = tf.eye(2)
        >>> null = layer(features, training=True)
        >>> layer(features).numpy()
        array([[0.5, 0. ],
               [0. , 0.5]], dtype=float32)
    """

    def __init__(
        self,
        momentum=0.999,
        ridge_penalty=1e-6,
        likelihood="gaussian",
        dtype=None,
        name="laplace_covariance",
        use_on_read_synchronization_for_single_replica_vars=False,
        **kwargs,
    ):
        checks.one_of(LIKELIHOODS, likelihood=likelihood)
        checks.not_negative(ridge_penalty=ridge_penalty)
        if momentum >= 1:
            raise ValueError(f"momentum must be below 1, got {momentum}")
        del use_on_read_synchronization_for_single_replica_vars
        super().__init__(**{"autocast": False, **kwargs}, dtype=dtype, name=name)
        self.momentum = momentum
        self.ridge_penalty = ridge_penalty
        self.likelihood = likelihood

    def build(self, input_shape):
        # Each replica sees its part of the data; a moving average takes the mean of their
        # changes, a sum the sum.
        reduction = "MEAN" if self.momentum > 0 else "SUM"
        self.precision_matrix = self._matrix(
            "precision_matrix", input_shape[-1], self.ridge_penalty, reduction
        )
        variance = 1 / self.ridge_penalty if self.ridge_penalty else 0.0
        self.covariance_matrix = self._matrix(
            "covariance_matrix", input_shape[-1], variance, "MEAN"
        )
        self.is_current = self.add_weight(
            "is_current",
            [],
            initializer="zeros",
            trainable=False,
            experimental_autocast=False,
            aggregation=tf.VariableAggregation.MEAN,
        )
        super().build(input_shape)

    def _matrix(self, name, size, diagonal, aggregation):
        return self.add_weight(
            name,
            [size, size],
            initializer=tf.keras.initializers.Identity(diagonal),
            trainable=False,
            experimental_autocast=False,
            aggregation=tf.VariableAggregation[aggregation],
        )

    def call(self, inputs, logits=None, training=None):
        """Updates the precision, or returns the covariance.

        Args:
            inputs: features [batch, features].
            logits: [batch] or [batch, 1]; needed for likelihoods other than gaussian.
            training: whether to update; the result then is the identity.

        Returns:
            [batch, batch].

        Raises:
            ValueError: logits are missing or of several outputs.
        """
        if not training:
            return self.compute_predictive_covariance(inputs)
        self.update_feature_precision_matrix(inputs, logits)
        return tf.eye(tf.shape(inputs)[0], dtype=self.precision_matrix.dtype)

    def update_feature_precision_matrix(self, gp_feature, logits=None):
        """Adds a batch to the precision matrix.

        Args:
            gp_feature: [batch, features].
            logits: as in `call`.
        """
        features = tf.cast(gp_feature, self.precision_matrix.dtype)
        weighted = features * self._data_weights(logits, features.dtype)
        batch = tf.matmul(weighted, features, transpose_a=True)
        if self.momentum > 0:
            ridge = self.ridge_penalty * tf.eye(features.shape[-1], dtype=features.dtype)
            count = tf.cast(tf.shape(features)[0], features.dtype)
            present = tf.convert_to_tensor(self.precision_matrix) - ridge
            change = tf.math.divide_no_nan(batch - count * present, count)
            batch = (1.0 - self.momentum) * change
        self.precision_matrix.assign_add(batch)
        self.is_current.assign(tf.zeros_like(self.is_current))

    def _data_weights(self, logits, dtype):
        if self.likelihood == "gaussian":
            return tf.ones([], dtype)
        if logits is None:
            raise ValueError(f"likelihood {self.likelihood!r} needs logits, got none")
        logits = tf.cast(logits, dtype)
        if logits.shape.rank == 1:
            logits = logits[:, tf.newaxis]
        if logits.shape[-1] != 1:
            raise ValueError(
                f"likelihood {self.likelihood!r} takes logits of one output, [batch, 1], "
                f"got shape {logits.shape}"
            )
        if self.likelihood == "poisson":
            return tf.exp(logits)
        return tf.sigmoid(logits) * tf.sigmoid(-logits)

    def reset_precision_matrix(self):
        """Forgets the data; call it before each pass over them when momentum is 0."""
        size, dtype = self.precision_matrix.shape[0], self.precision_matrix.dtype
        # What replicas assign is aggregated as what they add is: see `build`.
        share = 1 if self.momentum > 0 else replica_count()
        ridge = self.ridge_penalty / share * tf.eye(size, dtype=dtype)
        self.precision_matrix.assign(ridge)
        self.is_current.assign(tf.zeros_like(self.is_current))

    def update_feature_covariance_matrix(self):
        """Stores the inverse of the precision for faster predictions."""
        if self.ridge_penalty == 0:
            return  # The precision may be singular, and the covariance is 0 in any case.
        size = self.precision_matrix.shape[0]
        inverse = tf.linalg.cholesky_solve(self._factor(), tf.eye(size, dtype=tf.float64))
        self.covariance_matrix.assign(tf.cast(inverse, self.covariance_matrix.dtype))
        self.is_current.assign(tf.ones_like(self.is_current))

    def _factor(self):
        return tf.linalg.cholesky(double(self.precision_matrix))

    def compute_predictive_covariance(self, gp_feature):
        """Posterior covariance of the outputs at features.

        Args:
            gp_feature: [batch, features].

        Returns:
            [batch, batch].
        """
        features = double(gp_feature)
        if self.ridge_penalty == 0:
            shape = [tf.shape(features)[0]] * 2
            return tf.zeros(shape, self.precision_matrix.dtype)

        def from_stored():
            return features @ double(self.covariance_matrix) @ tf.transpose(features)

        def from_precision():
            root = solve_lower(self._factor(), tf.transpose(features))
            return tf.matmul(root, root, transpose_a=True)

        covariance = tf.cond(self.is_current > 0.5, from_stored, from_precision)
        return tf.cast(self.ridge_penalty * covariance, self.precision_matrix.dtype)
