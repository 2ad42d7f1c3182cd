"""Sums with clipped prior weights, against the same sums written with loops over examples."""

import numpy as np
from scipy import linalg

from kmcf.bayes_rule.clipped import ClippedSums


class Plain:
    """The algebra of small dense matrices."""

    @staticmethod
    def solve_shifted(C, delta, psi):
        return linalg.solve(C + delta * np.eye(len(C)), psi, assume_a="sym")


def test_sums_written_out():
    rng = np.random.default_rng(0)
    U, V, F = rng.normal(size=(30, 4)), rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    a, z, psi = rng.normal(size=4), rng.normal(size=3), rng.normal(size=3)
    sums = ClippedSums(U, V, F)
    prior = [max(0.0, float(u @ a)) for u in U]
    weights = [part * float(v @ z) for part, v in zip(prior, V, strict=True)]
    C = sum(part * np.outer(v, v) for part, v in zip(prior, V, strict=True))
    assert 0.0 in prior
    assert sums.ranks == (4, 3)
    np.testing.assert_allclose(sums.prior_weights(a), prior)
    np.testing.assert_allclose(sums.observed_mean(a), sum(p * v for p, v in zip(prior, V, strict=True)))
    np.testing.assert_allclose(sums.correction_matrix(a), C)
    np.testing.assert_allclose((C + 0.1 * np.eye(3)) @ sums.solution(C, psi, 0.1, Plain), psi)
    np.testing.assert_allclose(sums.weights(a, z), weights)
    np.testing.assert_allclose(sums.weight_sum(a, z), sum(weights))
    np.testing.assert_allclose(sums.mean_features(a, z), sum(w * u for w, u in zip(weights, U, strict=True)))
    np.testing.assert_allclose(sums.expectations(a, z), sum(w * f for w, f in zip(weights, F, strict=True)))
