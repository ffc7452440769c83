"""What tests of insight share."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def _untraced(untraced):
    """All of them."""
