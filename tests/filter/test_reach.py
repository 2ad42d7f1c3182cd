"""Intervals where the examples end: they reach out, and nothing else changes."""

from dataclasses import replace

import numpy as np
import pytest

import kmcf
from kmcf.datasets import paper_model
from kmcf.filter.reach import BACK, LEAVING, Reach
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.step_report import StepReport
from kmcf.filter.step import Step

MODEL = paper_model("3a")
POOL = MODEL.simulate(400, random_state=(1, 2))
KNOWN = np.flatnonzero(np.abs(POOL.states[:, 0]) <= 2.0)[:100]
TEST = MODEL.simulate(250, random_state=(1, 3))
FAR = np.abs(TEST.states[:, 0]) > 3.0


@pytest.fixture(scope="module")
def flt():
    made = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=0)
    return made.fit(POOL.states[KNOWN], POOL.observations[KNOWN])


@pytest.fixture(scope="module")
def run(flt):
    return flt.filter(TEST.observations)


def held(run):
    return ((TEST.states >= run.interval[:, 0]) & (TEST.states <= run.interval[:, 1])).all(axis=1)


def without_reach(flt):
    same = flt.with_transition(flt.transition)
    same.backend_ = replace(same.backend_, advance=replace(same.backend_.advance, reach=None))
    return same


def test_intervals_hold_most_states_beyond_the_examples(flt, run):
    assert FAR.sum() > 20
    assert held(run)[FAR].mean() >= 0.8
    assert held(without_reach(flt).filter(TEST.observations))[FAR].mean() < 0.2


@pytest.mark.slow
def test_calibrated_intervals_reach_out_too(flt, run):
    same = flt.with_transition(flt.transition).calibrate(POOL.states[KNOWN], POOL.observations[KNOWN])
    again = same.filter(TEST.observations)
    assert held(again)[FAR].mean() >= 0.8
    np.testing.assert_array_equal(again.mean, run.mean)
    belief = next(one for one in again if one.beyond is not None)
    assert (np.diff(belief.intervals([0.5, 0.9, 0.99])[:, 1, 0]) >= 0.0).all()


@pytest.mark.slow
def test_estimates_do_not_change():
    some = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=0)
    some.fit(POOL.states[:150], POOL.observations[:150])  # wherever they are, so that predictions are seldom outside
    run, plain = some.filter(TEST.observations), without_reach(some).filter(TEST.observations)
    for name in ("mean", "covariance", "ess", "log_evidence", "observation_distance"):
        np.testing.assert_array_equal(getattr(run, name), getattr(plain, name), err_msg=name)
    inside = np.array([belief.beyond is None for belief in run])
    assert 0.05 < inside.mean() < 0.95
    np.testing.assert_array_equal(run.interval[inside], plain.interval[inside])
    assert (run.interval[:, 1] >= plain.interval[:, 1]).all()


def test_one_step_after_the_other_gives_the_same_intervals(flt, run):
    belief = flt.start()
    for t in range(40):
        belief = flt.step(belief, TEST.observations[t])
        np.testing.assert_array_equal(belief.interval(), run.interval[t])


def test_an_interval_is_the_union_with_that_of_the_states_beyond():
    states, beyond = np.linspace(0.0, 1.0, 11)[:, None], np.linspace(2.0, 4.0, 101)[:, None]
    plain = Belief(states, np.full(11, 1 / 11), time=1)
    wide = Belief(states, np.full(11, 1 / 11), time=1, report=StepReport(beyond=beyond))
    lower, upper = plain.interval(0.9)
    assert wide.interval(0.9).ravel().tolist() == pytest.approx([lower[0], 3.9])
    np.testing.assert_allclose(wide.intervals([0.9])[0], wide.interval(0.9))
    assert upper[0] <= 1.0
    spread = ((beyond[:, 0] - 0.5) ** 2).mean()
    np.testing.assert_allclose(
        wide.ellipse(0.9, None).matrix, plain.ellipse(0.9, None).matrix * (1.0 + spread / plain.scatter()[0, 0])
    )


def test_states_are_followed_only_while_the_prediction_is_beyond(flt):
    """Of 256 predicted states, some are beyond 2: they start to be followed at one share, and stop at a lower one."""
    reach, rng = Reach(flt._motion()), np.random.default_rng(0)

    def after(before, share):
        states = np.where(np.arange(256) < share * 256, 2.5, 0.0)[:, None]
        belief = Belief(states, np.full(256, 1 / 256), time=3, report=StepReport(beyond=before))
        return reach.beyond(belief, kmcf.bayes_rule.Sample(states, np.full(256, 1 / 256)), _DRIVE, rng)

    assert after(None, LEAVING - 0.05) is None
    left = after(None, LEAVING + 0.05)
    assert (left == 2.5).all()
    assert after(left, BACK - 0.05) is None
    assert len(after(left, (BACK + LEAVING) / 2)) == 256


def test_a_transition_that_knows_nothing_out_there_does_no_harm(flt):
    def careful(states, _control, rng):
        if (np.abs(states) > 2.2).any():
            raise IndexError("off the map")
        return states + rng.normal(scale=0.15, size=states.shape)

    same = flt.with_transition(careful)
    assert isinstance(same.backend_.advance, Step)
    ends = np.full((6, 1), 1.98)
    found = Belief(ends, np.full(6, 1 / 6), time=2, report=StepReport(beyond=np.full((5, 1), 3.0)))
    assert (same.step(found, None).report.beyond < 3.0).all()


_DRIVE = kmcf.filter.clock.Drive()


def test_states_go_on_while_observations_contradict_the_examples(flt):
    """Then the prediction may be back: it is not believed, nothing that left just now is added, and moves are wider."""
    loose = flt.with_transition(lambda states, _control, rng: states + rng.normal(size=states.shape))
    reach, rng = Reach(loose._motion()), np.random.default_rng(0)
    columns = POOL.observations.shape[1]
    far, weights = np.full((4000, 1), 1000.0), np.full(256, 1 / 256)

    def after(states, residual):
        running = np.array([np.zeros(columns), np.full(columns, residual)])
        report = StepReport(beyond=far, running_observation=running)
        belief = Belief(states, weights, time=3, report=report)
        return reach.beyond(belief, kmcf.bayes_rule.Sample(states, weights), _DRIVE, rng)

    inside, leaving = np.zeros((256, 1)), np.where(np.arange(256) < 64, 2.5, 0.0)[:, None]
    assert after(inside, 0.1) is None
    assert (after(inside, 1.0) > 900.0).all()
    usual, odd = after(leaving, 0.1), after(leaving, 1.0)
    assert (usual < 900.0).sum() == 32
    assert (odd > 900.0).all()
    assert len(usual) == len(odd) == 256
    assert usual[usual > 900.0].var() == pytest.approx(1.0, rel=0.4)
    assert odd.var() == pytest.approx(2.0, rel=0.4)
