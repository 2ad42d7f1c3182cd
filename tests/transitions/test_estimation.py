"""Learning variances, against brute force."""

import numpy as np

from kmcf.transitions.estimation import second_moments, variance_weights


def test_trimmed_moments_of_a_normal_sample_are_unbiased():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    sample = np.random.default_rng(0).multivariate_normal([0, 0], covariance, size=20_000)
    np.testing.assert_allclose(second_moments(sample, 0.2)[0], covariance, atol=0.08)


def test_variance_weights_are_the_likeliest():
    """Against a brute-force search over a grid."""
    rng = np.random.default_rng(0)
    design = rng.uniform(size=(300, 2))
    squares = rng.normal(size=300) ** 2 * (design @ [0.5, 2.0])

    def cost(weights):
        variances = design @ weights
        return np.sum(np.log(variances) + squares / variances)

    best = cost(variance_weights(design, squares))
    assert (
        best <= min(cost(np.array([a, b])) for a in np.linspace(0.05, 2, 40) for b in np.linspace(0.05, 5, 60)) + 1e-6
    )
    np.testing.assert_array_equal(variance_weights(np.zeros((4, 2)), np.zeros(4)), 0)
