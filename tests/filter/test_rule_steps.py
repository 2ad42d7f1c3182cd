"""What a fitted filter puts into its steps: particles, whether it rejects, where it may look for a lost state."""

import numpy as np
import pytest

import kmcf

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 1))
Y = X + 0.3 * RNG.normal(size=X.shape)


def move(states, control, rng):
    return 0.9 * states + 0.3 * rng.normal(size=states.shape)


@pytest.mark.parametrize(("n_particles", "wanted"), [(None, 60), (25, 25), (200, 200)])
def test_a_step_has_as_many_particles_as_asked_for_or_as_examples(n_particles, wanted):
    flt = kmcf.KernelMonteCarloFilter(move, n_particles=n_particles, n_resample=10, random_state=0).fit(X, Y)
    belief = flt.step(flt.start(), None)
    assert flt.n_particles_ == len(belief.states) == wanted


@pytest.mark.parametrize(("engine", "relocating"), [("literal", False), ("exact", True)])
def test_the_literal_engine_neither_rejects_nor_looks_elsewhere(engine, relocating):
    flt = kmcf.KernelMonteCarloFilter(move, engine=engine, random_state=0).fit(X, Y)
    assert flt.rejecting_ is flt.relocating_ is relocating


def test_several_sensors_start_from_the_states_of_all():
    flt = kmcf.KernelMonteCarloFilter(move, random_state=0)
    flt.fit({"near": (X[X[:, 0] < 0], Y[X[:, 0] < 0]), "far": (X[X[:, 0] >= 0], Y[X[:, 0] >= 0])})
    drawn = flt.start().states
    assert set(np.ravel(drawn)) <= set(np.ravel(X))
    assert drawn.min() < 0 < drawn.max()
