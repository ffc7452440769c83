import numpy as np
import pytest
import tensorflow as tf

from bayes_rl import initializers


@pytest.mark.parametrize("seed", [None, 1])
def test_experts_have_the_variance_of_their_own_fans_and_differ(seed):
    shared = tf.keras.initializers.HeNormal(seed=seed)
    initialize = initializers.get_condconv_initializer(shared, 3, [3, 3, 20, 30])
    experts = initialize([3, 3 * 3 * 20 * 30]).numpy()
    np.testing.assert_allclose(experts.var(1), 2 / 180, rtol=0.1)
    correlations = np.corrcoef(experts) - np.eye(3)
    assert np.all(abs(correlations) < 5 / np.sqrt(5400))
    assert np.all(initialize([3, 5400]) == experts) == (seed is not None)


def test_another_shape_is_an_error():
    initialize = initializers.get_condconv_initializer(tf.keras.initializers.Ones(), 3, [2])
    with pytest.raises(ValueError, match=r"shape \[2\] have shape \[3, 2\], got \[2, 3\]"):
        initialize([2, 3])
