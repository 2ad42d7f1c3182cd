import numpy as np
import pytest

from kmcf.trust.rehearsal import blank_columns
from kmcf.trust.thresholds import Thresholds, tail_of, thresholds_from


def good_steps(steps, seed):
    """Steps whose signals are normal, two of them always equal."""
    rng = np.random.default_rng(seed)
    columns = blank_columns(steps)
    columns["observation_distance"] = columns["relative_evidence"] = rng.normal(size=steps)
    columns["negative_mass"], columns["support_size"] = rng.exponential(size=steps), np.full(steps, 100.0)
    columns["ess"], columns["state_coverage"] = np.exp(rng.normal(size=steps)), rng.uniform(size=steps)
    columns["running"] = np.column_stack([rng.normal(size=(steps, 3)), np.ones((steps, 2))])
    return columns


@pytest.mark.parametrize("rate", [0.01, 0.05])
def test_all_signals_together_keep_the_rate_on_new_steps(rate):
    """Twenty calibrations from 300 steps each: new steps raise fewer alarms than stated, but not far fewer."""
    new = good_steps(20_000, seed=99)
    shares = [thresholds_from(good_steps(300, seed), rate).decide(new)[0].mean() for seed in range(20)]
    assert rate / 20 < np.mean(shares) <= rate


def test_an_alarm_gives_the_reason_of_the_signal_that_is_furthest_out():
    thresholds = thresholds_from(good_steps(300, seed=0))
    odd = good_steps(4, seed=1) | {"negative_mass": np.array([50.0, 0.0, 0.0, 0.0])}
    odd["relative_evidence"] = np.array([0.0, -30.0, 0.0, 0.0])
    odd["observation_distance"] = np.array([0.0, 0.0, 30.0, 0.0])
    odd["ess"] = np.ones(4)
    alarm, reason = thresholds.decide(odd)
    assert alarm.tolist() == [True, True, True, False]
    assert reason.tolist() == ["cancelled weights", "lost", "unlike any example", ""]


def test_signals_that_are_not_known_raise_no_alarm():
    alarm, reason = thresholds_from(good_steps(300, seed=0)).decide(blank_columns(5))
    assert not alarm.any()
    assert set(reason.tolist()) == {""}
    alarm, _ = thresholds_from(blank_columns(0)).decide(good_steps(5, seed=1))
    assert not alarm.any()


def test_the_tail_of_an_exponential_sample_is_extrapolated():
    values = np.random.default_rng(0).exponential(size=100_000)
    assert tail_of(values).quantile(1e-3) == pytest.approx(np.log(1000), rel=0.03)


def test_thresholds_come_back_from_a_file():
    thresholds = thresholds_from(good_steps(300, seed=0))
    assert Thresholds.restored(thresholds.stored()) == thresholds
    with pytest.raises(ValueError, match="not those of this version"):
        Thresholds.restored({**thresholds.stored(), "levels": {"colour": 1.0}})
