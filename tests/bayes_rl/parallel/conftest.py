import pytest

from bayes_rl import parallel


@pytest.fixture(params=["1x2", "2x1"])
def mesh(request):
    return parallel.make_mesh(request.param)
