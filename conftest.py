"""Settings of the whole suite; ``oracles`` and ``cases`` are importable from every test folder."""

import os

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

# JAX, which reads this when it first computes: two devices to share batches, and little time spent on compiling well.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2 --xla_backend_optimization_level=0")

settings.register_profile("suite", deadline=None, max_examples=25, derandomize=True, database=None)
settings.load_profile("suite")


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    """One BLAS thread: the matrices of the tests are small, and threads that wait for each other make them slow."""
    with threadpool_limits(1):
        yield
