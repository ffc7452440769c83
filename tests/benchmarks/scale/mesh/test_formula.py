import pytest

import bayes_rl as ed
from bayes_rl import parallel
from benchmarks.scale.mesh.formula import Transformer, largest

SIZES = {"source_values": 5, "target_values": 4, "positions": 7}
WIDE = {"hidden": 1024, "heads": 8, "filter": 4096}


@pytest.mark.slow
def test_weights_with_a_posterior_are_counted_and_state_is_what_devices_hold():
    paper = Transformer(hidden=8, layers=1, heads=2, filter=6, **SIZES)
    for mesh, devices in (("1x2", 2), ("2x1", 1)):
        model = ed.models.build_transformer(5, 4, 4, 3, 8, 1, 2, 6)
        posteriors = ed.posteriors(model).values()
        assert paper.kernels == sum(x.event_shape.num_elements() for x in posteriors)
        parallel.shard(model, parallel.make_mesh(mesh))
        optimizer = parallel.Adam()
        optimizer.build(model.trainable_variables)
        held = parallel.bytes_per_device([*model.variables, *optimizer.variables])
        assert set(held.values()) == {paper.state(devices)}


def test_the_largest_model_fits_and_one_with_a_layer_more_does_not():
    for devices in (1, 8):
        found = largest(devices, 80e9, 100, **WIDE)
        deeper = Transformer(layers=found.layers + 1, **WIDE)
        replicated = 16 * found.replicated
        assert 100 * found.kernels / devices + replicated <= 80e9
        assert 100 * deeper.kernels / devices + 16 * deeper.replicated > 80e9


def test_no_model_fits_devices_that_are_too_small():
    assert largest(8, 1e6, 100, **WIDE) is None
