"""Four sensors that see a point in the plane, with numbers missing in any way."""

import numpy as np

import kmcf

RNG = np.random.default_rng(7)
SIZE = 90


def observe(states, rng):
    x, y = states[:, 0], states[:, 1]
    return np.column_stack([x, y**2, x + y, np.sin(2.0 * x) + y]) + 0.15 * rng.normal(size=(len(states), 4))


def move(states, control, rng):
    return np.clip(states + 0.3 * rng.normal(size=states.shape), -2.5, 2.5)


def start(size, rng):
    return rng.uniform(-2.0, 2.0, size=(size, 2))


X = RNG.uniform(-2.0, 2.0, size=(SIZE, 2))
Y = observe(X, RNG)
WALK = np.clip(np.cumsum(0.3 * RNG.normal(size=(12, 2)), axis=0), -2.0, 2.0)
YS = observe(WALK, RNG)


def make(**settings):
    return kmcf.KernelMonteCarloFilter(move, **({"initial": start, "n_particles": 60, "random_state": 2} | settings))


def without(observations, *columns):
    """Observations that lack some columns."""
    gaps = np.array(observations)
    gaps[:, list(columns)] = np.nan
    return gaps


def with_gaps(observations, share, seed):
    """Observations that lack numbers anywhere; none lacks all."""
    rng = np.random.default_rng(seed)
    absent = rng.uniform(size=observations.shape) < share
    absent[absent.all(axis=1), 0] = False
    return np.where(absent, np.nan, observations)


def assert_same(run, expected, **tolerance):
    """Compare everything that runs tell; their steps may differ by rounding."""
    tolerance = {"rtol": 1e-7, "atol": 1e-9} | tolerance
    for name in ("mean", "covariance", "mode", "ess", "negative_mass", "coverage", "weight_sum"):
        np.testing.assert_allclose(getattr(run, name), getattr(expected, name), err_msg=name, **tolerance)
    # Intervals reach beyond all examples that a filter has, and the two may have others.
    among = [one.beyond is None and other.beyond is None for one, other in zip(run, expected, strict=True)]
    assert any(among)
    np.testing.assert_allclose(run.interval[among], expected.interval[among], err_msg="interval", **tolerance)
    np.testing.assert_array_equal(run.rejected, expected.rejected)
    np.testing.assert_array_equal(run.missing, expected.missing)
