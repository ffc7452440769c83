import numpy as np
import pytest

from bayes_rl import initializers


@pytest.mark.parametrize(
    ("mode", "fan"), [("fan_in", 36), ("fan_out", 72), ("fan_avg", 54)]
)
def test_fan_of_a_convolution_counts_its_window(mode, fan):
    initializer = initializers.ScaledNormalStdDev(mode=mode, distribution="constant")
    np.testing.assert_allclose(initializer([3, 3, 4, 8]), fan**-0.5, rtol=1e-6)


def test_spread_of_scaled_stddev_is_a_tenth():
    values = initializers.ScaledNormalStdDev()([100, 100]).numpy()
    np.testing.assert_allclose(values.mean(), 0.1, rtol=0.01)
    assert 0.005 < values.std() < 0.011


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scale": 0.0}, "scale must be above 0, got 0.0"),
        ({"mode": "fan"}, "mode must be one of .* got 'fan'"),
        ({"distribution": "normal"}, "distribution must be one of .* got 'normal'"),
    ],
)
def test_wrong_arguments_are_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        initializers.ScaledNormalStdDev(**arguments)
