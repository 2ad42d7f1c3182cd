"""The surface finds the maximum likelihood estimate of a problem with a closed form, and its standard error."""

import numpy as np
import pytest

from kmcf.adaptation.surface import long_run, peak_of


def test_the_peak_is_the_maximum_likelihood_estimate_with_its_standard_error():
    rng = np.random.default_rng(0)
    data = rng.normal(loc=[0.1, -0.2], scale=[0.5, 2.0], size=(2000, 2))
    places = rng.uniform(-0.5, 0.5, size=(20, 2))
    scores = -0.5 * (((data[None] - places[:, None]) / [0.5, 2.0]) ** 2).sum(axis=2)
    found = peak_of(places, scores, np.zeros(2), np.full(2, 0.5))
    np.testing.assert_allclose(found.place, data.mean(axis=0), atol=1e-6)
    errors = np.array([0.5, 2.0]) / np.sqrt(2000)
    np.testing.assert_allclose(np.sqrt(np.diagonal(found.covariance)), errors, rtol=0.1)
    assert np.diagonal(found.monte_carlo).max() < 1e-9


def test_a_surface_without_a_maximum_has_no_covariance_and_its_best_place_is_at_the_edge():
    places = np.linspace(-1, 1, 7)[:, None]
    found = peak_of(places, np.repeat(places, 10, axis=1) + places**2, np.zeros(1), np.ones(1))
    assert found.covariance is None
    assert found.place[0] == pytest.approx(1.0)


def test_noise_of_the_values_widens_the_interval():
    rng = np.random.default_rng(1)
    places = np.linspace(-1, 1, 15)[:, None]
    curve = -((places - rng.normal(size=200)) ** 2)
    noisy = curve + 0.3 * rng.normal(size=(15, 1)) * np.ones(200)
    quiet, loud = (peak_of(places, scores, np.zeros(1), np.ones(1)) for scores in (curve, noisy))
    assert loud.covariance[0, 0] > quiet.covariance[0, 0]
    assert loud.monte_carlo[0, 0] > 0


def test_gradients_that_go_together_count_for_less():
    rng = np.random.default_rng(2)
    single = rng.normal(size=(500, 1))
    assert long_run(np.repeat(single, 4, axis=0))[0, 0] > 2.0 * long_run(rng.normal(size=(2000, 1)))[0, 0]
