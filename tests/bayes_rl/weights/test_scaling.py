import warnings

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

INPUTS, TARGETS = np.ones([8, 3], np.float32), np.zeros([8, 4], np.float32)


def dense(**kwargs):
    return ed.layers.DenseFlipout(4, **kwargs)


def deterministic():
    """A layer whose cost is -log prior of a point."""
    return ed.layers.DenseReparameterization(4, kernel_initializer="glorot_uniform")


class Subclass(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.last = dense(), deterministic()

    def call(self, inputs):
        return self.last(self.hidden(inputs))


def functional():
    inputs = tf.keras.Input([3])
    inner = tf.keras.Sequential([dense(name="inner")])
    return tf.keras.Model(inputs, deterministic()(inner(inputs)))


MODELS = {
    "sequential": lambda: tf.keras.Sequential([dense(), deterministic()]),
    "functional": functional,
    "subclass": Subclass,
    "recurrent": lambda: tf.keras.Sequential(
        [
            tf.keras.layers.Reshape([1, 3]),
            tf.keras.layers.RNN(ed.layers.LSTMCellFlipout(4)),
        ]
    ),
}
WHOLE = {name: MODELS[name] for name in ("sequential", "functional", "recurrent")}


def attention():
    inputs = tf.keras.Input([3])
    words = tf.keras.layers.Reshape([3, 1])(inputs)
    attended = ed.layers.MultiHeadAttentionFlipout(2, 2)(words, words)
    return tf.keras.Model(inputs, dense()(tf.keras.layers.Flatten()(attended)))


def bidirectional():
    cell = tf.keras.layers.RNN(ed.layers.LSTMCellFlipout(4))
    both = tf.keras.layers.Bidirectional(cell)
    return tf.keras.Sequential([tf.keras.layers.Reshape([1, 3]), both])


@tf.keras.utils.register_keras_serializable()
@ed.layers.utils.add_weight
class Decorated(tf.keras.layers.Layer):
    def __init__(self, units=4, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        kernel = ed.initializers.TrainableNormal()
        prior = ed.regularizers.NormalKLDivergence()
        options = {"initializer": kernel, "regularizer": prior}
        self.add_weight("kernel", [shape[-1], self.units], **options)
        super().build(shape)

    def call(self, inputs):
        return inputs @ self.draw("kernel")

    def get_config(self):
        return {**super().get_config(), "units": self.units}


WHOLE |= {"attention": attention, "bidirectional": bidirectional}
WHOLE |= {"decorated": lambda: tf.keras.Sequential([Decorated()])}


@pytest.mark.parametrize("is_built", [True, False])
@pytest.mark.parametrize("kind", MODELS)
def test_every_cost_is_scaled(kind, is_built):
    model = MODELS[kind]()
    if is_built:
        model(INPUTS)
    ed.scale_kl(model, 0.25)
    model(INPUTS)
    scaled = float(sum(model.losses))
    divergences = ed.kl_divergences(model)
    ed.scale_kl(model, 1.0)
    np.testing.assert_allclose(scaled, 0.25 * float(sum(model.losses)), rtol=1e-5)
    for name, kl in ed.kl_divergences(model).items():
        np.testing.assert_allclose(divergences[name], 0.25 * kl, rtol=1e-5)


def loss_in_fit(model):
    return model.evaluate(INPUTS, TARGETS, verbose=0)


def compiled(scale=1.0):
    """A model whose only loss is its KL."""
    model = tf.keras.Sequential([dense()])
    ed.scale_kl(model, scale)
    model.compile("sgd", lambda y, x: 0.0 * tf.reduce_sum(x, -1))
    return model


def test_scale_counts_in_functions_of_keras_that_were_traced_before():
    model = compiled()
    whole = loss_in_fit(model)
    ed.scale_kl(model, 0.5)
    np.testing.assert_allclose(loss_in_fit(model), 0.5 * whole, rtol=1e-5)
    scale = ed.scale_kl(model, 0.25)
    np.testing.assert_allclose(loss_in_fit(model), 0.25 * whole, rtol=1e-5)
    scale.assign(0.125)
    np.testing.assert_allclose(loss_in_fit(model), 0.125 * whole, rtol=1e-5)


def test_scale_of_one_model_is_not_that_of_another():
    first, second = compiled(0.5), compiled(0.5)
    before = loss_in_fit(second)
    loss_in_fit(first)
    ed.scale_kl(first, 0.1)
    np.testing.assert_allclose(loss_in_fit(second), before, rtol=1e-6)


def test_schedule_of_the_callback_is_that_of_train_steps():
    model = tf.keras.Sequential([dense()])
    model.compile("sgd", "mse")
    seen = []
    schedule = tf.keras.optimizers.schedules.PolynomialDecay(0.0, 4, 0.5)
    record = tf.keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: seen.append(float(scale()))
    )

    def scale():
        costs = ed.kl_divergences(model)
        ed_scale = ed.posteriors(model)
        kl = ed.regularizers.NormalKLDivergence()(*ed_scale.values())
        return next(iter(costs.values())) / kl

    annealing = [ed.AnnealKL(schedule), record]
    options = {"batch_size": 4, "verbose": 0, "callbacks": annealing}
    model.fit(INPUTS, TARGETS, epochs=1, **options)
    model.fit(INPUTS, TARGETS, epochs=2, **options)  # it goes on
    np.testing.assert_allclose(seen, [0.0, 0.125, 0.25, 0.375, 0.5, 0.5], atol=1e-6)


def test_callback_sets_the_scale_once_for_several_steps_in_one_execution():
    model, steps = tf.keras.Sequential([dense()]), []

    def schedule(step):
        steps.append(int(step))
        return 0.0

    model.compile("sgd", "mse", steps_per_execution=2)
    options = {"batch_size": 2, "verbose": 0, "callbacks": [ed.AnnealKL(schedule)]}
    model.fit(INPUTS, TARGETS, **options)
    assert steps == [0, 0, 2]  # the first when `fit` begins


def test_scale_is_no_weight_of_the_model(tmp_path):
    model, scaled = MODELS["sequential"](), MODELS["sequential"]()
    ed.scale_kl(scaled, 0.1)
    for each in (model, scaled):
        each(INPUTS)
    assert [w.shape for w in model.weights] == [w.shape for w in scaled.weights]
    tf.saved_model.save(scaled, str(tmp_path / "saved"))


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [
        *((kind, ".keras") for kind in WHOLE),
        ("sequential", ".h5"),
        *(
            pytest.param(kind, suffix, marks=pytest.mark.slow)
            for kind in WHOLE
            for suffix in ("", ".h5")
            if (kind, suffix) != ("sequential", ".h5")
        ),
    ],
)
def test_scale_is_part_of_a_model_that_is_saved_whole(tmp_path, kind, suffix):
    model = WHOLE[kind]()
    model(INPUTS)
    ed.scale_kl(model, 0.25)
    model.save(tmp_path / f"model{suffix}")
    loaded = tf.keras.models.load_model(tmp_path / f"model{suffix}")
    np.testing.assert_allclose(loaded.losses, model.losses, rtol=1e-5)
    ed.scale_kl(loaded, 0.5)
    np.testing.assert_allclose(loaded.losses, [2 * x for x in model.losses], rtol=1e-5)


