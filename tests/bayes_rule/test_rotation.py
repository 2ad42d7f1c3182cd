import numpy as np

from kmcf.bayes_rule.rotation import informative_directions, leading_directions


def test_leading_directions_are_the_principal_ones():
    rows = np.random.default_rng(0).normal(size=(200, 6)) * np.array([1.0, 5.0, 0.5, 3.0, 0.1, 2.0])
    _, _, right = np.linalg.svd(rows, full_matrices=False)
    found = leading_directions(rows, 3)
    np.testing.assert_allclose(np.abs(np.sum(found * right[:3], axis=1)), 1.0, atol=1e-10)


def test_informative_directions_find_what_variance_hides():
    rng = np.random.default_rng(1)
    signal = rng.normal(size=(500, 1))
    rows = np.concatenate([10.0 * rng.normal(size=(500, 4)), 0.3 * signal], axis=1)
    first = informative_directions(rows, signal)[0]
    assert abs(leading_directions(rows, 1)[0, 4]) < 0.1
    assert abs(first[4]) > 0.95


def test_informative_directions_are_a_full_orthonormal_basis():
    rng = np.random.default_rng(2)
    directions = informative_directions(rng.normal(size=(50, 8)), rng.normal(size=(50, 3)))
    np.testing.assert_allclose(directions @ directions.T, np.eye(8), atol=1e-10)
