"""One building for all tests of this folder: painting it takes longer than looking at it."""

import pytest

from kmcf_lab.localize.building import Building


@pytest.fixture(scope="session")
def building():
    return Building()
