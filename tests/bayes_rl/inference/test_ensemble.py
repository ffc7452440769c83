import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

keras = tf.keras.layers


def make():
    model = tf.keras.Sequential([keras.Dense(2, input_shape=[3]), keras.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.1, 0.9), "mse")
    return model


def data():
    inputs = tf.random.stateless_normal([16, 3], [0, 1]).numpy()
    return inputs, inputs.sum(axis=1, keepdims=True)


@pytest.mark.slow
def test_training_at_once_is_training_one_by_one():
    made = []

    def kept():
        made.append((make(), make()))
        made[-1][1].set_weights(made[-1][0].get_weights())
        return made[-1][0]

    options = {"epochs": 3, "shuffle": False, "batch_size": 8, "verbose": 0}
    posterior = ed.inference.ensemble(kept, 2, *data(), **options)
    for number, (_, twin) in enumerate(made):
        twin.fit(*data(), **options)
        for found, value in zip(
            posterior.members.values(), twin.get_weights(), strict=True
        ):
            np.testing.assert_allclose(found[number], value, rtol=1e-4, atol=1e-6)


def test_predictions_are_those_of_the_members():
    posterior = ed.inference.ensemble(make, 3, *data(), verbose=0)
    inputs, _ = data()
    found = posterior.predict(inputs, seed=1)
    members = [model(inputs).numpy() for model in posterior.models]
    start = next(i for i in range(3) if np.allclose(members[i], found[0], atol=1e-5))
    for s in range(3):
        np.testing.assert_allclose(found[s], members[(start + s) % 3], rtol=1e-4, atol=1e-5)


def test_models_that_are_trained_are_taken_as_they_are():
    def trained():
        model = make()
        model.fit(*data(), verbose=0)
        return model

    posterior = ed.inference.ensemble(trained, 2)
    assert len(posterior) == 2
    value = next(iter(posterior.members.values()))
    np.testing.assert_array_equal(value[1], posterior.models[1].get_weights()[0])


def test_members_by_ivon_train_at_draws():
    def by_ivon():
        model = make()
        model.compile(ed.optimizers.IVON(0.1, 16), "mse")
        return model

    posterior = ed.inference.ensemble(by_ivon, 2, *data(), verbose=0)
    gaussians = [ed.inference.posterior(model) for model in posterior.models]
    stddevs = [next(iter(x.stddev.values())) for x in gaussians]
    assert np.all(stddevs[0] != stddevs[1])


def test_equal_starts_are_an_error():
    def seeded():
        model = tf.keras.Sequential(
            [keras.Dense(1, kernel_initializer="ones", input_shape=[3])]
        )
        model.compile("sgd", "mse")
        return model

    with pytest.raises(ValueError, match="members start from the same weights"):
        ed.inference.ensemble(seeded, 2, *data(), verbose=0)


def test_models_that_cannot_be_trained_or_differ_are_errors():
    with pytest.raises(ValueError, match="make must return compiled models"):
        ed.inference.ensemble(lambda: tf.keras.Sequential([keras.Dense(1)]), 2, *data())
    sizes = iter([1, 2])

    def other():
        return tf.keras.Sequential([keras.Dense(next(sizes), input_shape=[3])])

    with pytest.raises(ValueError, match="models of equal variables"):
        ed.inference.ensemble(other, 2)
    with pytest.raises(ValueError, match="members must be a whole number above 0"):
        ed.inference.ensemble(make, 0)
