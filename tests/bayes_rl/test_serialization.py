import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

DENSE = tf.keras.layers.Dense
LAYERS = {
    "coupling": lambda: ed.layers.RealNVP(DENSE(8, "relu"), mask=[1, 0, 1, 0]),
    "model": lambda: ed.layers.RealNVP(
        tf.keras.Sequential([DENSE(3, "relu"), DENSE(8)]), mask=[1, 0, 1, 0]
    ),
    "masked": lambda: ed.layers.RealNVP(ed.layers.MADE(hidden_dims=[3])),
    "residual": lambda: ed.layers.ReversibleResidual(DENSE(2), DENSE(2)),
    "rate": lambda: ed.layers.PoissonProcess(DENSE(1)),
    "mean": lambda: ed.layers.GaussianProcess(1, mean_fn=DENSE(1)),
    "encoder": lambda: ed.layers.GaussianProcess(
        1, covariance_fn=ed.layers.LinearKernel(1.0, 1.0, encoder=DENSE(3))
    ),
}


@pytest.mark.parametrize("kind", LAYERS)
def test_layers_that_hold_layers_of_keras_are_read_from_hdf5(tmp_path, kind):
    model = tf.keras.Sequential([tf.keras.Input([4]), LAYERS[kind]()])
    model.save(tmp_path / "model.h5")
    loaded = tf.keras.models.load_model(tmp_path / "model.h5")
    for ours, theirs in zip(model.get_weights(), loaded.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_what_is_unknown_in_hdf5_is_named(tmp_path):
    class Foreign(DENSE):
        pass

    model = tf.keras.Sequential([tf.keras.Input([4]), ed.layers.PoissonProcess(Foreign(1))])
    model.save(tmp_path / "model.h5")
    with pytest.raises(ValueError, match="Unknown object: 'Foreign'"):
        tf.keras.models.load_model(tmp_path / "model.h5")
