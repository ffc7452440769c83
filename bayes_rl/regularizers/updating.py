"""Continual updating: the posterior after some data is the prior of the next."""

from bayes_rl.regularizers.prior import PriorKLDivergence
from bayes_rl.weights import forget_functions, named_weights


def set_prior_to_posterior(model):
    """Makes the present posterior the prior of every weight that has a cost.

        KL = KL(posterior || posterior when this was called)

    The prior is kept in variables that are not trained and are saved with the model. The
    first call replaces regularizers: functions that were traced before keep the old prior,
    except for those of `tf.keras.Model.fit`. Later calls only assign variables.

    Source: Nguyen et al., 2018, Variational Continual Learning, equation 3.

    Args:
        model: as in `bayes_rl.sample_weights`.

    Example:
        >>> import bayes_rl as ed
        >>> layer = ed.layers.DenseFlipout(4)
        >>> layer.build([None, 3])
        >>> ed.regularizers.set_prior_to_posterior(layer)
        >>> [float(kl) for kl in layer.losses]
        [0.0]
    """
    replaced = False
    for layer, weight in named_weights(model).values():
        if weight.regularizer is None:
            continue
        if not _keeps_posterior(weight):
            prior = keep_prior(_without_costs(weight.initializer), weight.regularizer)
            layer.set_regularizer(weight.key, prior)
            replaced = True
        kept = layer.stochastic_weights[weight.key].regularizer.prior
        for variable, value in zip(kept.weights, weight.initializer.weights, strict=True):
            variable.assign(value)
    if replaced:
        forget_functions(model)


def _keeps_posterior(weight):
    kept = weight.regularizer
    return (
        isinstance(kept, PriorKLDivergence)
        and not kept.trainable_prior
        and type(kept.prior) is type(weight.initializer)
    )


def _without_costs(initializer):
    config = initializer.get_config()
    config |= {key: None for key in config if key.endswith("_regularizer")}
    return type(initializer).from_config(config)


def keep_prior(prior, regularizer):
    """Cost with a prior that is kept, scaled and estimated as another cost.

    Args:
        prior: trainable initializer.
        regularizer: the cost it takes the place of.

    Returns:
        A `PriorKLDivergence`.
    """
    names = ("scale_factor", "num_samples", "seed")
    options = {
        name: getattr(regularizer, name) for name in names if hasattr(regularizer, name)
    }
    return PriorKLDivergence(prior, trainable_prior=False, **options)
