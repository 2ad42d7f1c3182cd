"""The Poisson filter against smoothing and Bayes' rule written out."""

import numpy as np
import pytest
from scipy.stats import poisson

from kmcf.baselines import PoissonParticleFilter
from kmcf.baselines.poisson import PlaceFields, chosen_width
from kmcf.transitions import GaussianRandomWalk


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


def test_the_width_is_the_one_that_predicts_best():
    """Fields of ten units on a line of a hundred are smoothed by less than they are wide, and more than by nothing."""
    rng = np.random.default_rng(2)
    states = rng.uniform(0.0, 100.0, size=(500, 1))
    centres = np.arange(0.0, 101.0, 12.0)
    for field in (4.0, 20.0):
        rates = 6.0 * np.exp(-0.5 * ((states - centres) / field) ** 2)
        width = chosen_width(states, rng.poisson(rates).astype(float))
        assert 0.1 * field < width < 1.1 * field


def test_it_comes_back_from_a_file(tmp_path):
    import kmcf

    rng = np.random.default_rng(3)
    states = rng.uniform(0.0, 100.0, size=(60, 1))
    counts = rng.poisson(4.0 * np.exp(-0.5 * ((states - np.arange(0.0, 101.0, 25.0)) / 15.0) ** 2))
    flt = PoissonParticleFilter(GaussianRandomWalk(3.0), n_particles=100, random_state=0).fit(states, counts)
    flt.save(tmp_path / "m.kmcf")
    again = kmcf.load(tmp_path / "m.kmcf")
    assert again.width_ == flt.width_
    np.testing.assert_array_equal(again.filter(counts[:5]).mean, flt.filter(counts[:5]).mean)


def test_counts_that_are_missing_say_nothing():
    """A unit that is never counted may as well not be there, in the examples as in what is observed."""
    rng = np.random.default_rng(4)
    states = rng.uniform(0.0, 100.0, size=(80, 1))
    counts = rng.poisson(4.0 * np.exp(-0.5 * ((states - np.arange(0.0, 101.0, 25.0)) / 15.0) ** 2)).astype(float)
    fewer = PlaceFields(states, counts[:, :-1], width=8.0)
    gappy = PlaceFields(states, counts, width=8.0)
    y = np.append(counts[0, :-1], np.nan)
    np.testing.assert_allclose(gappy(states, y), fewer(states, counts[0, :-1]), rtol=1e-12)
    some = counts.copy()
    some[::2, 0] = np.nan
    rates = PlaceFields(states, some, width=8.0)
    grid = np.array([10, 14])
    at = rates._low + rates._step * grid[:, None]
    near = np.exp(-0.5 * ((at - states[1::2].T) / 8.0) ** 2)
    by_hand = near @ counts[1::2, 0] / near.sum(axis=1)
    np.testing.assert_allclose(rates._rates[grid, 0], np.maximum(by_hand, 1e-3), rtol=1e-9)


def test_whole_numbers_only():
    with pytest.raises(ValueError, match="counts are whole numbers"):
        PoissonParticleFilter(GaussianRandomWalk(1.0)).fit(np.zeros((3, 1)), np.full((3, 2), 0.5))
    flt = PoissonParticleFilter(GaussianRandomWalk(1.0)).fit(np.arange(3.0)[:, None], np.ones((3, 2)))
    with pytest.raises(ValueError, match="an observation has -1 in it; counts are not negative"):
        flt.filter([[0.0, -1.0]])


def test_rates_may_depend_on_some_columns_only():
    """With noise in the other column, the filter is the one that never saw it."""
    rng = np.random.default_rng(4)
    states = rng.uniform(0.0, 100.0, size=(200, 1))
    counts = rng.poisson(4.0 * np.exp(-0.5 * ((states - np.arange(0.0, 101.0, 25.0)) / 15.0) ** 2))
    wider = np.hstack([states, rng.normal(scale=1e3, size=(200, 1))])
    walk = GaussianRandomWalk(0.0)
    alone = PoissonParticleFilter(walk, random_state=0).fit(states, counts)
    flt = PoissonParticleFilter(walk, columns=[0], random_state=0).fit(wider, counts)
    assert flt.width_ == alone.width_
    np.testing.assert_allclose(flt.filter(counts[:4]).mean[:, 0], alone.filter(counts[:4]).mean[:, 0], atol=1.0)
    for columns in ([2], [], [0.5], 0, [0, 0], [1, -1]):
        with pytest.raises(ValueError, match="these must be columns of the states, 0 to 1"):
            PoissonParticleFilter(walk, columns=columns).fit(wider, counts)


def test_a_grid_that_would_not_fit_into_memory_is_refused():
    places = np.array([[0.0, 0.0], [100.0, 100.0]])
    with pytest.raises(ValueError, match=r"with width = 0\.001, the rates would lie on a grid of 4e\+10 cells"):
        PlaceFields(places, np.ones((2, 3)), width=0.001)
    with pytest.raises(ValueError, match="a grid of inf cells"):
        PlaceFields(places, np.ones((2, 3)), width=1e-300)


def test_rates_computed_in_pieces_are_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    places, counts = rng.uniform(0.0, 10.0, size=(30, 2)), rng.poisson(2.0, size=(30, 4)).astype(float)
    counts[::7, 1] = np.nan
    whole = PlaceFields(places, counts, width=1.5)
    monkeypatch.setattr("kmcf.baselines.poisson.BLOCK_NUMBERS", 200)
    states, seen = rng.uniform(-2.0, 12.0, size=(40, 2)), counts[0]
    np.testing.assert_allclose(PlaceFields(places, counts, width=1.5)(states, seen), whole(states, seen), rtol=1e-12)
