"""What every posterior says of itself, and coverages, against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels_by_hand import gaussian_matrix

from kmcf.bayes_rule import DensePosterior, Examples
from kmcf.bayes_rule.base import mean_coverage
from kmcf.kernels import Gaussian

SUPPORT = np.arange(3.0)[:, None]


def posterior(weights, coverage=1.0, rule=None):
    weights = np.array(weights)
    return DensePosterior(rule, SUPPORT, float(weights.sum()), coverage, 1.0, weights)


@pytest.mark.parametrize(
    ("weights", "coverage", "usable", "vanishes"),
    [
        ([0.5, 0.5, 0.0], 1.0, True, False),
        ([0.0, 1e-3, 0.0], 1.0, False, False),  # the limits themselves do not count
        ([0.0, 1.001e-3, 0.0], 1.0, True, False),
        ([0.5, 0.5, 0.0], 1e-8, False, False),
        ([0.5, 0.5, 0.0], 1.001e-8, True, False),
        ([1.0, -1.0, 0.0], 1.0, False, True),
        ([0.5, -1.0, 0.0], 1.0, False, False),
        ([0.0, 0.0, 0.0], 0.0, False, True),
    ],
)
def test_when_a_posterior_can_be_used_and_when_it_vanishes(weights, coverage, usable, vanishes):
    found = posterior(weights, coverage)
    assert (found.usable, found.vanishes) == (usable, vanishes)


def test_weights_are_normalised_once_and_cannot_be_written_to():
    found = posterior([0.5, -0.25, 0.25])
    np.testing.assert_array_equal(found.weights(), [1.0, -0.5, 0.5])
    assert found.weights() is found.weights()
    with pytest.raises(ValueError, match="read-only"):
        found.weights()[0] = 2.0
    np.testing.assert_array_equal(found.unnormalised, [0.5, -0.25, 0.25])


def test_a_posterior_hands_on_to_the_rule_that_made_it():
    class Rule:
        def resampler(self, posterior, size, rng):
            return "resampled", posterior, size, rng

        def herd(self, posterior, size):
            return "herded", posterior, size

        def resampling_loss(self, indices, posterior):
            return "loss", indices, posterior

    found = posterior([1.0, 0.0, 0.0], rule=Rule())
    assert found.resample(5, "rng") == ("resampled", found, 5, "rng")
    assert found.herd(4) == ("herded", found, 4)
    assert found.resampling_loss([1, 2]) == ("loss", [1, 2], found)


def test_summaries_of_several_posteriors():
    summary = posterior([1.0, 0.0, 0.0]).summarise([posterior([0.5, 0.5, 0.0]), posterior([0.2, -0.4, 1.2])])
    np.testing.assert_allclose(summary.sum_of_squares, [0.5, 0.04 + 0.16 + 1.44])
    np.testing.assert_allclose(summary.negative_mass, [0.0, 0.4])
    np.testing.assert_array_equal(summary.largest, [0, 2])


@given(seed=st.integers(0, 1000), n=st.integers(1, 8), m=st.integers(1, 8))
def test_mean_coverage_is_the_average_closest_similarity_by_absolute_weight(seed, n, m):
    rng = np.random.default_rng(seed)
    similarities = 3.0 * gaussian_matrix(rng.normal(size=(n, 1)), rng.normal(size=(m, 1)), 1.0)
    weights = rng.normal(size=m)
    closest = [max(similarities[i, j] for i in range(n)) / 3.0 for j in range(m)]
    expected = sum(abs(w) * c for w, c in zip(weights, closest, strict=True)) / sum(abs(weights))
    assert mean_coverage(similarities, weights, 3.0) == pytest.approx(expected, rel=1e-12)
    assert 0.0 <= expected <= 1.0


def test_a_subset_of_examples_is_a_subset_in_all_three():
    observations = SUPPORT**2
    examples = Examples(SUPPORT, Gaussian(1.0).on_examples(SUPPORT), Gaussian(2.0).on_examples(observations))
    some = examples.subset(np.array([2, 0]))
    assert (examples.size, some.size) == (3, 2)
    np.testing.assert_array_equal(some.states, [[2.0], [0.0]])
    np.testing.assert_allclose(some.state_kernel.matrix(), gaussian_matrix([[2.0], [0.0]], [[2.0], [0.0]], 1.0))
    np.testing.assert_allclose(some.observation_kernel.matrix(), gaussian_matrix([[4.0], [0.0]], [[4.0], [0.0]], 2.0))
