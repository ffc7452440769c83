"""Training, SWAG and IVON with what the sizes of each program say."""

import tensorflow as tf

import bayes_rl as ed


def fit(
    model,
    inputs,
    targets,
    loss,
    sizes,
    rate=None,
    make_optimizer=tf.keras.optimizers.Adam,
    callbacks=(),
):
    """Trains by Adam, or another optimizer, whose rate falls to 0 as a cosine."""
    steps = sizes.epochs * -(-len(inputs) // sizes.batch)
    schedule = tf.keras.optimizers.schedules.CosineDecay(rate or sizes.rate, steps)
    model.compile(make_optimizer(schedule), loss)
    options = {"epochs": sizes.epochs, "batch_size": sizes.batch, "verbose": 0}
    model.fit(inputs, targets, callbacks=list(callbacks), **options)
    return model


def swag(model, data, sizes, seed):
    """SWAG's posterior, from a trained model on; see `bayes_rl.inference.swag`."""
    return ed.inference.swag(
        model,
        data,
        sizes.swag_rate,
        sizes.swag_epochs,
        sizes.swag_rank,
        batch_size=sizes.batch,
        seed=seed,
    )


def ivon(rate, examples, sizes, seed, **options):
    """The optimizer IVON; see `bayes_rl.optimizers.IVON`.

    Args:
        rate: of learning, or its schedule.
        examples: for how many its posterior is.
        sizes: with its other settings.
        seed: of its draws.
        **options: further words of the optimizer.
    """
    return ed.optimizers.IVON(
        rate,
        examples,
        sizes.ivon_hessian,
        beta_2=sizes.ivon_memory,
        weight_decay=sizes.ivon_decay,
        seed=seed,
        **options,
    )


def draws_of(posterior, sizes, seed):
    """A function of inputs to predictions under draws [S, N, ...]."""
    return lambda x: posterior.predict(x, sizes.draws, seed, len(x), verbose=0)
