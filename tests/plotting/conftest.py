"""A run to draw; figures are closed after each test."""

import numpy as np
import pytest

import kmcf
from kmcf.datasets import paper_model


@pytest.fixture(autouse=True)
def _figures():
    pytest.importorskip("matplotlib").use("agg")
    yield
    pytest.importorskip("matplotlib.pyplot").close("all")


@pytest.fixture(scope="session")
def one():
    model = paper_model("1a")
    train, test = model.simulate(60, random_state=0), model.simulate(12, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
    observations = test.observations.copy()
    observations[4:6] = np.nan
    return flt.fit(train.states, train.observations).filter(observations), test.states


@pytest.fixture(scope="session")
def words():
    """A filter whose states are not numbers."""

    def same(A, B):
        return np.array([[float(a == b) for b in B] for a in A])

    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, state_kernel=same, random_state=0)
    return flt.fit(["a", "b"] * 5, np.random.default_rng(0).normal(size=(10, 1)))
