"""Priors and posteriors that start from trained weights."""

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.initializers import TrainableNormalFixedStddev
from bayes_rl.random_variables.families import normal_parameters
from bayes_rl.regularizers.prior import keep_prior
from bayes_rl.weights import forget_functions, named_weights, renew_templates


def start_at_means(model, delta=0.1, prior_stddev=1.0, min_stddev=1e-4):
    """Sets priors and stddevs by the posterior means: MOPED.

        prior = Normal(mean, prior_stddev), kept
        stddev of the posterior = max(delta * |mean|, min_stddev)

    for every weight with a normal posterior, such as those of `to_bayesian(model)` of a
    trained model. Training then starts near the deterministic optimum, from where a prior
    around 0 would pull large networks away. As with
    `bayes_rl.regularizers.set_prior_to_posterior`, functions that were traced before keep
    the old prior.

    Source: Krishnan et al., 2020, Specifying Weight Priors in Bayesian Deep Neural Networks
    with Empirical Bayes, section 3, "MOPED".

    Args:
        model: as in `bayes_rl.sample_weights`.
        delta: stddev relative to the mean, above 0.
        prior_stddev: of the prior, above 0.
        min_stddev: above 0; keeps the KL of weights that are 0 finite.

    Raises:
        ValueError: an argument is not above 0, a posterior is not normal, or its constraint
            does not give such a stddev.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=[3])])
        >>> bayesian = ed.to_bayesian(model)
        >>> start_at_means(bayesian, delta=0.1)
        >>> (posterior,) = ed.posteriors(bayesian).values()
        >>> ratio = posterior.stddev() / abs(posterior.mean())
        >>> bool(tf.reduce_all(abs(ratio - 0.1) < 1e-3))
        True
    """
    checks.above_0(delta=delta, prior_stddev=prior_stddev, min_stddev=min_stddev)
    for layer, weight in named_weights(model).values():
        parameters = normal_parameters(weight.posterior())
        if parameters is None:
            raise ValueError(
                f"weight {weight.name!r} must have a normal posterior, got "
                f"{type(weight.initializer).__name__}"
            )
        mean = parameters[0]
        if "stddev" in weight.initializer.parameter_names:
            stddev = tf.maximum(delta * abs(mean), min_stddev)
            if weight.initializer.stddev.shape.rank == 0:
                stddev = tf.sqrt(tf.reduce_mean(stddev**2))
            weight.initializer.assign(stddev=stddev)
        if weight.regularizer is not None:
            prior = TrainableNormalFixedStddev(prior_stddev)
            kept = keep_prior(prior, weight.regularizer)
            layer.set_regularizer(weight.key, kept)
            kept = layer.stochastic_weights[weight.key].regularizer
            kept.prior.assign(mean=mean)
    renew_templates(model)
    forget_functions(model)
