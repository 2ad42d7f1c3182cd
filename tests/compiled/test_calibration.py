"""On JAX arrays intervals are corrected by the same factors as on NumPy arrays."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import TRAIN
from left_out_errors import overconfident

from kmcf.filter.results.belief import Belief
from kmcf.trust.calibration import Calibration


@pytest.fixture
def known(flt):
    """A calibration of the shared filter, which is compiled only once, for the time of a test."""
    rng = np.random.default_rng(0)
    found = Calibration.learn(overconfident(90, 1, rng), overconfident(90, 1, rng, shrink=1.0), left_out=True)
    object.__setattr__(flt.backend_, "calibration", found)
    yield found
    object.__setattr__(flt.backend_, "calibration", None)


def test_batches_and_single_steps_use_the_factors_of_numpy(flt, known, batch):
    runs = flt.filter(jnp.asarray(batch))
    assert runs.missing[1, 2:5].all()
    for b in (0, 1):
        for t, belief in enumerate(runs[b]):
            same = Belief(belief.states, belief.weights, time=belief.time, report=belief.report, calibration=known)
            np.testing.assert_allclose(runs.interval[b, t], same.interval())
    belief = flt.start()
    for y in batch[0][:3]:
        belief = flt.step(belief, y)
    np.testing.assert_allclose(belief.interval(), runs.interval[0, 2], rtol=1e-9)
    assert belief.corrected
    assert belief.calibration is known


def test_copies_for_left_out_parts_are_compiled_too(flt):
    states, observations = flt._like_fitted(TRAIN.states, TRAIN.observations)
    assert isinstance(states, jnp.ndarray)
    assert isinstance(observations, jnp.ndarray)
