import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

FLAT = {"hidden_dims": [16, 16], "activation": "tanh"}
SEQUENCE = {"units": 3, "hidden_dims": [16], "activation": "tanh"}
FORMS = [
    (FLAT, [2, 5]),
    (SEQUENCE, [2, 5, 2]),
    ({"units": 3, "hidden_dims": []}, [2, 5, 2]),
]
ORDERS = ["left-to-right", "right-to-left", "random", [2, 5, 1, 3, 4]]


def influence(made, inputs):
    """Largest change of each output position by each input position: [out, in]."""
    inputs = tf.convert_to_tensor(inputs)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = made(inputs)
    jacobian = abs(tape.batch_jacobian(outputs, inputs))
    channels = [4] if inputs.shape.rank == 3 else []
    return tf.reduce_max(jacobian, [0, 2, *channels]).numpy()


def shift_by_hand(layer):
    for index, variable in enumerate(layer.trainable_variables):
        variable.assign_sub(tf.random.stateless_normal(variable.shape, [3, index]))


@pytest.mark.parametrize(
    ("form", "order"),
    [*((FORMS[0], order) for order in ORDERS), *((form, "random") for form in FORMS[1:])],
)
def test_jacobian_is_triangular_after_updates_by_hand(form, order):
    options, shape = form
    made = ed.layers.MADE(**options, input_order=order)
    inputs = tf.random.stateless_normal(shape, [0, 1])
    made(inputs)
    shift_by_hand(made)
    degrees = made.input_degrees(5)
    np.testing.assert_array_equal(
        influence(made, inputs) != 0, degrees[:, None] > degrees[None]
    )


def test_equals_masked_dense_layers():
    made = ed.layers.MADE(2, [8], activation="relu")
    inputs = tf.random.stateless_normal([4, 3, 2], [0, 1])
    outputs = made(inputs)
    first, second = (x.numpy() for x in ed.layers.create_masks(3, [8]))
    kernels = [x.numpy() for x in made.trainable_variables if "kernel" in x.name]
    hidden = inputs.numpy().reshape(4, 6) @ (kernels[0] * np.repeat(first, 2, axis=0))
    flat = np.maximum(hidden, 0.0) @ (kernels[1] * np.repeat(second, 2, axis=1))
    np.testing.assert_allclose(outputs, flat.reshape(4, 3, 2), atol=1e-6)


def test_masked_weights_get_no_gradient():
    made = ed.layers.MADE(hidden_dims=[8])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(made(tf.ones([4, 3])) ** 2)
    kernel = made.trainable_variables[0]
    mask = ed.layers.create_masks(3, [8])[0]
    assert np.all(tape.gradient(loss, kernel).numpy()[mask == 0] == 0)


@pytest.mark.parametrize("leading", [[], [4], [7, 4]])
def test_any_leading_axes(leading):
    assert ed.layers.MADE(2, [8])(tf.ones([*leading, 3, 5])).shape == [*leading, 3, 2]
    flat = ed.layers.MADE(hidden_dims=[8], params=3)
    assert flat(tf.ones([*leading, 5])).shape == [*leading, 5, 3]


def test_copies_have_the_same_random_masks():
    made = ed.layers.MADE(hidden_dims=[8], order="random")
    made(tf.ones([2, 20]))
    copied = ed.layers.MADE.from_config(made.get_config())
    assert copied.input_degrees(20).tolist() == made.input_degrees(20).tolist()
    other = ed.layers.MADE(hidden_dims=[8], order="random")
    assert other.input_degrees(20).tolist() != made.input_degrees(20).tolist()


@pytest.mark.slow
def test_is_trained_as_a_keras_model():
    tf.keras.utils.set_random_seed(0)
    inputs = np.random.default_rng(0).normal(size=[64, 1]).astype("float32") * [1.0, 2.0]
    made = ed.layers.MADE(hidden_dims=[8], params=1, seed=1)
    made.compile(tf.keras.optimizers.Adam(0.03), "mse")
    losses = made.fit(inputs, inputs[..., None], epochs=60, verbose=0).history["loss"]
    # The second input is twice the first; the first cannot be predicted.
    assert losses[-1] < 0.6 * losses[0]
    np.testing.assert_allclose(made(inputs)[:, 1, 0], inputs[:, 1], atol=0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"units": 3}, "hidden_dims must be a list of numbers of units, got None"),
        ({"hidden_dims": 8}, "hidden_dims must be a list of numbers of units, got 8"),
        (
            {"hidden_dims": [], "input_order": "random", "order": "right-to-left"},
            "order is another name of input_order, got 'right-to-left' and 'random'",
        ),
    ],
)
def test_wrong_arguments_are_errors(options, message):
    with pytest.raises(ValueError, match=message):
        ed.layers.MADE(**options)


def test_unknown_length_is_an_error():
    with pytest.raises(ValueError, match=r"\[..., length, channels\] of known size"):
        ed.layers.MADE(2, [8])(tf.keras.Input([None, 3]))