def test_a_mirrored_model_is_cloned_with_its_scale(two_devices):
    with two_devices.scope():
        model = MODELS["functional"]()
        ed.scale_kl(model, 0.25)
    clone = tf.keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.losses, [float(x) for x in model.losses], rtol=1e-5)


def test_a_layer_that_is_made_of_layers_keeps_their_scale():
    options = {"kernel_initializer": "trainable_normal", "lambda_key_to_index": {}}
    layer = ed.layers.DenseHyperBatchEnsemble(2, **options)
    ed.scale_kl(layer, 0.25)
    copy = type(layer).from_config(layer.get_config())
    assert [float(each.kl_scale.value) for each in (copy.main, copy.delta)] == [0.25] * 2


def test_a_clone_has_the_scale_and_one_of_its_own():
    model = MODELS["functional"]()
    ed.scale_kl(model, 0.25)
    clone = tf.keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.losses, model.losses, rtol=1e-5)
    ed.scale_kl(clone, 0.5)
    np.testing.assert_allclose(clone.losses, [2 * x for x in model.losses], rtol=1e-5)


@pytest.mark.parametrize("suffix", [".weights.h5", ".tf"])
def test_weights_of_another_model_leave_the_scale(tmp_path, suffix):
    model, other = MODELS["sequential"](), MODELS["sequential"]()
    for each, scale in ((model, 0.25), (other, 0.01)):
        ed.scale_kl(each, scale)
        each(INPUTS)
    other.save_weights(tmp_path / f"weights{suffix}")
    model.load_weights(tmp_path / f"weights{suffix}")
    np.testing.assert_allclose(sum(model.losses), 25 * sum(other.losses), rtol=1e-5)


