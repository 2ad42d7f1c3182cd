"""JAX in double precision for the tests of the JAX path; what one test compiled, others need not compile again."""

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
