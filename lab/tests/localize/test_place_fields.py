"""The Poisson filter against smoothing and Bayes' rule written out."""

import numpy as np
import pytest
from scipy.stats import poisson

from kmcf.transitions import GaussianRandomWalk
from kmcf_lab.localize.place_fields import PlaceFields, PoissonParticleFilter


def test_the_log_likelihood_is_poisson_s_with_smoothed_rates():
    rng = np.random.default_rng(0)
    states, counts = rng.uniform(0.0, 40.0, size=(80, 2)), rng.poisson(2.0, size=(80, 3)) * 1.0
    fields = PlaceFields(states, counts, width=10.0)
    corner = states.min(axis=0) - 10.0
    places = corner + 5.0 * np.array([[4, 6], [7, 3]])  # on the grid of half widths
    near = np.exp(-0.5 * np.sum((places[:, None] - states) ** 2, axis=2) / 100.0)
    rates = near @ counts / near.sum(axis=1, keepdims=True)
    y = np.array([1.0, 0.0, 4.0])
    expected = poisson.logpmf(y, rates).sum(axis=1)
    np.testing.assert_allclose(np.diff(fields(places, y)), np.diff(expected), rtol=1e-9)
    assert fields(np.array([[500.0, 0.0]]), y)[0] == -np.inf


def test_it_follows_a_walk():
    rng = np.random.default_rng(1)
    states = rng.uniform(0.0, 100.0, size=(400, 1))
    rates = lambda x: 4.0 * np.exp(-0.5 * ((x - np.arange(0.0, 101.0, 20.0)) / 10.0) ** 2)  # noqa: E731
    path = 50.0 + np.cumsum(rng.normal(scale=3.0, size=(40, 1)), axis=0)
    flt = PoissonParticleFilter(GaussianRandomWalk(3.0), width=4.0, n_particles=500, random_state=0)
    run = flt.fit(states, rng.poisson(rates(states))).filter(rng.poisson(rates(path)) * 1.0)
    assert np.abs(run.mean - path)[5:].mean() < 6.0


def test_what_is_no_count_is_refused():
    with pytest.raises(ValueError, match="vectors of counts"):
        PoissonParticleFilter(GaussianRandomWalk(1.0)).fit([[0.0], [1.0]], [[-1.0], [2.0]])