def test_scale_is_in_no_checkpoint(tmp_path):
    layer = dense()
    layer(INPUTS)
    ed.scale_kl(layer, 0.25)
    path = tf.train.Checkpoint(layer=layer).write(str(tmp_path / "checkpoint"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert names
    assert not [name for name in names if "scale" in name]


def test_checkpoint_from_when_scales_were_saved_can_be_restored(tmp_path):
    layer, other = dense(), dense()
    for each in (layer, other):
        each(INPUTS)
    old = tf.train.Checkpoint(**other._trackable_children())
    old._kl_scale = tf.train.Checkpoint(value=tf.Variable(0.01))
    path = tf.train.Checkpoint(layer=old).write(str(tmp_path / "checkpoint"))
    ed.scale_kl(layer, 0.25)
    tf.train.Checkpoint(layer=layer).read(path).assert_existing_objects_matched()
    np.testing.assert_array_equal(layer.kernel.mean(), other.kernel.mean())


def test_unscaled_kl_in_fit_is_a_warning():
    def fit(change):
        model = tf.keras.Sequential([dense(), ed.layers.DenseReparameterization(100)])
        change(model)
        model.compile("sgd", "mse")
        model.fit(INPUTS, np.zeros([8, 100]), verbose=0)

    with pytest.warns(UserWarning, match=r"ed\.scale_kl\(model, 1 / number"):
        fit(lambda model: None)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "the KL of a weight")
        fit(lambda model: ed.scale_kl(model, 1 / 8))
        fit(lambda model: ed.scale_kl(model, 1.0))  # said, so meant


@pytest.mark.parametrize(
    ("kind", "options", "weight"),
    [
        ("Reparameterization", {"bias_initializer": "trainable_normal"}, "bias"),
        ("Reparameterization", {"kernel_regularizer": None}, "kernel"),
        ("Flipout", {"kernel_regularizer": None}, "kernel"),
        ("LocalReparameterization", {"kernel_regularizer": None}, "kernel"),
        ("LocalReparameterization", {}, None),
        ("Flipout", {"bias_initializer": "trainable_deterministic"}, None),
        (
            "Reparameterization",
            {
                "bias_initializer": "trainable_normal",
                "bias_regularizer": "normal_kl_divergence",
            },
            None,
        ),
    ],
)
def test_posterior_without_kl_in_fit_is_a_warning(kind, options, weight):
    layer = getattr(ed.layers, f"Dense{kind}")(4, name="dense", **options)
    model = tf.keras.Sequential([layer])
    model.compile("sgd", "mse")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(INPUTS, TARGETS, verbose=0)
    found = [str(w.message) for w in caught if "no regularizer" in str(w.message)]
    if weight is None:
        assert found == []
    else:
        assert f"'dense/{weight}' has a posterior and no regularizer" in found[0]
        assert f"{weight}_regularizer='normal_kl_divergence'" in found[0]


def test_kl_that_another_loop_divides_is_no_warning():
    model = tf.keras.Sequential([ed.layers.DenseReparameterization(100)])
    model(INPUTS)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "the KL of a weight")
        tf.function(lambda: sum(model.losses) / 8)()


@pytest.mark.parametrize(
    ("model", "scale", "message"),
    [
        (tf.keras.Sequential([tf.keras.layers.Dense(3)]), 1.0, "no layer with a posterior"),
        (tf.keras.Sequential([dense()]), -0.1, "scale must not be negative, got -0.1"),
    ],
)
def test_wrong_arguments_are_errors(model, scale, message):
    with pytest.raises(ValueError, match=message):
        ed.scale_kl(model, scale)


def test_a_scale_above_one_is_told():
    layer = ed.layers.DenseReparameterization(4)
    with pytest.warns(UserWarning, match="a scale of 200 lets the KL count more than once"):
        ed.scale_kl(layer, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ed.scale_kl(layer, 1.0)
