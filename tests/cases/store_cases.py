"""Filters and data that the tests of saving share; functions at module level, as users have them."""

import numpy as np

import kmcf
from kmcf.kernels import AsinhScaled, Circular, Columns, Gaussian, Laplace, Learned, Linear, Matern, Pose

RNG = np.random.default_rng(0)
STATES = RNG.normal(size=(90, 1))
OBSERVATIONS = np.sin(STATES) + STATES + 0.3 * RNG.normal(size=STATES.shape)
TEST = RNG.normal(size=(9, 1))
TEST[4] = np.nan
VECTORS = np.exp(STATES) * RNG.normal(size=(90, 4))


def move(states, control, rng):
    return 0.9 * states + 0.3 * rng.normal(size=states.shape)


def begin(size, rng):
    return rng.normal(size=(size, 1))


def cauchy(a, b):
    return 1.0 / (1.0 + np.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=2))


def widen(observations):
    return np.concatenate([observations, np.abs(observations)], axis=1)


def make(**settings):
    return kmcf.KernelMonteCarloFilter(move, **{"random_state": 0, **settings})


def reloaded(flt, path, **passed):
    """The filter after a journey through a file."""
    flt.save(path)
    return kmcf.load(path, **passed)


def small():
    """A fitted filter whose file has some ten kilobytes."""
    return make(engine="lowrank", rank=4).fit(STATES[:25], OBSERVATIONS[:25])


VECTOR_KERNELS = {
    "Gaussian per column": Gaussian([0.5, 1.0, 1.0, 2.0]),
    "Laplace": Laplace(),
    "Matern": Matern(nu=2.5),
    "sum": 0.5 * Gaussian() + Linear() * Gaussian(2.0),
    "columns": Columns(Gaussian(), [0, 1]) * Columns(AsinhScaled(Matern()), (2, 3)),
    "circular": Circular(),
    "pose": Pose(heading=[1, 3]),
    "learnt": Learned(folds=3),
    "learnt on other": Learned(kernel=Laplace()),
}


def assert_same_run(run, other):
    expected, found = run.columns(), other.columns()
    assert set(found) == set(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)  # bit for bit, NaN equal to NaN
