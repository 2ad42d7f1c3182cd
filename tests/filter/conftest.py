"""One BLAS thread: the matrices of these tests are small, and threads that wait for each other make them slow."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    with threadpool_limits(1):
        yield
