import numpy as np
import pytest
from rule_cases import fitted_kernels, make_examples

from kmcf.bayes_rule.factors import KernelFeatures, features_of_rank
from kmcf.kernels import Gaussian


@pytest.fixture
def kernels():
    states, observations = make_examples(120, columns=4)
    return states, observations, *fitted_kernels(states, observations)


def test_features_reproduce_the_kernel_matrix_to_tolerance(kernels):
    _, _, state_kernel, _ = kernels
    features = KernelFeatures.fit(state_kernel, tolerance=1e-10)
    G = state_kernel.matrix()
    assert features.rank < 60
    assert np.abs(G - features.rows @ features.rows.T).max() <= 1e-10 * 1.01
    assert features.trace_error == pytest.approx(np.trace(G - features.rows @ features.rows.T), abs=1e-12)


def test_features_of_new_objects_have_the_kernel_as_inner_product(kernels):
    states, _, state_kernel, _ = kernels
    features = KernelFeatures.fit(state_kernel, tolerance=1e-12)
    new = np.array([[0.3], [-1.2]])
    expected = state_kernel.kernel(states, new)
    for j in range(2):
        phi, coverage = features.of_one(new[j : j + 1])
        np.testing.assert_allclose(features.rows @ phi, expected[:, j], atol=1e-7)
        assert coverage == pytest.approx(expected[features.pivots, j].max())


def test_mean_features_are_the_weighted_average(kernels):
    _, _, state_kernel, _ = kernels
    features = KernelFeatures.fit(state_kernel, tolerance=1e-9)
    particles, weights = np.array([[0.0], [1.0], [2.5]]), np.array([0.7, 0.5, -0.2])
    mean, _ = features.of_mean(particles, weights)
    singles = np.stack([features.of_one(p[None])[0] for p in particles])
    np.testing.assert_allclose(mean, weights @ singles, atol=1e-9)


def test_a_binding_rank_keeps_the_best_directions(kernels):
    _, _, state_kernel, _ = kernels
    features = features_of_rank(state_kernel, tolerance=1e-12, rank=5)
    eigenvalues = np.linalg.eigvalsh(state_kernel.matrix())[::-1]
    assert features.rank == 5
    assert features.trace_error == pytest.approx(eigenvalues[5:].sum(), rel=1e-5)


def test_extended_features_equal_features_of_all_at_once(kernels):
    states, _, state_kernel, _ = kernels
    features = KernelFeatures.fit(state_kernel, tolerance=1e-9)
    more = np.array([[0.1], [-0.4], [1.1]])
    longer = features.extended(more)
    assert features.rows.shape[0] == 120
    assert longer.rows.shape[0] == 123
    for j in range(3):
        np.testing.assert_allclose(longer.rows[120 + j], features.of_one(more[j : j + 1])[0], atol=1e-9)
    assert longer.outside < 1e-6
    assert features.extended(np.array([[60.0]])).outside == pytest.approx(1.0, abs=1e-6)
    del states


def test_reduced_features_are_projections(kernels):
    _, _, _, observation_kernel = kernels
    features = KernelFeatures.fit(observation_kernel, tolerance=1e-9)
    directions = np.linalg.qr(np.random.default_rng(0).normal(size=(features.rank, 7)))[0].T
    reduced = features.reduced(directions)
    np.testing.assert_allclose(reduced.rows, features.rows @ directions.T)
    y = np.array([[0.2, -0.1, 0.4, 1.0]])
    np.testing.assert_allclose(reduced.of_one(y)[0], directions @ features.of_one(y)[0], atol=1e-8)
    longer = reduced.extended(y)
    np.testing.assert_allclose(longer.rows[-1], reduced.of_one(y)[0], atol=1e-8)


def test_eigenvalues_decay_rapidly_where_observations_are_few_numbers():
    """Section 4.3: so a rank of 30 serves for one column, however many examples; for ten columns it does not."""
    rng = np.random.default_rng(0)
    shares = {}
    for columns in (1, 10):
        for n in (200, 800):
            kernel = Gaussian(multiplier=0.7).fit(rows := rng.normal(size=(n, columns)))
            eigenvalues = np.linalg.eigvalsh(kernel(rows))[::-1]
            factor = KernelFeatures.fit(kernel.on_examples(rows), tolerance=1e-8)
            shares[columns, n] = float(eigenvalues[30:].sum() / n), factor.rank
    assert shares[1, 200][0] < shares[1, 800][0] + 1e-9 < 1e-6
    assert shares[1, 800][1] < 1.6 * shares[1, 200][1]  # four times as many examples
    assert shares[10, 800][0] > 0.1
    assert shares[10, 800][1] > 700
