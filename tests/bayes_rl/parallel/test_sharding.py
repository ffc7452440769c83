import numpy as np
import pytest
import tensorflow as tf
from tensorflow.experimental import dtensor

import bayes_rl as ed
from bayes_rl import parallel


def _pair():
    """Two layers, of which one is split along columns, the other along rows."""
    names = ("expand", "contract")
    pair = tf.keras.Sequential([ed.layers.DenseFlipout(4, name=name) for name in names])
    pair(tf.ones([1, 4]))
    return pair


def _axes(variable):
    return [None if x == "unsharded" else x for x in variable.layout.sharding_specs]


@pytest.mark.slow
def test_weights_are_split_by_their_names():
    transformer = ed.models.build_transformer(5, 4, 3, 2, 4, 1, 2, 6)
    parallel.shard(transformer, parallel.make_mesh("1x2"))
    axes = {x.name.removesuffix(":0"): _axes(x) for x in transformer.variables}
    for parameter in ("mean", "stddev"):
        assert axes[f"decoder_0_cross/query/kernel/{parameter}"] == [None, "model"]
        assert axes[f"encoder_0_expand/kernel/{parameter}"] == [None, "model"]
        assert axes[f"encoder_0_contract/kernel/{parameter}"] == ["model", None]
        kernel = f"encoder_0_self/attention_output/kernel/{parameter}"
        assert axes[kernel] == ["model", None]
    assert axes["encoder_0_self/key/bias"] == ["model"]
    assert axes["encoder_0_contract/bias"] == [None]
    assert axes["source_words/embeddings"] == [None, None]


def test_a_stddev_that_a_kernel_shares_is_on_every_device():
    shared = "trainable_normal_shared_stddev"
    layer = ed.layers.DenseFlipout(4, kernel_initializer=shared, name="expand")
    model = tf.keras.Sequential([layer])
    model.build([1, 4])
    parallel.shard(model, parallel.make_mesh("1x2"))
    initializer = layer.stochastic_weights["kernel"].initializer
    assert (_axes(initializer.mean), _axes(initializer.stddev)) == ([None, "model"], [])


def test_values_stay_and_come_back_whole(mesh):
    pair = _pair()
    before = pair.get_weights()
    parallel.shard(pair, mesh)
    for old, new in zip(before, pair.variables, strict=True):
        assert isinstance(new, dtensor.DVariable)
        np.testing.assert_array_equal(parallel.gather(new), old)


def test_posteriors_and_attributes_are_those_of_the_split_weights():
    pair = _pair()
    parallel.shard(pair, parallel.make_mesh("1x2"))
    weight = pair.layers[0].stochastic_weights["kernel"]
    assert any(weight.initializer.mean is x for x in pair.trainable_variables)
    assert _axes(weight.initializer.mean) == [None, "model"]


def test_checkpoint_of_a_mesh_is_read_on_one_device(tmp_path):
    pair, other = _pair(), _pair()
    parallel.shard(pair, parallel.make_mesh("1x2"))
    path = tf.train.Checkpoint(pair).write(str(tmp_path / "weights"))
    tf.train.Checkpoint(other).read(path).assert_consumed()
    for split, whole in zip(pair.variables, other.variables, strict=True):
        np.testing.assert_array_equal(parallel.gather(split), whole)


def test_more_axes_than_a_value_has_are_an_error(mesh):
    message = r"a value to place with shape \(2,\) has fewer axes than \('batch', None\)"
    with pytest.raises(parallel.MeshError, match=message):
        parallel.place(tf.ones([2]), mesh, [parallel.BATCH, None])


def test_heads_that_devices_cannot_share_are_an_error():
    inputs = tf.keras.Input([3, 4])
    attention = ed.layers.MultiHeadAttentionFlipout(1, 4, name="encoder_0_self")
    model = tf.keras.Model(inputs, attention(inputs, inputs))
    message = (
        "heads of encoder_0_self must be a multiple of the 2 devices along 'model', got 1"
    )
    with pytest.raises(parallel.MeshError, match=message):
        parallel.shard(model, parallel.make_mesh("1x2"))


def test_hidden_units_that_devices_cannot_share_are_an_error():
    model = tf.keras.Sequential([ed.layers.DenseFlipout(5, name="encoder_0_expand")])
    model(tf.ones([1, 4]))
    message = r"encoder_0_expand.* 5 must be a multiple of the 2 devices along 'model'"
    with pytest.raises(parallel.MeshError, match=message) as raised:
        parallel.shard(model, parallel.make_mesh("1x2"))
    assert "\n" not in str(raised.value)


def test_examples_that_devices_cannot_share_are_an_error():
    mesh = parallel.make_mesh("2x1")
    with pytest.raises(
        parallel.MeshError, match="3 must be a multiple of the 2 devices along 'batch'"
    ):
        parallel.place(np.zeros([3, 4]), mesh, [parallel.BATCH])


def test_without_a_mesh_values_stay_where_they_are():
    placed = parallel.place([1.0, 2.0], None, [parallel.BATCH])
    assert not dtensor.is_dtensor(placed)
    assert parallel.gather(placed).tolist() == [1.0, 2.0]
