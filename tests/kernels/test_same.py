"""The kernel on labels, alone and beside a kernel on positions."""

import numpy as np
import pytest

import kmcf
from kmcf.kernels import Columns, Gaussian, Same, named


def test_values_are_one_or_otherwise():
    np.testing.assert_array_equal(Same()([[1.0], [2.0]], [[2.0], [2.0], [1.0]]), [[0, 0, 1], [1, 1, 0]])
    np.testing.assert_allclose(Same(0.25)([[1.0, 2.0]], [[1.0, 2.0], [1.0, 3.0]]), [[1.0, 0.25]])
    assert named("same", otherwise=0.1).otherwise == 0.1


@pytest.mark.parametrize("otherwise", [-0.1, 1.0, np.nan])
def test_impossible_similarities_are_named(otherwise):
    with pytest.raises(ValueError, match="at least 0 and below 1"):
        Same(otherwise)([[1.0]])


@pytest.mark.parametrize("engine", ["local", "exact"])
def test_a_filter_knows_the_floor(engine):
    rng = np.random.default_rng(0)
    places, floors = rng.uniform(0, 20, size=(400, 2)), rng.integers(0, 2, size=400).astype(float)

    def observe(places, floors):
        return np.column_stack([places, 5.0 * floors]) + 0.3 * rng.normal(size=(len(places), 3))

    def walk(states, _control, rng):
        moved = states + np.column_stack([rng.normal(size=(len(states), 2)), np.zeros(len(states))])
        moved[:, 2] = np.where(rng.random(len(states)) < 0.05, 1.0 - moved[:, 2], moved[:, 2])  # stairs, lifts
        return moved

    flt = kmcf.KernelMonteCarloFilter(
        walk,
        state_kernel=Columns(Gaussian(2.0), [0, 1]) * Columns(Same(), 2),
        observation_kernel=Gaussian(1.0),
        engine=engine,
        tolerance=1e-6,
        n_particles=200,
        random_state=0,
    ).fit(np.column_stack([places, floors]), observe(places, floors))
    path = 10.0 + np.cumsum(0.5 * rng.normal(size=(10, 2)), axis=0)
    on = np.array([0.0] * 5 + [1.0] * 5)
    run = flt.filter(observe(path, on))
    np.testing.assert_array_equal(run.mode[:, 2], on)
    assert run[9].probability(lambda states: states[:, 2] == 1.0) > 0.9
