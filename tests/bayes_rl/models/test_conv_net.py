import math

import pytest
import tensorflow as tf

import bayes_rl as ed
from tests.bayes_rl.training import stripes, train

DATASET_SIZE = 50000


@pytest.mark.parametrize("be_bayesian", [True, False])
def test_figure_4_learns_with_either_layer(be_bayesian):
    images, labels = stripes()
    model = ed.models.build_conv_net(2, be_bayesian, filters=4)

    def loss_fn():
        logits = model(images, training=True)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.reduce_mean(nll) + sum(model.losses) / DATASET_SIZE

    losses = train(loss_fn, [model], steps=20, learning_rate=0.03)
    assert losses.after < 0.6 * min(losses.before, math.log(2))


def test_bayesian_layers_change_the_weights_alone():
    images, _ = stripes(count=2)
    bayesian, ordinary = (ed.models.build_conv_net(2, x, filters=4) for x in (True, False))
    assert bayesian(images).shape == ordinary(images).shape
    names = [type(layer).__name__ for layer in bayesian.layers]
    assert [type(layer).__name__ for layer in ordinary.layers] == [
        name.replace("Reparameterization", "") for name in names
    ]
    assert len(ed.posteriors(bayesian)) == 2
    assert len(ordinary.losses) == 0
