"""BayesianLinearModel: linear regression with an exact posterior."""

import tensorflow as tf

from bayes_rl import distributions
from bayes_rl.numerics.linear_algebra import double, solve_lower
from bayes_rl.serialization import register


@register
class BayesianLinearModel(tf.keras.Model):
    """Linear regression with a standard normal prior over its coefficients.

        coefficients ~ Normal(0, I),  y ~ Normal(x coefficients, noise_variance)
        posterior: Normal(mean, precision^-1)
        precision = I + x^T x / noise_variance,  mean = precision^-1 x^T y / noise_variance

    Outputs are random variables [batch], the noise-free x coefficients at each input: their
    variance is epistemic. Before `fit` they are those of the prior. There is no intercept;
    append a feature of ones for one.

    Source: Bishop, 2006, Pattern Recognition and Machine Learning, section 3.3.

    Args:
        noise_variance: of y about the line, above 0.
        **kwargs: of `tf.keras.Model`.

    Raises:
        ValueError: `noise_variance` is not above 0.

    Example:
        >>> model = BayesianLinearModel(noise_variance=1.0)
        >>> model.fit(tf.ones([3, 1]), tf.constant([1.0, 2.0, 3.0]))
        >>> outputs = model(tf.ones([1, 1]))
        >>> float(outputs.mean()[0]), float(outputs.variance()[0])
        (1.5, 0.25)
    """

    def __init__(self, noise_variance, **kwargs):
        if noise_variance <= 0:
            raise ValueError(f"noise_variance must be above 0, got {noise_variance}")
        super().__init__(**{"autocast": False, **kwargs})
        self.noise_variance = noise_variance

    def build(self, input_shape):
        features = input_shape[-1]
        options = {"trainable": False, "experimental_autocast": False}
        self.coefficients_mean = self.add_weight(
            "coefficients_mean", [features], initializer="zeros", **options
        )
        # The Cholesky factor of the precision: of what is stored, it loses least.
        self.precision_tril = self.add_weight(
            "precision_tril", [features, features], initializer="identity", **options
        )
        super().build(input_shape)

    def call(self, inputs):
        """Predictions.

        Args:
            inputs: [batch, features].

        Returns:
            Normal random variable [batch].
        """
        inputs = double(inputs)
        root = solve_lower(double(self.precision_tril), tf.transpose(inputs))
        mean = tf.linalg.matvec(inputs, double(self.coefficients_mean))
        stddev = tf.norm(root, axis=0)
        dtype = self.precision_tril.dtype
        return distributions.Normal(
            tf.cast(mean, dtype), tf.cast(stddev, dtype), name=self.name
        )

    def fit(self, x=None, y=None, **kwargs):
        """Sets the coefficients to their exact posterior; earlier data are forgotten.

        Args:
            x: [examples, features].
            y: [examples] or [examples, 1].
            **kwargs: of `tf.keras.Model.fit`; unused.

        Raises:
            ValueError: x and y are not of these shapes.
        """
        del kwargs
        x, y = double(x), double(y)
        if y.shape.rank == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if x.shape.rank != 2 or not y.shape.is_compatible_with(x.shape[:1]):
            raise ValueError(
                "x must have shape [examples, features] and y [examples], got "
                f"{x.shape} and {y.shape}"
            )
        if not self.built:
            self.build(x.shape)
        products = tf.matmul(x, x, transpose_a=True) / self.noise_variance
        precision = tf.eye(x.shape[1], dtype=x.dtype) + products
        factor = tf.linalg.cholesky(precision)
        right = tf.linalg.matvec(x, y, transpose_a=True) / self.noise_variance
        mean = tf.linalg.cholesky_solve(factor, right[:, tf.newaxis])[:, 0]
        dtype = self.precision_tril.dtype
        self.coefficients_mean.assign(tf.cast(mean, dtype))
        self.precision_tril.assign(tf.cast(factor, dtype))
