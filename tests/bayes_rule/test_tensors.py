import numpy as np
import pytest

from kmcf.bayes_rule import tensors as module
from kmcf.bayes_rule.tensors import Tensors, keeps_squares


@pytest.fixture(params=[7, 400_000])
def problem(request, monkeypatch):
    """Features, function values and coefficients; once in many blocks, once in one."""
    monkeypatch.setattr(module, "BLOCK_NUMBERS", request.param)
    rng = np.random.default_rng(0)
    U, V, values = rng.normal(size=(150, 5)), rng.normal(size=(150, 4)), rng.normal(size=(150, 3))
    a, z = rng.normal(size=5), rng.normal(size=4)
    return U, V, values, a, z, (U @ a) * (V @ z)


def test_contractions_equal_sums_over_examples(problem):
    U, V, values, a, z, w = problem
    tensors = Tensors.of(U, V, values, squares=True)
    np.testing.assert_allclose(tensors.correction_matrix(a), V.T @ np.diag(U @ a) @ V, atol=1e-10)
    assert tensors.weight_sum(a, z) == pytest.approx(w.sum())
    np.testing.assert_allclose(tensors.mean_features(a, z), U.T @ w, atol=1e-10)
    np.testing.assert_allclose(tensors.expectations(a, z), values.T @ w, atol=1e-10)
    assert tensors.sum_of_squares(a, z) == pytest.approx(np.sum(w**2))
    np.testing.assert_allclose(tensors.state_gram, U.T @ U)


def test_tensors_of_parts_add_up(problem):
    U, V, values, a, z, w = problem
    total = Tensors.of(U[:40], V[:40], values[:40], squares=True) + Tensors.of(
        U[40:], V[40:], values[40:], squares=True
    )
    assert total.n == 150
    np.testing.assert_allclose(total.mean_features(a, z), U.T @ w, atol=1e-10)
    assert total.sum_of_squares(a, z) == pytest.approx(np.sum(w**2))


def test_the_large_tensor_is_left_out_on_request(problem):
    U, V, values, a, z, _ = problem
    assert Tensors.of(U, V, values, squares=False).sum_of_squares(a, z) is None
    assert keeps_squares(1000, 40, 20)
    assert not keeps_squares(10**6, 40, 20)
    assert not keeps_squares(1000, 200, 200)
