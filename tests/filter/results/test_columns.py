"""Every column of a run has one entry per step, of a sequence and of a batch."""

import numpy as np
import pytest

import kmcf
from kmcf.filter.results.columns import ColumnsByName

NAMES = sorted(name for name, member in vars(ColumnsByName).items() if isinstance(member, property))
X = np.linspace(-1.0, 1.0, 40)[:, None]
Y = X + 0.1 * np.sin(20 * X)
FILTER = kmcf.KernelMonteCarloFilter(lambda x, u, rng: x + 0.1 * rng.normal(size=x.shape), random_state=0).fit(X, Y)
ONE = FILTER.filter(Y[10:17])
BATCH = FILTER.filter(np.stack([Y[10:17], Y[20:27]]))


@pytest.mark.parametrize("name", NAMES)
def test_one_entry_per_step(name):
    assert np.shape(getattr(ONE, name))[:1] == (7,)
    assert np.shape(getattr(BATCH, name))[:2] == (2, 7)
    np.testing.assert_array_equal(getattr(BATCH, name)[0], getattr(ONE, name))


@pytest.mark.parametrize("name", ["mean", "covariance", "interval"])
def test_objects_have_no_moments(name):
    def same(a, b):
        return np.array([[float(x == y) for y in b] for x in a])

    flt = kmcf.KernelMonteCarloFilter(
        lambda x, u, rng: x, state_kernel=same, observation_kernel=same, epsilon=0.1, delta=0.1, random_state=0
    )
    run = flt.fit(["here", "there"] * 10, ["red", "blue"] * 10).filter(["red", "red"])
    with pytest.raises(TypeError, match=f"no {name} is defined"):
        getattr(run, name)
    assert run.mode == ["here", "here"]
