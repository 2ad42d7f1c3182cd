"""The loop over time: online, batch, streams, forecasts, and what is kept on the way."""

import itertools

import numpy as np
import pytest
from controlled_walk import MODEL, assert_identical, data, fitted, online, push
from engine_cases import MODEL as STATIONARY
from engine_cases import tiny
from naming import plain_id

import kmcf
from kmcf.filter import host
from kmcf.kernels import Gaussian

# --- online and batch -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"engine": "literal"},
        {"engine": "exact"},
        {"rule": "importance"},
        {"resampling": "multinomial"},
        {"resampling": "none"},
        {"n_particles": 70, "resample_threshold": 0},
        {"initial": MODEL.initial},
    ],
    ids=plain_id,
)
def test_online_equals_batch_bit_for_bit(settings):
    flt = fitted(**settings)
    observations, controls = data()
    observations[[3, 4, 9]] = np.nan
    assert_identical(flt.filter(observations, controls), online(flt, observations, controls))


def test_without_a_watch_estimates_are_the_same():
    flt, (observations, controls) = fitted(), data()
    watched, bare = flt.filter(observations, controls), flt.backend_.unwatched()
    run = bare.filter(observations, controls, times=None, progress=False, keep_beliefs=None)
    np.testing.assert_array_equal(run.mean, watched.mean)
    np.testing.assert_array_equal(run.log_evidence, watched.log_evidence)
    assert bare.watch is None
    assert not run.alarm.any()


def test_filtering_again_gives_identical_results():
    flt = fitted()
    observations, controls = data()
    first = flt.filter(observations, controls)
    flt.filter(data(seed=9)[0])
    assert_identical(flt.filter(observations, controls), list(first))


