"""Filters on JAX arrays are smoothed by the same backward pass, compiled; the host's is tested against oracles."""

import pickle

import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import MODEL, TEST, TRAIN, fitted
from known_models import rmse
from smoothers import rauch_tung_striebel

import kmcf
from kmcf.filter.backward.smoothing import smoothed_run


@pytest.mark.slow
def test_a_compiled_filter_is_smoothed(flt):
    run = flt.smooth(TEST.observations)
    exact, _, _ = rauch_tung_striebel(TEST.observations)
    host = kmcf.KernelMonteCarloFilter(
        MODEL.transition, initial=MODEL.initial, n_resample=30, augment=False, random_state=3
    )
    other = host.fit(TRAIN.states, TRAIN.observations).smooth(TEST.observations)
    assert rmse(run.mean[:, 0], exact) < rmse(run.filtered.mean[:, 0], exact)
    assert rmse(run.mean, other.mean) < 0.2  # other random numbers, the same algorithm
    assert run.sample_paths(3).shape == (3, 25, 1)
    with pytest.raises(ValueError, match="later observations"):
        flt.step(run[3], [0.0])
    late = flt.smooth_lag(2)
    for y in TEST.observations[:4]:
        late = late.step(y)
    np.testing.assert_allclose(late.smoothed.mean(), flt.smooth(TEST.observations, lag=2).mean[1], rtol=1e-9)


COLUMNS = ("mean", "covariance", "ess", "mode", "interval", "negative_mass", "log_evidence", "alarm", "unsmoothed")


def same_as_on_the_host(flt, found, controls=None):
    """Compare with the backward pass of NumPy, on the same forward pass."""
    for b, member in enumerate(found):
        host = smoothed_run(flt._smoother(), member.filtered, None if controls is None else controls[b], None)
        for column in COLUMNS:
            np.testing.assert_allclose(getattr(member, column), getattr(host, column), rtol=1e-8, atol=1e-8)
        for t in (0, 3, len(member) - 1):
            np.testing.assert_allclose(member[t].weights, host[t].weights, atol=1e-10)
            assert member[t].final == host[t].final


@pytest.mark.slow
def test_the_backward_pass_is_the_one_of_the_host(flt, batch):
    found = flt.smooth(batch)
    same_as_on_the_host(flt, found)
    assert np.abs(found.mean - found.filtered.mean).max() > 0.1


def test_sequences_of_different_lengths(flt, batch):
    longer, shorter = batch[1], batch[0][:5]
    found = flt.smooth_many([shorter, longer, batch[2]])
    assert [len(run) for run in found] == [5, 8, 8]
    alone = flt.smooth(batch)  # the same streams of random numbers for the third
    np.testing.assert_allclose(found[2].mean, alone.mean[2], rtol=1e-9)
    same_as_on_the_host(flt, found[:1])


def driven(states, control, key, elapsed):
    """Noise that depends on the state alone, so that it does not matter how many states are moved together."""
    return 0.9**elapsed * states + control["push"] + 0.6 * jnp.sin(97.0 * states)


@pytest.mark.slow
def test_controls_times_and_pieces(batch, monkeypatch):
    monkeypatch.setattr("kmcf.compiled.smoother.plan", lambda *_: (2, 4))  # two sequences and four steps at once
    flt = fitted(transition=driven, initial=None, n_particles=40, n_resample=20)
    controls = [[{"push": np.float64(0.01 * t)} for t in range(8)] for _ in batch]
    times = np.cumsum(np.random.default_rng(0).uniform(0.5, 2.0, size=(3, 8)), axis=1)
    found = flt.smooth(batch, controls, times)
    same_as_on_the_host(on_plain_controls(flt), found, [[0.01 * t for t in range(8)] for _ in batch])


def on_plain_controls(flt):
    """The same filter with a transition that takes numbers: the host passes on no trees of arrays."""

    def plain(states, control, key, elapsed):
        return driven(states, {"push": control}, key, elapsed)

    return flt.with_transition(plain)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* observations were not used")
@pytest.mark.parametrize("support", ["examples", "both"])
def test_beliefs_far_from_the_examples_are_kept_as_on_the_host(support):
    inside = np.abs(TRAIN.states[:, 0]) < 1.0
    flt = kmcf.KernelMonteCarloFilter(
        MODEL.transition, initial=MODEL.initial, n_particles=40, n_resample=20, support=support, random_state=0
    )
    flt.fit(jnp.asarray(TRAIN.states[inside]), jnp.asarray(TRAIN.observations[inside]))
    away = np.array([0.0, 1.0, 2.0, 4.0, 5.0, 6.0, 6.0, 5.0, 4.0, 2.0, 1.0, 0.0])[None, :, None]
    found = flt.smooth(np.concatenate([away, -0.2 * away]))
    assert 0 < found.unsmoothed[0].sum() < 11
    same_as_on_the_host(flt, found)
    kept = found.unsmoothed
    np.testing.assert_array_equal(found.mean[kept], found.filtered.mean[kept])
    assert (found.mean[:, :-1][~kept[:, :-1]] != found.filtered.mean[:, :-1][~kept[:, :-1]]).all()


def test_runs_can_be_pickled(flt, batch):
    found = pickle.loads(pickle.dumps(flt.smooth(batch)[1]))
    np.testing.assert_allclose(found.mean, flt.smooth(batch).mean[1])
    assert found[2].final
    with pytest.raises(LookupError, match="paths need"):
        found.sample_paths(2)


def test_a_move_that_is_not_finite(batch):
    def escapes(states, control, key):
        return jnp.where(states > 2.0, jnp.nan, states) if states.shape[0] > 200 else states

    flt = fitted(transition=escapes, n_particles=40, n_resample=20)
    with pytest.raises(ValueError, match=r"NaN or infinity when 1?\d?\d of the 150 example states were moved"):
        flt.smooth(batch)


def test_few_different_states_are_counted_on_the_host():
    rng = np.random.default_rng(0)
    states = rng.integers(3, size=(90, 1)).astype(float)
    seen = states + 0.3 * rng.normal(size=(90, 1))
    flt = kmcf.KernelMonteCarloFilter(lambda states, control, key: states, random_state=0, n_particles=60)
    flt.fit(jnp.asarray(states), jnp.asarray(seen))
    run = flt.smooth(np.array([[0.1], [0.9], [0.2], [0.1]]))
    assert (run.best_path() == 0.0).all()  # nothing moves, so one state explains them all


def test_batches_are_smoothed(flt, batch):
    found = flt.smooth(batch)
    assert found.mean.shape == found.filtered.mean.shape == (3, 8, 1)
    assert found.missing[1, 2:5].all()
    np.testing.assert_array_equal(found[1].mean, found.mean[1])
    assert (found.mean[:, :-1] != found.filtered.mean[:, :-1]).all()
    deviation = np.sqrt(found.covariance[1, 4, 0, 0])  # the end of the gap is known from the other side, too
    assert deviation < np.sqrt(found.filtered.covariance[1, 4, 0, 0])
