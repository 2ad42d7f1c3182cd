import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

from kmcf.filter.compiled.algebra import DeviceAlgebra
from kmcf.filter.compiled.elimination import cholesky_solve, fused_solve


def systems(size, batch=4, smallest=1e-3):
    rng = np.random.default_rng(size)
    half = rng.normal(size=(batch, size, size))
    return half @ half.transpose(0, 2, 1) + smallest * np.eye(size), rng.normal(size=(batch, size))


@pytest.mark.parametrize("size", [1, 2, 7, 16, 30])
def test_solutions_satisfy_the_equations(size):
    matrices, rights = systems(size)
    for solve in (cholesky_solve, lambda A, b: fused_solve(A, b, interpret=True)):
        found = np.asarray(jax.vmap(solve)(matrices, rights))
        residual = np.einsum("bij,bj->bi", matrices, found) - rights
        scale = np.linalg.norm(matrices, axis=(1, 2)) * np.linalg.norm(found, axis=1)
        assert (np.linalg.norm(residual, axis=1) <= 1e-13 * scale).all()


def test_what_is_not_positive_definite_gives_nan():
    matrix, right = jnp.diag(jnp.array([1.0, -1.0, 2.0])), jnp.ones(3)
    assert np.isnan(cholesky_solve(matrix, right)).any()
    assert np.isnan(fused_solve(matrix, right, interpret=True)).any()


@pytest.mark.parametrize("solver", ["plain", "interpreted"])
def test_regularised_square(solver):
    C = np.random.default_rng(0).normal(size=(9, 9))
    C, right = C + C.T, np.arange(9.0)
    found = DeviceAlgebra(solver).solve_regularised_square(jnp.asarray(C), 1e-3, jnp.asarray(right))
    np.testing.assert_allclose(found, np.linalg.inv(C @ C + 1e-3 * np.eye(9)) @ right, rtol=1e-9)


def test_triangular_solves():
    lower = np.tril(np.random.default_rng(0).normal(size=(6, 6))) + 3 * np.eye(6)
    right = np.arange(6.0)
    algebra = DeviceAlgebra()
    np.testing.assert_allclose(lower @ algebra.solve_lower(jnp.asarray(lower), jnp.asarray(right)), right, atol=1e-13)
    found = algebra.solve_factorised(jnp.asarray(lower), jnp.asarray(right))
    np.testing.assert_allclose(lower @ lower.T @ found, right, atol=1e-12)


def test_the_fused_solve_translates_for_a_gpu():
    matrices, rights = systems(30)
    check = export.DisabledSafetyCheck.custom_call("__gpu$xla.gpu.triton")
    exported = export.export(jax.jit(jax.vmap(fused_solve)), platforms=["cuda"], disabled_checks=[check])
    assert "triton" in exported(matrices, rights).mlir_module()


@pytest.mark.skipif(jax.default_backend() != "gpu", reason="needs a GPU: only the interpreted kernel was tested")
def test_the_fused_solve_on_a_gpu():
    matrices, rights = systems(30, batch=500)
    found = jax.jit(jax.vmap(fused_solve))(matrices, rights)
    np.testing.assert_allclose(found, np.linalg.solve(matrices, rights[..., None])[..., 0], rtol=1e-6)
