"""JAX in double precision for the tests of the JAX path."""

import pytest

jax = pytest.importorskip("jax", reason="JAX (the extra kmcf[jax]) is not installed")
jax.config.update("jax_enable_x64", True)
