import numpy as np
import pytest

import bayes_rl as ed

COLUMNS = {"group_1_l2_kernel": 1, "dense_l2_bias": 0}
LAMBDAS = np.arange(24.0).reshape([2, 3, 4])


def test_layers_of_a_group_share_their_column():
    for name in ("group_1", "group_1/conv", "group_1/conv_2/inner"):
        assert ed.layers.get_layer_name_identifier(name) == "group_1"
        found = ed.layers.get_lambda(LAMBDAS, "l2_kernel", name, COLUMNS)
        np.testing.assert_array_equal(found, LAMBDAS[..., 1:2])


def test_a_missing_column_is_an_error_that_names_it():
    message = "'dense' needs the column of 'dense_l2_kernel'.*'dense_l2_bias'"
    with pytest.raises(ValueError, match=message):
        ed.layers.get_lambda(LAMBDAS, "l2_kernel", "dense", COLUMNS)


@pytest.mark.parametrize("column", [4, -1])
def test_a_column_that_is_not_there_is_an_error(column):
    with pytest.raises(
        ValueError, match=f"'dense_l2_bias' must be .* the 4 columns .* got {column}"
    ):
        ed.layers.get_lambda(LAMBDAS, "l2_bias", "dense", {"dense_l2_bias": column})
