import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

from kmcf.compiled.algebra import DeviceAlgebra

ALGEBRA = DeviceAlgebra()


def test_regularised_squares_of_a_batch():
    C = np.random.default_rng(0).normal(size=(5, 9, 9))
    C, rights = C + C.transpose(0, 2, 1), np.random.default_rng(1).normal(size=(5, 9))
    found = jax.vmap(lambda c, b: ALGEBRA.solve_regularised_square(c, 1e-3, b))(jnp.asarray(C), jnp.asarray(rights))
    expected = np.linalg.inv(C @ C + 1e-3 * np.eye(9)) @ rights[..., None]
    np.testing.assert_allclose(found, expected[..., 0], rtol=1e-9)


def test_what_is_not_positive_definite_gives_nan():
    found = ALGEBRA.solve_regularised_square(jnp.zeros((3, 3)), -1.0, jnp.ones(3))
    assert np.isnan(found).any()


def test_triangular_solves():
    lower = np.tril(np.random.default_rng(0).normal(size=(6, 6))) + 3 * np.eye(6)
    right = np.arange(6.0)
    np.testing.assert_allclose(lower @ ALGEBRA.solve_lower(jnp.asarray(lower), jnp.asarray(right)), right, atol=1e-13)
    found = ALGEBRA.solve_factorised(jnp.asarray(lower), jnp.asarray(right))
    np.testing.assert_allclose(lower @ lower.T @ found, right, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "q"), [(7, 5), (32, 1), (70, 17)])
def test_fused_systems_of_a_batch(count, q):
    rng = np.random.default_rng(count)
    C = rng.normal(size=(count, q, q))
    C, rights = C + C.transpose(0, 2, 1), rng.normal(size=(count, q))
    solve = DeviceAlgebra("interpreted").solve_regularised_square
    found = jax.vmap(lambda c, b: solve(c, 1e-3, b))(jnp.asarray(C), jnp.asarray(rights))
    np.testing.assert_allclose(found, np.linalg.solve(C @ C + 1e-3 * np.eye(q), rights[..., None])[..., 0], rtol=1e-8)
    same_matrix = jax.vmap(lambda b: solve(jnp.asarray(C[0]), 1e-3, b))(jnp.asarray(rights))
    np.testing.assert_allclose(same_matrix, np.linalg.solve(C[0] @ C[0] + 1e-3 * np.eye(q), rights.T).T, rtol=1e-8)


def test_fused_systems_that_are_not_positive_definite_give_nan():
    solve = DeviceAlgebra("interpreted").solve_shifted
    found = jax.vmap(lambda c, b: solve(c, 0.0, b))(jnp.asarray(20 * [-np.eye(3), np.eye(3)]), jnp.ones((40, 3)))
    assert np.isnan(found[0]).any()
    np.testing.assert_array_equal(found[1], np.ones(3))


@pytest.mark.slow
def test_fused_systems_have_derivatives():
    rng = np.random.default_rng(0)
    C, right = jnp.asarray(rng.normal(size=(40, 4, 4))), jnp.asarray(rng.normal(size=(40, 4)))

    def total(loop):
        solve = DeviceAlgebra(loop).solve_regularised_square
        return lambda c, b: jax.vmap(lambda c, b: solve(c + c.T, 0.1, b))(c, b).sum()

    for found, expected in zip(
        *(jax.grad(total(loop), (0, 1))(C, right) for loop in ("interpreted", "plain")), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_fused_systems_translate_for_a_gpu():
    """Nothing can run here, but what Triton does not support is refused already at translation."""
    compiled = jax.jit(jax.vmap(lambda c, b: DeviceAlgebra("fused").solve_shifted(c, 0.1, b)))
    check = export.DisabledSafetyCheck.custom_call("__gpu$xla.gpu.triton")
    given = jnp.ones((64, 3, 3)), jnp.ones((64, 3))
    assert "triton" in export.export(compiled, platforms=["cuda"], disabled_checks=[check])(*given).mlir_module()
