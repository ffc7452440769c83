"""scale_kl: what the KL of a model's weights counts beside its loss."""

import warnings

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.numerics import graphs
from bayes_rl.weights.naming import modules_of
from bayes_rl.weights.templates import renew_backward_layers, with_templates


def scale_kl(model, scale):
    """Multiplies the KL of all weights of a model, on top of regularizers' scale factors.

        sum(model.losses) = scale * KL(posterior || prior)

    Losses of Keras are means over examples. With a scale of 1 / (number of training
    examples), the loss of `compile` and `fit` is therefore the negative evidence bound per
    example, if it is a negative log likelihood. "mse" is the one for noise of variance 1/2:
    the model underfits targets that have less noise. -log_prob of a normal with a learned
    stddev does not have this problem.

    The scale is a variable that is read in every step; `AnnealKL` sets it during `fit`.
    Configurations of layers keep its value, so models that are saved or cloned as a whole
    have it. Saved weights and checkpoints do not have it, nor do models of your own class,
    which makes new layers. The `backward_layer` that a `Bidirectional` was given has the
    scale of the last call, or of the last epoch of `AnnealKL`.

    Source: Blundell et al., 2015, Weight Uncertainty in Neural Networks, section 3.4; Tran
    et al., 2019, Bayesian Layers, Figure 3.

    Args:
        model: Keras model or layer, any `tf.Module` that holds such, or a list; layers that
            are not built yet are included.
        scale: not negative.

    Returns:
        `tf.Variable` [], the scale, to be assigned; the one of before where there is one.

    Raises:
        ValueError: no layer has a posterior, or `scale` is negative.

    Example:
        >>> import bayes_rl as ed
        >>> model = tf.keras.Sequential([ed.layers.DenseFlipout(4, input_shape=[3])])
        >>> whole = float(sum(model.losses))
        >>> _ = ed.scale_kl(model, 1 / 100)
        >>> round(whole / float(sum(model.losses)))
        100
    """
    checks.not_negative(scale=scale)
    if scale > 1:
        warnings.warn(
            f"a scale of {scale} lets the KL count more than once; 1 / (number of training "
            "examples) makes the loss the evidence bound per example",
            stacklevel=2,
        )
    scales = [m.kl_scale for m in with_templates(model) if hasattr(m, "kl_scale")]
    if not scales:
        raise ValueError("the model has no layer with a posterior, so no KL to scale")
    variable = scales[0].value
    if isinstance(variable, tf.Variable) and all(x.value is variable for x in scales):
        variable.assign(scale)
    else:
        variable = tf.Variable(scale, trainable=False, dtype=tf.float32, name="kl_scale")
        for each in scales:
            each.value = variable
        forget_functions(model)
    renew_backward_layers(model)
    return variable


def forget_functions(model):
    """Lets the Keras models in `model` trace their functions of training anew."""
    for module in modules_of(model):
        if isinstance(module, tf.keras.Model):
            module.train_function = module.test_function = None


_FAR_ABOVE_A_LOSS = 100.0  # nats; the mean loss of an example is rarely above a few


def _is_in_fit():
    return "train_function" in (getattr(g, "name", None) for g in graphs.outer())


def warn_of_whole_kl(kl):
    """Warns where `fit` adds a KL without a scale that is far larger than the loss."""
    if not _is_in_fit():
        return
    with tf.init_scope():
        if tf.executing_eagerly() and kl() > _FAR_ABOVE_A_LOSS:
            warnings.warn(
                f"the KL of a weight, {kl():.0f} nats, is added to a mean loss without a "
                "scale and is far larger than it; call "
                "ed.scale_kl(model, 1 / number of training examples)",
                stacklevel=2,
            )


def warn_of_no_kl(weight):
    """Warns where `fit` trains the scale of a posterior that has no KL."""
    names = getattr(weight.initializer, "parameter_names", ())  # location, then scale
    if len(names) < 2 or not weight.initializer.trainable or not _is_in_fit():
        return
    warnings.warn(
        f"weight {weight.name!r} has a posterior and no regularizer, so that fit adds no "
        "KL for it and makes it ever narrower; give its layer "
        f"{weight.key}_regularizer='normal_kl_divergence'",
        stacklevel=2,
    )


class AnnealKL(tf.keras.callbacks.Callback):
    """Sets the scale of the KL in each gradient step of `fit`.

        scale = schedule(gradient steps taken before)

    The `steps_per_execution` of `compile` have one scale, that of the first of them.

    A scale that rises from 0 to 1 / (number of training examples) lets the means of the
    weights find the data first.

    Source: Bowman et al., 2016, Generating Sentences from a Continuous Space, section 3.1;
    Sonderby et al., 2016, Ladder Variational Autoencoders, section 2.3.

    Args:
        schedule: function of a step, such as those of `tf.keras.optimizers.schedules`.

    Example:
        >>> schedule = tf.keras.optimizers.schedules.PolynomialDecay(0.0, 1000, 1 / 60_000)
        >>> callbacks = [AnnealKL(schedule)]  # of model.fit
    """

    def __init__(self, schedule):
        super().__init__()
        self.schedule = schedule

    def set_model(self, model):
        super().set_model(model)
        self.scale = scale_kl(model, float(self.schedule(0)))

    def on_train_batch_begin(self, batch, logs=None):
        self.scale.assign(self.schedule(self.model.optimizer.iterations))

    def on_epoch_end(self, epoch, logs=None):
        renew_backward_layers(self.model)
