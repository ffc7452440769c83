import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.training import train

SOURCES = np.array([[1, 2, 3, 0], [3, 1, 0, 0], [2, 2, 4, 1], [4, 0, 0, 0]])
TARGETS = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 2], [0, 0, 3]])
LABELS = np.array([[1, 2, 3], [3, 1, 1], [2, 2, 0], [0, 3, 2]])


def _make(**options):
    return ed.models.build_transformer(5, 4, 4, 3, 8, 1, 2, 16, **options)


def _mean_logits(model, sources, targets):
    with ed.hold(model, ed.mean_weights(model)):
        return model([sources, targets]).numpy()


@pytest.fixture(scope="module")
def transformer():
    """Not to be changed."""
    return _make()


@pytest.mark.slow  # in examples/ it is trained for some steps
def test_it_learns():
    transformer = _make()

    def loss_fn():
        nats = tf.nn.sparse_softmax_cross_entropy_with_logits(
            LABELS, transformer([SOURCES, TARGETS])
        )
        return tf.reduce_mean(nats) + 1e-5 * sum(transformer.losses)

    losses = train(loss_fn, [transformer], steps=60)
    assert losses.after < 0.5 * losses.before


def test_no_logit_depends_on_later_targets(transformer):
    changed = TARGETS.copy()
    changed[:, 2] = 3 - changed[:, 2]
    before, after = (_mean_logits(transformer, SOURCES, x) for x in (TARGETS, changed))
    np.testing.assert_allclose(before[:, :2], after[:, :2], atol=1e-6)
    assert np.all(np.abs(before - after)[:, 2].max(-1) > 1e-4)


def test_padding_of_sources_is_not_read(transformer):
    before = _mean_logits(transformer, SOURCES, TARGETS)
    table = transformer.get_layer("source_words").embeddings
    kept = table.numpy()
    table.assign(tf.concat([table[:1] + 1.0, table[1:]], axis=0))
    after = _mean_logits(transformer, SOURCES, TARGETS)
    table.assign(kept)
    np.testing.assert_allclose(before, after, atol=1e-5)


def test_attention_and_feed_forward_are_bayesian_and_all_else_is_not(transformer):
    kernels = {name.split("/", 1)[0] for name in ed.posteriors(transformer)}
    assert kernels == {
        *("encoder_0_self", "encoder_0_expand", "encoder_0_contract", "decoder_0_self"),
        *("decoder_0_cross", "decoder_0_expand", "decoder_0_contract"),
    }
    assert len(ed.posteriors(transformer)) == 3 * 4 + 2 * 2 == len(transformer.losses)


def test_its_twin_has_one_value_for_each_weight():
    twin = _make(kernel_initializer="glorot_uniform", kernel_regularizer=None)
    assert not ed.posteriors(twin)
    assert not twin.losses
    first, second = (twin([SOURCES, TARGETS]).numpy() for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_heads_share_the_hidden_units():
    with pytest.raises(ValueError, match="must be a multiple of num_heads, 3, got 8"):
        ed.models.build_transformer(5, 4, 4, 3, 8, 1, 3, 16)
