"""Alarms of whole filters: what they notice, that all ways to them agree, and that files keep them."""

import pickle

import numpy as np
import pytest
from beacon_room import controlled, examples, fitted, heard, path, walk

import kmcf
from kmcf.filter.results.belief import WATCHED
from kmcf.trust.signals import REASONS

FILTERS = (kmcf.KernelMonteCarloFilter, kmcf.ParticleLikelihoodFilter)


@pytest.fixture(scope="module", params=FILTERS, ids=["examples", "particles"])
def flt(request):
    return fitted(request.param)


def faulty_walk(shift, steps=70, at=30):
    places, rng = path(steps)
    seen = heard(places, rng)
    seen[at:] += shift * examples()[1].std(axis=0)
    return seen


def test_usual_steps_raise_few_alarms(flt):
    runs = [flt.filter(heard(*path(40, seed))) for seed in (11, 12, 13, 14)]
    assert np.mean([run.alarm for run in runs]) <= 0.04
    assert all((run.alarm_reason == "").tolist() == (~run.alarm).tolist() for run in runs)


def test_shifted_observations_are_noticed_within_twenty_steps(flt):
    run = flt.filter(faulty_walk(2.0))
    assert run.alarm[30:50].any()
    assert set(run.alarm_reason[30:].tolist()) <= {"", *REASONS.values()}


def test_one_step_after_the_other_gives_the_same_alarms(flt):
    seen = faulty_walk(2.0)[20:45]
    seen[5] = np.nan
    run, belief = flt.filter(seen), flt.start()
    for t, y in enumerate(seen):
        belief = flt.step(belief, y)
        assert belief.alarm_reason == run.alarm_reason[t]
        assert belief.alarm == run.alarm[t]
        assert run[t].alarm_reason == run.alarm_reason[t]


def test_no_mean_outside_the_examples_goes_without_an_alarm():
    """In a room of which the examples cover 6 m, particles may follow a walk beyond them."""
    flt = fitted(kmcf.ParticleLikelihoodFilter, width=6.0)
    rng = np.random.default_rng(0)
    places = np.column_stack([np.linspace(3, 9.5, 60), np.full(60, 5.0)])
    run = flt.filter(heard(places, rng))
    beyond = run.mean[:, 0] > examples(width=6.0)[0][:, 0].max()
    assert beyond.any()
    assert run.alarm[beyond].all()
    assert run.alarm[places[:, 0] > 7].any()


def test_no_effective_sample_size_below_one_goes_without_an_alarm():
    model = kmcf.datasets.paper_model("1a")
    train, test = model.simulate(300, random_state=0), model.simulate(60, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, augment=False, random_state=0)
    run = flt.fit(train.states, train.observations).filter(test.observations + 12.0 * (np.arange(60) >= 30)[:, None])
    impossible = run.ess < 1
    assert impossible.sum() > 5
    assert run.alarm[impossible].all()


def test_transitions_that_need_a_control_have_alarms_too():
    flt = fitted(transition=controlled)
    seen, controls = faulty_walk(3.0), np.zeros((70, 2))
    run = flt.filter(seen, controls)
    assert run.alarm[30:50].any()
    assert run.alarm[:30].mean() <= 0.1


@pytest.mark.parametrize("make", [kmcf.baselines.KNNRegression, kmcf.baselines.KNNParticleFilter])
def test_baselines_notice_observations_unlike_any_example(make):
    run = fitted(make).filter(faulty_walk(4.0))
    assert run.alarm[30:].mean() > 0.9
    assert run.alarm[:30].mean() <= 0.1


def test_a_filter_without_examples_raises_no_alarm():
    oracle = kmcf.baselines.ParticleFilter(
        walk, lambda states, y: -((states - y) ** 2).sum(axis=1), initial=lambda n, rng: rng.normal(size=(n, 2))
    )
    run = oracle.filter(np.full((5, 2), 50.0))
    assert not run.alarm.any()
    assert np.isfinite(run.log_evidence).all()


def test_the_literal_engine_raises_alarms_and_keeps_its_estimates():
    flt = fitted(engine="literal", n=60)
    seen = faulty_walk(4.0)[20:40]
    before = flt.filter(seen).mean
    assert flt.filter(seen).alarm[10:].any()
    np.testing.assert_array_equal(flt.filter(seen).mean, before)


