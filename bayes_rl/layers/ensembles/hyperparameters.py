"""Which column of a batch of hyperparameters belongs to which weight of which layer."""


def get_layer_name_identifier(layer_name):
    """The part of a layer's name that names its hyperparameters.

    Layers with names such as "group_1/conv_2" share those of "group_1".

    Source: Wenzel et al., 2020, Hyperparameter Ensembles for Robustness and Uncertainty
    Quantification, section 4.

    Args:
        layer_name: of the layer.

    Returns:
        The name up to its first slash.

    Example:
        >>> get_layer_name_identifier("group_1/conv_2"), get_layer_name_identifier("dense")
        ('group_1', 'dense')
    """
    return layer_name.partition("/")[0]


def get_lambda(lambdas, lambda_type, layer_name, lambda_key_to_index):
    """Column of a batch of hyperparameters that belongs to a layer.

    Source: Wenzel et al., 2020, Hyperparameter Ensembles for Robustness and Uncertainty
    Quantification, section 4.

    Args:
        lambdas: [..., B, number of hyperparameters].
        lambda_type: "l2_kernel" or "l2_bias".
        layer_name: of the layer.
        lambda_key_to_index: `<identifier of the layer>_<lambda_type>` -> column.

    Returns:
        [..., B, 1].

    Raises:
        ValueError: no column is named for it, or one that lambdas lack.

    Example:
        >>> import tensorflow as tf
        >>> lambdas = tf.constant([[0.1, 0.2], [0.3, 0.5]])
        >>> columns = {"dense_l2_kernel": 0, "dense_l2_bias": 1}
        >>> get_lambda(lambdas, "l2_bias", "dense", columns).numpy().ravel().tolist()
        [0.20000000298023224, 0.5]
    """
    key = f"{get_layer_name_identifier(layer_name)}_{lambda_type}"
    if key not in lambda_key_to_index:
        raise ValueError(
            f"layer {layer_name!r} needs the column of {key!r}, but lambda_key_to_index "
            f"names {sorted(lambda_key_to_index)}"
        )
    column, count = lambda_key_to_index[key], lambdas.shape[-1]
    if column < 0 or (count is not None and column >= count):
        raise ValueError(
            f"column of {key!r} must be from 0 and below the {count} columns of lambdas, "
            f"got {column}"
        )
    return lambdas[..., column : column + 1]
