import pytest

from benchmarks.scale.mesh.formula import Transformer
from benchmarks.scale.mesh.step import measure


@pytest.mark.slow
def test_state_and_step_are_split():
    """On four devices a step needs, altogether, little more than on one."""
    model = Transformer(256, 1, 4, 1024)
    one, four = (measure(mesh, 256, 1, 1024) for mesh in ("1x1", "1x4"))
    assert len(one[0]) == 1
    assert len(four[0]) == 4
    assert max(four[0]) < 0.27 * one[0][0]
    assert 24 < four[1] / model.kernels < 1.3 * one[1] / model.kernels
