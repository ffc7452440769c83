"""What every public layer does: one test a property, one case a layer.

Cases are in `catalog/`, one file a family.
"""

import copy
import functools
import importlib
import inspect
import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf

import bayes_rl as ed

FAMILIES = sorted(
    path.stem
    for path in pathlib.Path(__file__).with_name("catalog").glob("*.py")
    if path.stem != "case"
)
CASES = {
    case: family
    for family in FAMILIES
    for case in importlib.import_module(f"tests.bayes_rl.layers.catalog.{family}").CASES
}
KINDS = {case: type(case.make()) for case in CASES}
SEED = 7


def every(condition=lambda case: True, one_of_a_family=False, families=FAMILIES):
    """A test of all cases that meet a condition.

    Args:
        condition: function of a case.
        one_of_a_family: whether of each family all cases but the first are slow.
        families: all cases of others are slow.
    """
    params, seen = [], set()
    for case in filter(condition, CASES):
        is_slow = one_of_a_family and CASES[case] in seen or CASES[case] not in families
        name = case.name or KINDS[case].__name__
        params.append(pytest.param(case, id=name, marks=[pytest.mark.slow] * is_slow))
        seen.add(CASES[case])
    return pytest.mark.parametrize("case", params)


def build(case, **options):
    """A layer, its inputs and the outputs of its first call; the same at every time."""
    tf.keras.utils.set_random_seed(SEED)
    layer = case.make(name="layer", **options)
    inputs = case.arguments(layer.compute_dtype)
    return layer, inputs, values(layer(*inputs))


@functools.cache
def built(case):
    """A layer that was called, and its inputs; not to be changed."""
    return build(case)[:2]


def values(outputs):
    """Outputs as a flat list of tensors, random variables as their means or values."""
    flat = tf.nest.flatten(outputs, expand_composites=False)
    return [tf.convert_to_tensor(x) for x in flat]


def reproducible(layer, inputs, weights):
    """Outputs at a draw of the weights and of all other noise."""
    tf.random.set_seed(SEED)
    with ed.hold(layer, weights):
        return values(layer(*inputs))


def weighted(outputs):
    """Sums with weights that no layer's normalisation cancels."""
    return [
        tf.reduce_sum(tf.random.stateless_normal(x.shape, [0, 1]) * tf.cast(x, tf.float32))
        for x in outputs
    ]


def assert_equal(ours, others, **tolerance):
    for one, other in zip(ours, others, strict=True):
        np.testing.assert_allclose(one, other, **tolerance)


def test_every_public_layer_has_a_case():
    public = {getattr(ed.layers, name) for name in ed.layers.__all__}
    layers = {found for found in public if isinstance(found, type)}
    names = {found.__name__ for found in layers if issubclass(found, tf.keras.layers.Layer)}
    assert names - {kind.__name__ for kind in KINDS.values()} == set()


def test_constructors_name_all_that_is_taken_by_position():
    for made in filter(callable, (getattr(ed.layers, name) for name in ed.layers.__all__)):
        parameters = inspect.signature(made).parameters.values()
        assert all(each.kind is not each.VAR_POSITIONAL for each in parameters), made


def test_a_layer_is_made_of_at_most_four_classes_of_ours():
    public = [getattr(ed.layers, name) for name in ed.layers.__all__]
    bases = {
        kind.__name__: [x for x in kind.__mro__[1:] if x.__module__.startswith("bayes_rl.")]
        for kind in public
        if isinstance(kind, type)
    }
    assert {name: found for name, found in bases.items() if len(found) > 4} == {}


