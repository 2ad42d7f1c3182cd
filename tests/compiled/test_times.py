"""The user's clock on the JAX path: the time that passed reaches the transition, in batches, online and compiled."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import TEST, TRAIN

import kmcf

TIMES = np.cumsum(np.tile([0.5, 2.0, 1.0], 4))


def drifting(states, control, key, elapsed=1.0):
    """A state that moves by as much as time passes, so that predictions can be told by heart."""
    return states + elapsed


@pytest.fixture(scope="module")
def flt():
    made = kmcf.KernelMonteCarloFilter(drifting, n_particles=64, n_resample=16, random_state=0)
    return made.fit(jnp.asarray(TRAIN.states), jnp.asarray(TRAIN.observations))


@pytest.fixture(scope="module")
def run(flt):
    return flt.filter(jnp.asarray(TEST.observations[:12]), times=TIMES)


def test_predictions_move_by_the_time_that_passed(flt, run):
    ahead = flt.forecast(run[11], 3, times=TIMES[11] + np.array([0.25, 1.0, 5.0]))
    drawn, weights = run[11].particles(64)
    expected = weights @ drawn + np.array([[0.25], [1.0], [5.0]])
    np.testing.assert_allclose(ahead.mean, expected, atol=1e-12)
    np.testing.assert_allclose(ahead.times, TIMES[11] + np.array([0.25, 1.0, 5.0]))
    np.testing.assert_allclose(ahead[2].mean(), expected[2], atol=1e-12)  # repeated from the results


def test_online_is_batch(flt, run):
    belief = flt.start()
    assert belief.clock is None
    for t in range(12):
        belief = flt.step(belief, TEST.observations[t], time=TIMES[t])
        np.testing.assert_allclose(belief.mean(), run.mean[t], atol=1e-10)
        assert belief.clock == run[t].clock == TIMES[t]
    assert belief.elapsed == run[11].elapsed == 1.0
    np.testing.assert_array_equal(run.times, TIMES)


def test_steps_with_times_can_be_scanned(flt, run):
    def step(belief, inputs):
        belief = flt.step(belief, inputs[0], time=inputs[1])
        return belief, belief.mean()

    last, means = jax.jit(lambda *given: jax.lax.scan(step, flt.start(), given))(
        jnp.asarray(TEST.observations[:12]), jnp.asarray(TIMES)
    )
    np.testing.assert_allclose(means, run.mean, atol=1e-10)
    assert last.clock == TIMES[-1]


def test_sequences_have_their_own_times(flt, run):
    several = flt.filter_many([TEST.observations[:12], TEST.observations[:5]], times=[TIMES, 2 * TIMES[:5]])
    np.testing.assert_allclose(several[0].mean, run.mean, atol=1e-10)
    np.testing.assert_array_equal(several[1].times, 2 * TIMES[:5])
    untimed = flt.filter(jnp.asarray(TEST.observations[:12]))
    assert np.isnan(untimed.times).all()
    assert np.abs(untimed.mean - run.mean).max() > 0.1


def test_what_is_wrong_with_times_is_said(flt, run):
    with pytest.raises(ValueError, match="times must increase"):
        flt.filter(TEST.observations[:2], times=[1.0, 1.0])
    with pytest.raises(ValueError, match="does not come after that of the belief"):
        flt.step(run[3], TEST.observations[0], time=TIMES[2])
    with pytest.raises(ValueError, match="its next step needs a time"):
        flt.forecast(run[3], 2)
    with pytest.raises(ValueError, match="some sequences have times and others None"):
        flt.filter_many([TEST.observations[:2]] * 2, times=[[0.0, 1.0], None])
    flt = kmcf.KernelMonteCarloFilter(lambda states, control, key: states, n_particles=64, random_state=0)
    flt.fit(jnp.asarray(TRAIN.states), jnp.asarray(TRAIN.observations))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # so that nothing need be compiled
        with pytest.raises(kmcf.UnusedTimesWarning):
            flt.filter(TEST.observations[:3], times=[0.0, 1.0, 5.0])
    flt.transition = lambda states, control, key, *, elapsed: states
    with pytest.raises(ValueError, match="your transition needs elapsed"):
        flt.filter(TEST.observations[:3])
