"""JAX in double precision for the tests of the JAX path; what one test compiled, others need not compile again."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX (the extra kmcf[jax]) is not installed")
jax.config.update("jax_enable_x64", True)


@pytest.fixture(autouse=True, scope="session")
def _compiled_once(tmp_path_factory):
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.config.update("jax_compilation_cache_dir", str(tmp_path_factory.mktemp("compiled")))
    yield
    jax.config.update("jax_compilation_cache_dir", None)


@pytest.fixture(scope="session")
def flt():
    """The filter that most tests share: each of its functions is compiled once."""
    from jax_cases import fitted

    return fitted()


@pytest.fixture(scope="session")
def run(flt):
    """Its run over one sequence."""
    from jax_cases import TEST

    return flt.filter(TEST.observations)


@pytest.fixture(scope="session")
def batch():
    """Three sequences, one with a gap."""
    from jax_cases import TEST

    seen = np.stack([TEST.observations[:8], TEST.observations[8:16], TEST.observations[16:24]])
    seen[1, 2:5] = np.nan
    return seen


@pytest.fixture(scope="session")
def runs(flt, batch):
    """Its runs over them."""
    return flt.filter(jax.numpy.asarray(batch))
