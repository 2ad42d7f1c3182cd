import jax
import jax.numpy as jnp
import numpy as np

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