@every(one_of_a_family=True)
def test_graph_has_the_outputs_of_eager(case):
    layer, inputs, eager = build(case)
    unknown = tf.nest.map_structure(
        lambda x: tf.TensorSpec([None, *x.shape[1:]], x.dtype), inputs
    )
    graph = tf.function(lambda *args: values(layer(*args)), input_signature=unknown)
    for ours, theirs in zip(graph(*inputs), eager, strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        assert np.all(np.isfinite(ours))


@every(
    lambda case: case.xla is True, True, ["convolutional", "dense", "outputs", "reversible"]
)
def test_xla_draws_and_differentiates_and_agrees_at_the_mean(case):
    layer, inputs, _ = build(case)
    weights = ed.mean_weights(layer)

    def step(*args):
        with tf.GradientTape() as tape:
            loss = tf.add_n([*weighted(values(layer(*args))), *layer.losses])
        with ed.hold(layer, weights):
            at_mean = values(layer(*args))
        return tape.gradient(loss, layer.trainable_variables), at_mean

    gradients, compiled = tf.function(step, jit_compile=True, autograph=False)(*inputs)
    assert all(np.all(np.isfinite(x)) for x in gradients if x is not None)
    with ed.hold(layer, weights):
        first, second = (values(layer(*inputs)) for _ in range(2))
    if all(np.all(one == other) for one, other in zip(first, second, strict=True)):
        assert_equal(compiled, first, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "policies",
    [
        ("mixed_bfloat16", "float64"),
        pytest.param(("mixed_float16",), marks=pytest.mark.slow),
    ],
)
@every(one_of_a_family=True)
def test_policies_keep_parameters_and_costs_precise(case, policies):
    for name in set(policies) & set(case.precisions):
        policy = tf.keras.mixed_precision.Policy(name)
        layer, _, outputs = build(case, dtype=policy)
        least = tf.as_dtype(policy.variable_dtype)
        assert all(
            weight.dtype == least for weight in layer.weights if weight.dtype.is_floating
        ), [(weight.name, weight.dtype) for weight in layer.weights]
        assert all(loss.dtype == least for loss in layer.losses)
        assert all(np.all(np.isfinite(tf.cast(x, tf.float64))) for x in outputs)


@pytest.mark.slow
@every(one_of_a_family=True)
def test_two_devices_draw_their_own_noise_and_share_the_cost(case, two_devices):
    tf.keras.utils.set_random_seed(SEED)
    with two_devices.scope():
        layer = case.make(name="layer")
        inputs = case.arguments(layer.compute_dtype)
        layer(*inputs)

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            outputs = values(layer(*inputs))
            cost = tf.add_n(layer.losses) if layer.losses else tf.constant(0.0)
            loss = cost + sum(tf.reduce_mean(tf.cast(x, cost.dtype)) for x in outputs)
        tape.gradient(loss, layer.trainable_variables)
        return outputs, cost

    outputs, cost = two_devices.run(step)
    first, second = two_devices.experimental_local_results(cost)
    np.testing.assert_allclose(first, second)
    if layer_is_stochastic(layer) and case.noisy:
        pairs = [two_devices.experimental_local_results(x) for x in outputs]
        assert any(np.any(one != other) for one, other in pairs)


def layer_is_stochastic(layer):
    return bool(ed.posteriors(layer))


def keras_model(case, layer):
    inputs = tf.nest.map_structure(
        lambda x: tf.keras.Input(x.shape[1:], dtype=x.dtype), case.arguments("float32")
    )
    outputs = case.model(layer, inputs) if case.model else layer(*inputs)
    return tf.keras.Model(tf.nest.flatten(inputs), outputs)


def costs(model):
    """Losses that need no inputs."""
    return [loss for loss in model.losses if not tf.is_symbolic_tensor(loss)]


@every(lambda case: ".keras" in case.saves, one_of_a_family=True)
def test_saved_and_cloned_models_have_the_same_weights(case, tmp_path):
    tf.keras.utils.set_random_seed(SEED)
    model = keras_model(case, case.make(name="layer"))
    cloned = tf.keras.models.clone_model(model)
    cloned.set_weights(model.get_weights())
    assert_same_models(model, [cloned, reloaded(model, tmp_path / "model.keras")])


# They keep functions, which take long to trace; dense layers have a test of their own.
@every(lambda case: "" in case.saves, True, ["ensembles", "gaussian_process", "moments"])
def test_models_of_tensorflow_have_the_same_weights(case, tmp_path):
    tf.keras.utils.set_random_seed(SEED)
    model = keras_model(case, case.make(name="layer"))
    assert_same_models(model, [reloaded(model, tmp_path / "model")])


def reloaded(model, path):
    model.save(path)
    return tf.keras.models.load_model(path)


def assert_same_models(model, copies):
    for other in copies:
        assert not {id(v) for v in model.variables} & {id(v) for v in other.variables}
        assert_equal(model.get_weights(), other.get_weights())
        assert_equal(costs(other), costs(model), rtol=1e-5)


@every()
def test_configuration_makes_an_equal_layer(case):
    layer, inputs = built(case)
    is_ours = KINDS[case].__module__.startswith("bayes_rl.")  # Keras's RNN needs a model
    as_in_files = is_ours and ".keras" in case.saves
    of_config = (from_file if as_in_files else from_config)(layer)
    of_config(*inputs)
    assert [v.shape for v in of_config.weights] == [v.shape for v in layer.weights]
    of_config.set_weights(layer.get_weights())
    weights = ed.sample_weights(layer, seed=SEED)
    expected = reproducible(layer, inputs, weights)
    assert_equal(reproducible(of_config, inputs, weights), expected, rtol=1e-5)


@every(one_of_a_family=True)
def test_deepcopy_makes_an_equal_layer_and_seeds_determine_layers(case):
    layer, inputs = built(case)
    copied, (again, *_) = copy.deepcopy(layer), build(case)
    assert not {id(v) for v in layer.variables} & {id(v) for v in copied.variables}
    assert_equal(again.get_weights(), layer.get_weights())
    weights, others = (ed.sample_weights(x, seed=SEED) for x in (layer, again))
    expected = reproducible(layer, inputs, weights)
    assert_equal(reproducible(copied, inputs, weights), expected, rtol=1e-5)
    assert_equal(reproducible(again, inputs, others), expected)


def from_config(layer):
    return type(layer).from_config(layer.get_config())


def from_file(layer):
    """The layer as a `.keras` file tells of it, found by its registered name."""
    text = json.dumps(tf.keras.saving.serialize_keras_object(layer))
    return tf.keras.saving.deserialize_keras_object(json.loads(text))


@every(lambda case: case.draws)
def test_many_held_draws_equal_separate_holds(case):
    layer, inputs = built(case)
    if not layer_is_stochastic(layer):
        pytest.skip("its weights have no posterior")
    weights = ed.sample_weights(layer, [2], seed=SEED)
    with ed.hold(layer, weights):
        doubled = tf.nest.map_structure(lambda x: tf.stack([x, x]), inputs)
        together = values(layer(*doubled))
    for draw in range(2):
        with ed.hold(layer, {name: value[draw] for name, value in weights.items()}):
            alone = values(layer(*inputs))
        assert_equal([x[draw] for x in together], alone, rtol=1e-4, atol=1e-5)


@every(one_of_a_family=True)
def test_gradients_reach_every_trainable_variable(case):
    with tf.GradientTape() as tape:
        layer, _, outputs = build(case)
        loss = tf.add_n(weighted(outputs))
    gradients = tape.gradient(loss, layer.trainable_variables)
    without = {
        variable.name
        for variable, gradient in zip(layer.trainable_variables, gradients, strict=True)
        if gradient is None
    }
    assert without == {f"layer/{name}:0" for name in case.unused}
