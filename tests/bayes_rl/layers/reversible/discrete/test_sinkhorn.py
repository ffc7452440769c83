import itertools

import numpy as np
import tensorflow as tf

from bayes_rl.layers import utils

LOGITS = tf.random.stateless_normal([5, 4, 4], [0, 1])


def test_sinkhorn_approaches_doubly_stochastic_matrices():
    matrices = utils.sinkhorn(LOGITS, n_iters=100)
    for axis in (-1, -2):
        np.testing.assert_allclose(tf.reduce_sum(matrices, axis), 1.0, atol=1e-5)
    # It scales rows and columns, so that cross ratios stay those of the weights.
    ratios = [
        x[:, :1, :1] + x - x[:, :, :1] - x[:, :1]
        for x in (np.log(matrices), LOGITS.numpy())
    ]
    np.testing.assert_allclose(*ratios, atol=1e-4)


def test_matching_has_the_largest_weight_of_all_permutations():
    hard = utils.soft_to_hard_permutation(LOGITS).numpy()
    permutations = np.array([np.eye(4)[list(p)] for p in itertools.permutations(range(4))])
    weights = np.einsum("pij,bij->bp", permutations, LOGITS)
    np.testing.assert_array_equal(hard, permutations[weights.argmax(1)])


def test_matching_has_the_gradient_of_its_inputs():
    weights = tf.random.stateless_normal([5, 4, 4], [0, 2])
    with tf.GradientTape() as tape:
        tape.watch(LOGITS)
        loss = tf.reduce_sum(weights * utils.soft_to_hard_permutation(LOGITS))
    np.testing.assert_array_equal(tape.gradient(loss, LOGITS), weights)


def test_matching_of_unknown_batch():
    function = tf.function(
        utils.soft_to_hard_permutation, input_signature=[tf.TensorSpec([None, 4, 4])]
    )
    np.testing.assert_array_equal(function(LOGITS), utils.soft_to_hard_permutation(LOGITS))
