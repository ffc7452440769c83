import pytest

from bayes_rl import parallel
from bayes_rl.parallel import make_mesh


@pytest.mark.parametrize("sizes", ["2xq", "2", "0x2", "2x4x1", "-1x2", ""])
def test_a_malformed_mesh_is_told_with_an_example(sizes):
    with pytest.raises(
        parallel.MeshError, match="batch x model devices, such as 2x4"
    ) as raised:
        make_mesh(sizes)
    assert repr(sizes) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_more_devices_than_there_are_is_an_error():
    message = "mesh 2x4 needs 8 devices, got 2 of kind CPU; give a smaller mesh"
    with pytest.raises(parallel.MeshError, match=message):
        make_mesh("2x4")


def test_first_number_is_of_batch_and_second_of_model():
    mesh = make_mesh("2x1")
    assert (mesh.dim_size("batch"), mesh.dim_size("model")) == (2, 1)
