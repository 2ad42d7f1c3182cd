"""The file that the tests of damage share."""

import pytest
from store_cases import small


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """The bytes of a small filter's file."""
    path = tmp_path_factory.mktemp("whole") / "m.kmcf"
    small().save(path)
    return path.read_bytes()
