"""Settings of the whole suite; ``oracles`` and ``cases`` are importable from every test folder."""

import os

# One thread for each process, read by NumPy's libraries when they are loaded: the matrices of the tests are small, and
# threads that wait for each other make them slow.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits
from xla_flags import XLA_FLAGS

os.environ.setdefault("XLA_FLAGS", XLA_FLAGS)  # read by JAX when it first computes

settings.register_profile("suite", deadline=None, max_examples=25, derandomize=True, database=None)
settings.load_profile("suite")


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    """One thread also where a library was loaded before the settings above, or does not read them."""
    with threadpool_limits(1):
        yield
