"""States that are angles: nothing depends on where the circle is cut."""

import numpy as np
import pytest

import kmcf
from kmcf.kernels import Circular, Gaussian


def compass(turns=0.0, **settings):
    """Headings all around, seen as noisy points on the circle; a slow drift to the left."""
    rng = np.random.default_rng(0)
    heading = rng.uniform(-np.pi, np.pi, size=(120, 1))
    Y = np.hstack([np.cos(heading), np.sin(heading)]) + 0.1 * rng.normal(size=(120, 2))
    flt = kmcf.KernelMonteCarloFilter(
        lambda s, u, rng: s + 0.1 + 0.05 * rng.normal(size=s.shape), angles=(0,), random_state=0, **settings
    )
    return flt.fit(heading + turns, Y)


def wrapped(difference):
    return (np.asarray(difference) + np.pi) % (2 * np.pi) - np.pi


def facing(angles):
    return np.column_stack([np.cos(angles), np.sin(angles)])


def test_means_modes_and_variances_across_the_seam():
    truth = np.pi - 0.35 + 0.1 * np.arange(8)  # crosses +pi on the way
    run = compass().filter(facing(truth))
    assert np.abs(wrapped(run.mean[:, 0] - truth)).max() < 0.15
    assert np.abs(wrapped(run.mode[:, 0] - truth)).max() < 0.3
    assert (np.abs(run.mean) <= np.pi + 1e-12).all()
    assert (run.covariance[:, 0, 0] < 0.1).all()  # a straight mean of +-pi would give pi squared
    for t, belief in enumerate(run):
        w, a = belief.weights, belief.states[:, 0]
        mean = np.arctan2(sum(w * np.sin(a)), sum(w * np.cos(a)))
        assert abs(wrapped(run.mean[t, 0] - mean)) < 1e-12
        assert run.covariance[t, 0, 0] == pytest.approx(sum(w * wrapped(a - mean) ** 2), abs=1e-12)


def test_whole_turns_change_nothing():
    ys = facing(np.pi - 0.2 + 0.1 * np.arange(6))
    rng = np.random.default_rng(1)
    chosen = {"initial": lambda size, rng: rng.uniform(-np.pi, np.pi, size=(size, 1)), "engine": "exact"}
    plain = compass(**chosen).filter(ys)
    turns = 2.0 * np.pi * rng.integers(-3, 4, size=(120, 1))
    turned = compass(turns, **chosen).filter(ys)
    assert np.abs(wrapped(turned.mean - plain.mean)).max() < 1e-6
    np.testing.assert_allclose(turned.covariance, plain.covariance, atol=1e-6)


def test_forecasts_go_around_the_circle():
    flt = compass()
    belief = flt.step(flt.start(), facing([0.0])[0])
    ahead = flt.forecast(belief, 70)  # a little more than one turn
    expected = belief.mean()[0] + 0.1 * np.arange(1, 71)
    assert np.abs(wrapped(ahead.mean[:, 0] - expected)).max() < 0.2
    assert (ahead.covariance[:, 0, 0] < 0.5).all()


def test_density_and_quantiles_across_the_seam():
    flt = compass(state_kernel=Circular(0.3))
    belief = flt.step(flt.start(), facing([np.pi])[0])
    grid = np.linspace(0, 2 * np.pi, 721)
    density = belief.density(grid)
    assert abs(grid[np.argmax(density)] - np.pi) < 0.15
    assert abs(wrapped(belief.mode(method="density")[0] - np.pi)) < 0.15
    low, high = belief.quantile([0.25, 0.75])
    assert 0 < high - low < 0.6
    assert abs(wrapped((low + high) / 2 - np.pi)) < 0.15


def test_an_angle_beside_a_straight_coordinate():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=150), rng.uniform(-np.pi, np.pi, size=150)])
    Y = np.column_stack([X[:, 0], np.cos(X[:, 1]), np.sin(X[:, 1])]) + 0.05 * rng.normal(size=(150, 3))
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, angles=[1], random_state=0).fit(X, Y)
    run = flt.filter(np.array([[0.5, -1.0, 0.0]] * 3))
    assert abs(run.mean[-1, 0] - 0.5) < 0.2
    assert abs(wrapped(run.mean[-1, 1] - np.pi)) < 0.2
    assert run.angles == (1,)


def test_intervals_of_angles_unroll_around_the_mean():
    angles = np.linspace(-np.pi, np.pi, 100, endpoint=False)[:, None]
    observations = np.hstack([np.cos(angles), np.sin(angles)])
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, r: s, angles=(0,), random_state=0).fit(angles, observations)
    belief = flt.step(flt.start(), [-1.0, 0.0])
    low, high = belief.interval()[:, 0]
    assert high - low < 2.5
    assert low - 0.1 <= np.pi <= high + 0.1 or low - 0.1 <= -np.pi <= high + 0.1


def test_angles_with_the_compressed_engine():
    rng = np.random.default_rng(0)
    angles = rng.uniform(-np.pi, np.pi, size=(300, 1))
    observations = np.concatenate([np.cos(angles), np.sin(angles)], axis=1) + 0.05 * rng.normal(size=(300, 2))

    def turn(states, control, rng):
        return states + 0.05 * rng.normal(size=states.shape)

    runs = {}
    for engine in ("exact", "compressed"):
        settings = {"angles": (0,), "observation_kernel": Gaussian(0.5), "resample_threshold": 0, "random_state": 0}
        flt = kmcf.KernelMonteCarloFilter(turn, engine=engine, **settings)
        runs[engine] = flt.fit(angles, observations).filter(np.tile([[-1.0, 0.0]], (4, 1)))
    gap = runs["exact"].mean[0] - runs["compressed"].mean[0]
    assert abs(np.angle(np.exp(1j * gap[0]))) < 1e-5
    assert abs(abs(runs["compressed"].mean[0, 0]) - np.pi) < 0.2
    np.testing.assert_allclose(runs["compressed"].covariance[0], runs["exact"].covariance[0], atol=1e-5)