def test_observations_that_are_not_numbers_are_compared_by_their_kernel():
    words = ["aaaa", "aaab", "abab", "bbbb"] * 15
    states = np.linspace(0, 1, 60)
    flt = kmcf.KernelMonteCarloFilter(
        kmcf.transitions.GaussianRandomWalk(0.1), observation_kernel=kmcf.kernels.Spectrum(2), random_state=0
    ).fit(states, words)
    run = flt.filter(["aaaa", "abab", None])
    assert np.isfinite(run.observation_distance[:2]).all()
    assert np.isnan(run.observation_distance[2])
    assert not run.alarm[:2].any()


def test_files_and_pickles_keep_the_thresholds(flt, tmp_path):
    thresholds, seen = flt.alarm_thresholds_, faulty_walk(2.0)
    run = flt.filter(seen)
    flt.save(tmp_path / "model.kmcf")
    loaded = kmcf.load(tmp_path / "model.kmcf", transition=walk)
    assert loaded.backend_.watch.known == thresholds
    for other in (loaded, pickle.loads(pickle.dumps(flt))):
        again = other.filter(seen)
        np.testing.assert_array_equal(again.alarm_reason, run.alarm_reason)
        np.testing.assert_array_equal(again.log_evidence, run.log_evidence)
    belief = pickle.loads(pickle.dumps(run[40]))
    assert belief.alarm_reason == run.alarm_reason[40]


def test_a_model_saved_before_alarms_were_asked_for_finds_them_after_loading(tmp_path):
    flt = fitted(n=80)
    flt.save(tmp_path / "model.kmcf")
    loaded = kmcf.load(tmp_path / "model.kmcf", transition=walk)
    assert loaded.backend_.watch.known is None
    assert loaded.alarm_thresholds_ == flt.alarm_thresholds_


def test_runs_keep_alarms_in_files_and_tables(flt, tmp_path):
    run = flt.filter(faulty_walk(3.0)[10:60])
    run.save(tmp_path / "run.npz")
    again = kmcf.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.alarm_reason, run.alarm_reason)
    table = run.to_dataframe()
    assert table["alarm"].tolist() == run.alarm.tolist()
    assert run.to_xarray()["alarm_reason"].values.tolist() == run.alarm_reason.tolist()


def test_runs_of_earlier_versions_have_no_alarms(flt):
    run = flt.filter(faulty_walk(3.0)[:70])
    new = ("alarm", "alarm_reason", "log_evidence", "observation_distance")
    columns = {name: values for name, values in run.columns().items() if name not in new}
    earlier = kmcf.filter.FilterRun.of_columns(columns)
    assert not earlier.alarm.any()
    assert np.isnan(earlier.log_evidence).all()


def test_learning_more_keeps_what_is_usual(flt):
    twin = pickle.loads(pickle.dumps(flt))
    known = twin.alarm_thresholds_
    twin.partial_fit(*examples(20, seed=5))
    assert twin.alarm_thresholds_ is known
    twin.refresh()
    assert twin.alarm_thresholds_ is not known


def test_a_state_that_strays_raises_an_alarm_when_its_observation_is_a_little_odd(flt):
    """Beyond the tenth of the usual distances that is largest, but only where the state may have left the examples."""
    watch = flt.backend_.watch
    start = watch.thresholds.parts["observation_distance"].start
    assert start < watch.thresholds.levels["observation_distance"]
    seen = heard(*path(3, 11))
    belief = flt.step(flt.step(flt.start(), seen[0]), seen[1])
    columns = alarm_columns(belief, 4)
    columns["observation_distance"] = np.array([start - 0.01, start + 0.01, start - 0.01, start + 0.01])
    assert not watch.decide(columns)[0].any()
    alarm, reason = watch.decide({**columns, "straying": np.array([False, False, True, True])})
    assert alarm.tolist() == [False, False, False, True]
    assert reason[3] == "uncovered state"


def alarm_columns(belief, steps):
    """Return what alarms take from a belief, several times."""
    found = {name: np.array([getattr(belief.report, name)] * steps) for name in WATCHED if name != "straying"}
    found |= {"ess": np.full(steps, belief.ess), "negative_mass": np.full(steps, belief.negative_mass)}
    found |= {"support_size": np.full(steps, len(belief)), "running": np.array([belief.report.running] * steps)}
    return {**found, "mean": np.stack([belief.mean()] * steps)}
