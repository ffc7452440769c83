import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed


def attention():
    inputs = tf.keras.Input([5, 3])
    layer = ed.layers.MultiHeadAttentionReparameterization(2, 2)
    return tf.keras.Model(inputs, layer(inputs, inputs))


def recurrent(make):
    return tf.keras.Sequential([tf.keras.Input([5, 3]), make()])


def loop(**kwargs):
    return tf.keras.layers.RNN(ed.layers.LSTMCellFlipout(2), **kwargs)


WITH_INNER_LAYERS = {
    "attention": attention,
    "bidirectional": lambda: recurrent(lambda: tf.keras.layers.Bidirectional(loop())),
    "two directions": lambda: recurrent(
        lambda: tf.keras.layers.Bidirectional(
            loop(), backward_layer=loop(go_backwards=True)
        )
    ),
    "stacked": lambda: recurrent(
        lambda: tf.keras.layers.RNN([ed.layers.LSTMCellFlipout(2) for _ in range(2)])
    ),
}


def with_other_priors(kind):
    """A model whose priors are not its posteriors."""
    model = WITH_INNER_LAYERS[kind]()
    ed.regularizers.set_prior_to_posterior(model)
    for variable in model.trainable_weights:
        variable.assign_add(tf.ones_like(variable))
    assert min(model.losses) > 1
    return model


# Both formats keep what a layer says of itself; that of TensorFlow keeps functions too.
FORMATS = [(kind, ".keras") for kind in WITH_INNER_LAYERS] + [("two directions", ".h5")]
SLOW_FORMATS = [(kind, ".h5") for kind in WITH_INNER_LAYERS if kind != "two directions"]
SLOW_FORMATS += [(kind, "") for kind in WITH_INNER_LAYERS]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "suffix"),
    [*FORMATS, *(pytest.param(*each, marks=pytest.mark.slow) for each in SLOW_FORMATS)],
)
def test_prior_of_a_layer_in_a_layer_is_saved(tmp_path, kind, suffix):
    model = with_other_priors(kind)
    model.save(tmp_path / f"model{suffix}")
    loaded = tf.keras.models.load_model(tmp_path / f"model{suffix}")
    np.testing.assert_allclose(loaded.losses, model.losses, rtol=1e-5)


@pytest.mark.parametrize("kind", WITH_INNER_LAYERS)
def test_prior_of_a_layer_in_a_layer_is_cloned(kind):
    model = with_other_priors(kind)
    clone = tf.keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.losses, model.losses, rtol=1e-5)


def test_scale_of_the_kl_of_a_layer_in_a_layer_is_cloned_as_last_set():
    model = WITH_INNER_LAYERS["two directions"]()
    ed.scale_kl(model, 1.0)
    ed.scale_kl(model, 0.5)
    clone = tf.keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.losses, model.losses, rtol=1e-5)


@pytest.mark.slow
def test_annealed_scale_of_the_kl_of_a_layer_in_a_layer_is_cloned():
    model = WITH_INNER_LAYERS["two directions"]()
    model.compile(loss="mse")
    examples = tf.ones([4, 5, 3]), tf.ones([4, 4])
    anneal = ed.AnnealKL(lambda step: 1 / (1 + tf.cast(step, tf.float32)))
    model.fit(*examples, batch_size=2, callbacks=[anneal], verbose=0)
    clone = tf.keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.losses, model.losses, rtol=1e-5)


def test_prior_that_is_made_late_is_named_as_its_posterior():
    model = WITH_INNER_LAYERS["stacked"]()
    ed.regularizers.set_prior_to_posterior(model)
    names = [variable.name for variable in model.weights]
    assert len(set(names)) == len(names) == 18
    of_priors = [name for name in names if "_prior/" in name]
    assert {name.replace("_prior", "") for name in of_priors} < set(names)
