"""Alarms of the compiled filter: the same signals and reasons as NumPy's, however they are reached."""

import numpy as np
import pytest
from jax_cases import TEST

from kmcf.bayes_rule import Sample
from kmcf.compiled.step import predict
from kmcf.filter.clock import Drive
from kmcf.trust.thresholds import Thresholds


@pytest.fixture(scope="module")
def faulty():
    seen = np.array(TEST.observations[:24])
    seen[12:] += 6.0
    seen[5] = np.nan
    return seen


@pytest.fixture(scope="module")
def faulty_run(flt, faulty):
    return flt.filter(faulty)


def test_evidence_is_that_of_the_rule_on_numpy(flt, faulty, faulty_run):
    belief = flt.start()
    for t in (0, 1, 2):
        particles = np.asarray(predict(belief.device_state, Drive(), flt.backend_.settings))
        prior = Sample(particles, np.full(len(particles), 1 / len(particles)))
        expected = flt.rule_.correct(prior, faulty[t : t + 1]).evidence
        belief = flt.step(belief, faulty[t])
        np.testing.assert_allclose(belief.report.log_evidence, expected.predicted, rtol=1e-8)
        np.testing.assert_allclose(belief.report.relative_evidence, expected.ratio, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(faulty_run.log_evidence[t], expected.predicted, rtol=1e-8)


def test_distances_are_those_of_the_watch(flt, faulty, faulty_run):
    expected = [np.nan if np.isnan(y).any() else flt.backend_.watch.distance(y[None]) for y in faulty]
    np.testing.assert_allclose(faulty_run.observation_distance, expected)


@pytest.mark.slow
def test_alarms_are_decided_as_on_numpy(flt, faulty_run):
    """The thresholds' own decision about the run's columns, and that of the beliefs one by one."""
    assert isinstance(flt.alarm_thresholds_, Thresholds)
    assert faulty_run.alarm[12:].any()
    for t in range(24):
        assert faulty_run[t].alarm_reason == faulty_run.alarm_reason[t]


def test_one_step_after_the_other_gives_the_same_alarms(flt, faulty, faulty_run):
    belief = flt.start()
    for t, y in enumerate(faulty[:16]):
        belief = flt.step(belief, y)
        np.testing.assert_allclose(belief.report.running, faulty_run[t].report.running, atol=1e-10)
        shift = belief.report.residual_shift
        assert np.isnan(shift) == (t == 5)  # where the observation is missing
        np.testing.assert_allclose(shift, faulty_run[t].report.residual_shift, atol=1e-10)
        assert belief.alarm_reason == faulty_run.alarm_reason[t]


def test_batches_have_the_alarms_of_their_sequences(runs):
    assert runs.alarm.shape == runs.alarm_reason.shape == runs.ess.shape
    np.testing.assert_array_equal(runs[1].alarm, runs.alarm[1])
    assert np.isnan(runs.log_evidence[1, 2:5]).all()


def test_a_forecast_keeps_what_was_seen_before(flt, faulty):
    belief = flt.start()
    for y in faulty[:3]:
        belief = flt.step(belief, y)
    ahead = flt.forecast(belief, 2)
    np.testing.assert_allclose(ahead[1].report.running, belief.report.running)
