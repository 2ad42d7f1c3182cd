"""Trends with noise whose size has a trend of its own, against models that are known."""

import numpy as np
import pytest

from kmcf.numerics.noisy_trends import NoisyTrend

RNG = np.random.default_rng(0)
STATES = RNG.uniform(-2, 2, size=(400, 1))
NOISE = RNG.normal(size=(400, 3))
SLOPES = np.array([[1.0, -2.0, 0.0]])
SEEN = STATES @ SLOPES + np.exp(0.6 * STATES) * NOISE


def test_what_is_carried_follows_the_trend_with_the_noise_of_examples():
    carried = NoisyTrend.fit(STATES, SEEN).carried(STATES, SEEN, np.full((400, 1), 3.0))
    np.testing.assert_allclose(carried.mean(axis=0), 3.0 * SLOPES[0], atol=1.0)
    assert np.median(np.abs(carried - carried.mean(axis=0))) == pytest.approx(0.6745 * np.exp(1.8), rel=0.25)
    assert np.corrcoef(carried[:, 1], NOISE[:, 1])[0, 1] > 0.9


def test_sizes_and_variances_are_those_of_the_noise():
    columns = np.array([1.0, 3.0, 0.1])
    model = NoisyTrend.fit(STATES, np.exp(0.6 * STATES) * NOISE * columns)
    for x in (-1.0, 0.0, 1.5):
        found = model.sizes(np.array([[x]])) * np.sqrt(model.variances)
        np.testing.assert_allclose(found, columns * np.exp(0.6 * x), rtol=0.2)


def test_many_columns_tell_the_size_of_their_noise_more_exactly():
    """The logarithm of a mean of ten squares has a variance of 0.22, a mean of their logarithms one of 0.49."""
    errors = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(60, 1))
        sizes = NoisyTrend.fit(x, np.exp(x) * rng.normal(size=(60, 10))).sizes(np.array([[-1.0], [1.0]]))
        errors.append(np.log(sizes[1] / sizes[0]) - 2.0)
    # Half the slope of logarithms with that variance, over two; ten observations more cost something.
    assert np.sqrt(np.mean(np.square(errors))) < 1.3 * np.sqrt(0.22 / 60)


def test_columns_without_noise_do_no_harm():
    model = NoisyTrend.fit(STATES, np.hstack([SEEN, np.ones_like(STATES), 2.0 * STATES]))
    assert np.isfinite(model.variances).all()
    carried = model.carried(STATES[:1], np.array([[0.0, 0.0, 0.0, 1.0, 2.0 * STATES[0, 0]]]), np.array([[1.0]]))
    np.testing.assert_allclose(carried[0, 3:], [1.0, 2.0], atol=1e-2)