def test_the_same_seed_gives_the_same_filter_and_another_seed_another():
    observations, controls = data()
    one, same, other = (fitted(seed=s).filter(observations, controls).mean for s in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-3


def test_rewinding_continues_as_if_nothing_had_happened():
    flt = fitted()
    observations, controls = data()
    run = flt.filter(observations, controls)
    belief = run[6]
    for t in range(7, 15):
        belief = flt.step(belief, observations[t], controls[t])
    np.testing.assert_array_equal(belief.weights, run[14].weights)


def test_changing_the_users_arrays_after_fit_changes_nothing():
    train = MODEL.simulate(40, random_state=0)
    states, observations = train.states.copy(), train.observations.copy()
    flt = kmcf.KernelMonteCarloFilter(push, random_state=3, n_resample=15, augment=False)
    flt.fit(states, observations)
    states[:], observations[:] = 7.0, 7.0
    ys, us = data()
    np.testing.assert_array_equal(flt.filter(ys, us).mean, fitted().filter(ys, us).mean)
    assert states.flags.writeable


# --- streams ----------------------------------------------------------------------------------------------------------


def test_streams_are_independent_draws_of_the_same_thing():
    flt = fitted(n_particles=2000)
    a, b = flt.start(stream=0), flt.start(stream=1)
    assert (a.stream, b.stream) == (0, 1)
    np.testing.assert_array_equal(flt.start(stream=1).states, b.states)
    assert abs(np.corrcoef(a.states[:, 0], b.states[:, 0])[0, 1]) < 0.1
    ahead = [flt.step(flt.step(belief, None), None) for belief in (a, b)]
    noise = [(after.states - 0.9 * before.states)[:, 0] for after, before in zip(ahead, (a, b), strict=True)]
    assert abs(np.corrcoef(*noise)[0, 1]) < 0.1
    assert all(abs(e.std() - 1.0) < 0.1 for e in noise)


def test_the_noise_of_different_times_is_independent():
    flt = fitted(n_particles=2000)
    beliefs = online(flt, [None] * 4)
    noise = [(b.states - 0.9 * a.states)[:, 0] for a, b in itertools.pairwise(beliefs)]
    assert np.abs(np.corrcoef(noise) - np.eye(3)).max() < 0.1


def test_sequence_b_of_a_batch_is_stream_b():
    flt = fitted()
    observations = np.stack([data(seed=s)[0] for s in (1, 2, 3)])
    controls = np.stack([data(seed=s)[1] for s in (1, 2, 3)])
    run = flt.filter(observations, controls)
    for b in range(3):
        assert_identical(run[b], online(flt, observations[b], controls[b], stream=b))


# --- several sequences ------------------------------------------------------------------------------------------------


def test_shapes_of_a_batch():
    flt = fitted()
    observations = np.stack([data(seed=s)[0] for s in (1, 2, 3)])
    run = flt.filter(observations)
    assert len(run) == 3
    assert run.mean.shape == run.mode.shape == (3, 15, 1)
    assert run.covariance.shape == (3, 15, 1, 1)
    for name in ("ess", "weight_sum", "negative_mass", "herding_loss", "coverage", "rejected", "missing", "time"):
        assert getattr(run, name).shape == (3, 15), name
    assert run[1].mean.shape == (15, 1)
    assert run[2][4].time == 5
    assert [len(member) for member in run] == [15, 15, 15]
    np.testing.assert_array_equal(run.mean[1], run[1].mean)


def test_a_batch_of_one_sequence_keeps_its_axis():
    observations, controls = data()
    run = fitted().filter(observations[None], controls[None])
    assert run.mean.shape == (1, 15, 1)
    np.testing.assert_array_equal(run.mean[0], fitted().filter(observations, controls).mean)


def test_filter_many_takes_sequences_of_unequal_lengths():
    flt = fitted()
    lengths = (4, 1, 11)
    pairs = [data(length, seed=length) for length in lengths]
    runs = flt.filter_many([y for y, _ in pairs], controls=[u for _, u in pairs])
    assert [len(run) for run in runs] == list(lengths)
    for stream, (run, (observations, controls)) in enumerate(zip(runs, pairs, strict=True)):
        assert_identical(run, online(flt, observations, controls, stream=stream))


def test_filter_many_takes_lists_with_gaps_and_no_controls_for_some():
    flt = fitted()
    observations, controls = data()
    runs = flt.filter_many([[*observations[:3], None], observations], controls=[None, controls])
    np.testing.assert_array_equal(runs[0].missing, [False, False, False, True])
    np.testing.assert_array_equal(runs[1].mean[-1], online(flt, observations, controls, stream=1)[-1].mean())
    assert flt.filter_many([]) == []


# --- forecasts --------------------------------------------------------------------------------------------------------


def test_uncertainty_grows_while_nothing_is_seen():
    """x' = 0.9 x + e from variance v0: v_k = 0.81^k v0 + (1 - 0.81^k) / 0.19."""
    flt = fitted(n=200, n_particles=4000, n_resample=200, resample_threshold=0)
    belief = flt.step(flt.start(), [0.5])
    ahead = flt.forecast(belief, 6)
    # The herded particles represent the belief; their own variance is where the recursion starts from.
    variance = float(np.var(belief.sample(200)))
    for k in range(6):
        expected = 0.81 ** (k + 1) * variance + (1.0 - 0.81 ** (k + 1)) / 0.19
        assert abs(ahead.covariance[k, 0, 0] - expected) < 0.12 * expected


def test_a_forecast_is_steps_without_observations():
    flt = fitted()
    observations, controls = data()
    belief = online(flt, observations[:5], controls)[-1]
    ahead = flt.forecast(belief, 4, controls=controls[5:9])
    stepped = belief
    for k in range(4):
        stepped = flt.step(stepped, None, controls[5 + k])
        np.testing.assert_array_equal(ahead[k].states, stepped.states)
        np.testing.assert_array_equal(ahead.mean[k], stepped.mean())
    np.testing.assert_array_equal(ahead.time, [6, 7, 8, 9])
    assert ahead.missing.all()


def test_a_forecast_from_the_start_begins_with_the_initial_distribution():
    flt = fitted()
    ahead = flt.forecast(flt.start(), 2)
    np.testing.assert_array_equal(ahead.mean[0], flt.start().mean())
    np.testing.assert_array_equal(ahead.time, [1, 2])


def test_a_forecast_of_an_unseen_start_matches_the_closed_form():
    """Stationary start, x' = 0.9 x + e: mean and variance stay."""
    flt = fitted(n_particles=20000, initial=MODEL.initial, state_kernel=Gaussian(1.0))
    ahead = flt.forecast(flt.start(), 5)
    assert np.abs(ahead.mean).max() < 0.1
    assert np.abs(ahead.covariance - 1 / 0.19).max() < 0.3


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_the_limits_are_those_of_the_documentation():
    assert host.KEPT_STEPS == 10_000
    assert 8 * host.KEPT_NUMBERS == 32_000_000  # bytes


@pytest.mark.slow
def test_a_long_run_keeps_its_summaries_only(monkeypatch):
    monkeypatch.setattr(host, "KEPT_STEPS", 700)  # more than one chunk of summaries
    flt, observations = tiny(), STATIONARY.simulate(701, random_state=1).observations
    run = flt.filter(observations)
    assert run.mean.shape == (701, 1)
    assert np.isfinite(run.mean).all()
    for ask in (lambda: run[3], lambda: run.beliefs, lambda: list(run)):
        with pytest.raises(LookupError, match="keep_beliefs=True"):
            ask()
    assert flt.filter(observations[:700])[699].time == 700
    asked = flt.filter(observations, keep_beliefs=True)
    assert asked[700].time == 701
    np.testing.assert_array_equal(asked.mean, run.mean)


def test_beliefs_of_many_examples_are_not_kept_either(monkeypatch):
    """Fewer steps but more weights per step: what counts is memory."""
    monkeypatch.setattr(host, "KEPT_NUMBERS", 4000)
    flt = tiny(n=80, n_particles=5)
    with pytest.raises(LookupError, match="keep_beliefs=True"):
        flt.filter([None] * 51)[0]
    assert len(flt.filter([None] * 50)[49]) == 5


@pytest.mark.parametrize("keep", [True, False, None])
def test_beliefs_are_kept_when_asked(keep):
    flt = tiny()
    observations = STATIONARY.simulate(30, random_state=1).observations
    run = flt.filter(observations, keep_beliefs=keep)
    if keep is False:
        with pytest.raises(LookupError, match="keep_beliefs=True"):
            run[0]
    else:
        np.testing.assert_array_equal(run[29].mean(), run.mean[29])
        assert len(run.beliefs) == 30


# --- progress ---------------------------------------------------------------------------------------------------------


def test_the_progress_bar_counts_the_steps(capsys):
    pytest.importorskip("tqdm")
    flt, observations = tiny(), STATIONARY.simulate(12, random_state=1).observations
    quiet = flt.filter(observations)
    assert capsys.readouterr().err == ""
    shown = flt.filter(observations, progress=True)
    assert "12/12" in capsys.readouterr().err
    np.testing.assert_array_equal(quiet.mean, shown.mean)
    flt.filter_many([observations, observations[:5]], progress=True)
    assert "17/17" in capsys.readouterr().err
    flt.filter(np.stack([observations] * 2), progress=True)
    assert "24/24" in capsys.readouterr().err
