import numpy as np
import pytest

import bayes_rl as ed

GENERATOR = np.random.default_rng(0)
KEYS = GENERATOR.normal(size=[2, 5, 4]).astype("float32")
QUERIES = GENERATOR.normal(size=[2, 3, 4]).astype("float32")
VALUES = GENERATOR.normal(size=[2, 5, 6]).astype("float32")


def softmax(scores):
    scores = np.exp(scores)
    return scores / scores.sum(-1, keepdims=True)


DISTANCE = abs(KEYS[:, None] - QUERIES[:, :, None]).sum(-1)
PRODUCT = QUERIES @ KEYS.transpose(0, 2, 1) / 2.0
WEIGHTS = {
    ("uniform", True): np.full([2, 3, 5], 0.2),
    ("laplace", True): softmax(-DISTANCE / 0.5),
    ("laplace", False): 1 + np.tanh(-DISTANCE / 0.5),
    ("dot_product", True): softmax(PRODUCT),
    ("dot_product", False): 1 / (1 + np.exp(-PRODUCT)),
}


@pytest.mark.parametrize(("kind", "normalise"), WEIGHTS)
def test_weighted_sums(kind, normalise):
    attention = ed.layers.Attention("identity", None, kind, 0.5, normalise)
    outputs = attention(KEYS, QUERIES, VALUES)
    np.testing.assert_allclose(outputs, WEIGHTS[kind, normalise] @ VALUES, atol=1e-5)


def test_one_head_is_attention_of_projections():
    attention = ed.layers.Attention("identity", None, "multihead", num_heads=1)
    outputs = attention(KEYS, QUERIES, VALUES)
    query, key, value, output = (x.numpy() for x in attention.heads.weights)
    scores = (QUERIES @ query[:, 0]) @ (KEYS @ key[:, 0]).transpose(0, 2, 1) / np.sqrt(6)
    expected = softmax(scores) @ (VALUES @ value[:, 0]) @ output[0]
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-5)


def test_keys_and_queries_go_through_one_network():
    attention = ed.layers.Attention("mlp", [8, 3], "dot_product")
    outputs = attention(KEYS, QUERIES, VALUES)
    plain = ed.layers.Attention("identity", None, "dot_product")
    expected = plain(attention.network(KEYS), attention.network(QUERIES), VALUES)
    np.testing.assert_allclose(outputs, expected, rtol=1e-5)
    assert len(attention.trainable_weights) == 4


def test_errors():
    with pytest.raises(ValueError, match="rep must be one of .* got 'cnn'"):
        ed.layers.Attention("cnn", None, "uniform")
    with pytest.raises(ValueError, match="att_type must be one of .* got 'cosine'"):
        ed.layers.Attention("identity", None, "cosine")
    with pytest.raises(ValueError, match="rep 'mlp' needs output_sizes, got None"):
        ed.layers.Attention("mlp", None, "uniform")


@pytest.mark.parametrize("scale", [0, -1.0])
def test_scale_that_is_not_above_zero_is_an_error(scale):
    with pytest.raises(ValueError, match=f"scale must be above 0, got {scale}"):
        ed.layers.Attention("identity", None, "laplace", scale=scale)
