"""Names, orders and keywords are those of edward2 0.0.2."""

import importlib
import inspect

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

MODULES = {
    "bayesian_linear_model": "BayesianLinearModel",
    "convolutional": "Conv2DHierarchical CondConv2D Conv1DRank1 VariationalConv2D",
    "dense": "DenseDVI DenseHierarchical DenseRank1 CondDense DenseFlipout",
    "discrete_flows": "DiscreteBipartiteFlow Reverse SinkhornAutoregressiveFlow",
    "embeddings": "EmbeddingReparameterization",
    "gaussian_process": "GaussianProcess SparseGaussianProcess LinearKernel Zeros",
    "heteroscedastic": "MCSoftmaxDense MCSigmoidDenseFA ExactSigmoidDense",
    "made": "MADE",
    "neural_process": "Attention NeuralProcess",
    "noise": "NCPNormalPerturb NCPNormalOutput",
    "normalization": "ActNorm SpectralNormalization ensemble_batchnorm",
    "random_feature": "RandomFeatureGaussianProcess LaplaceRandomFeatureCovariance",
    "recurrent": "LSTMCellFlipout LSTMCellRank1",
    "stochastic_output": "MixtureLogistic",
}


@pytest.mark.parametrize("module", MODULES)
def test_layers_are_found_in_the_modules_of_edward2(module):
    found = importlib.import_module(f"bayes_rl.layers.{module}")
    assert getattr(ed.layers, module) is found
    for name in MODULES[module].split():
        assert getattr(found, name) is getattr(ed.layers, name)


def test_modules_beside_the_layers_are_found():
    assert ed.generated_random_variables.Normal is ed.Normal
    assert ed.program_transformations.make_log_joint_fn is ed.make_log_joint_fn
    for name, found in (
        ("random_variable", ed.RandomVariable),
        ("transformed_random_variable", ed.TransformedRandomVariable),
    ):
        module = importlib.import_module(f"bayes_rl.{name}")
        assert getattr(module, found.__name__) is found


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (ed.traceable, "func"),
        (ed.initializers.serialize, "initializer"),
        (ed.regularizers.serialize, "initializer"),
        (
            ed.layers.MixtureLogistic,
            "num_components logits_constraint loc_constraint scale_constraint",
        ),
        (
            ed.layers.MCSoftmaxDenseFACustomLayers,
            "num_classes num_factors scale_layer loc_layer diag_layer temperature "
            "parameter_efficient train_mc_samples test_mc_samples compute_pred_variance "
            "share_samples_across_batch logits_only eps dtype name",
        ),
    ],
)
def test_arguments_have_names_and_order(function, names):
    parameters = list(inspect.signature(function).parameters)
    assert parameters[: len(names.split())] == names.split()


def test_custom_layers_take_what_comes_by_position():
    scale, loc, diag = [tf.keras.layers.Dense(units) for units in (10, 5, 5)]
    layer = ed.layers.MCSoftmaxDenseFACustomLayers(
        5, 2, scale, loc, diag, 2.0, False, 10, 20, False, True, True, 1e-6, None, "head"
    )
    assert (layer.name, layer.temperature, layer.test_mc_samples) == ("head", 2.0, 20)
    assert layer(tf.ones([2, 3])).shape == [2, 5]


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: ed.layers.DenseReparameterization(2), ["kernel"]),
        (lambda: ed.layers.DenseFlipout(2), ["kernel"]),
        (
            lambda: ed.layers.DenseHierarchical(2),
            ["kernel", "local_scale", "global_scale"],
        ),
        (lambda: ed.layers.SparseGaussianProcess(2, 4), ["inducing_outputs"]),
    ],
)
def test_call_weights_draws_the_weights(make, names):
    layer = make()
    layer.build([None, 3])
    weights = layer.call_weights()
    assert sorted(weights) == sorted(names)
    assert all(isinstance(weight, ed.RandomVariable) for weight in weights.values())


@pytest.mark.parametrize("kind", ["SpectralNormalization", "SpectralNormalizationConv2D"])
def test_restored_weights_are_those_before(kind):
    inner = tf.keras.layers.Conv2D(2, 3)
    layer = getattr(ed.layers, kind)(inner, norm_multiplier=0.1)
    layer(tf.ones([1, 5, 5, 3]))
    before = inner.kernel.numpy()
    np.testing.assert_array_equal(layer.restore_weights(), before)


def test_add_weight_gives_layers_of_ones_own_a_posterior():
    @ed.layers.utils.add_weight
    class Scale(tf.keras.layers.Layer):
        def build(self, shape):
            self.initializer = ed.initializers.TrainableNormal()
            self.scale = self.add_weight(
                "scale",
                shape=shape[-1:],
                initializer=self.initializer,
                regularizer=ed.regularizers.NormalKLDivergence(),
            )

        def call(self, inputs):
            return inputs * self.draw("scale")

    layer = Scale(name="mine")
    outputs = layer(tf.ones([2, 3]))
    assert (type(layer).__name__, outputs.shape) == ("Scale", [2, 3])
    assert layer.scale.name == "mine/scale"
    assert len(layer.losses) == 1
    assert list(ed.sample_weights(layer)) == ["mine/scale"]


@pytest.mark.parametrize(
    "make",
    [
        lambda f: ed.layers.DiscreteBipartiteFlow(f, [1, 0, 1], 0.1),
        lambda f: ed.layers.DiscreteAutoregressiveFlow(f, 0.1),
    ],
)
def test_functions_are_networks_of_discrete_flows(make):
    inputs = tf.one_hot([[0, 1, 2]], 5)
    layer = make(lambda x: tf.one_hot(tf.ones(tf.shape(x)[:-1], tf.int32), 5))
    outputs = layer(inputs)
    np.testing.assert_allclose(layer.reverse(outputs), inputs, atol=1e-6)
    assert np.any(outputs != inputs)


def test_tuned_temperature_starts_inside_of_its_bounds():
    layer = ed.layers.MCSoftmaxDense(
        3,
        logits_only=True,
        tune_temperature=True,
        temperature_lower_bound=2.0,
        temperature_upper_bound=4.0,
    )
    layer(tf.ones([2, 5]))
    np.testing.assert_allclose(layer.pre_sigmoid_temperature, 0.0, atol=1e-6)
