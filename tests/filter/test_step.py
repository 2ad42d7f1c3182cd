"""One step: five phases in their order, on a rule that does nothing but take notes; then on a real filter."""

import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest
from controlled_walk import data, fitted, online, push

from kmcf.bayes_rule import BayesRule, DensePosterior, Sample
from kmcf.filter.clock import Drive
from kmcf.filter.motion import Motion
from kmcf.filter.results.belief import Belief
from kmcf.filter.step import Move, Step
from kmcf.herding.resampling import Resampled
from kmcf.kernels import Gaussian

EXAMPLES = np.array([[0.0], [1.0], [2.0]])
PARTICLES = np.array([[5.0], [6.0]])
PRIOR = Sample(PARTICLES, np.array([0.25, 0.75]))
Y = np.array([[7.0]])
KERNEL = Gaussian(1.0)


@dataclass(eq=False)
class NotedRule(BayesRule):
    """Gives the weights it was told to give, whatever the prior and the observation, and notes who was asked what."""

    unnormalised: np.ndarray
    coverage: float = 0.5
    notes: list = field(default_factory=list)

    def predict(self, belief, control, rng):
        self.notes.append(("predict", belief, control, rng))
        return PRIOR

    def correct(self, prior, observation):
        self.notes.append(("correct", prior, observation))
        return DensePosterior(self, EXAMPLES, float(np.sum(self.unnormalised)), self.coverage, 0.75, self.unnormalised)

    def state_coverage(self, prior):
        self.notes.append(("state_coverage", prior))
        return 0.125

    def resampler(self, posterior, size, rng):
        self.notes.append(("resample", posterior.weights().tolist(), size, rng))
        return Resampled(np.array([2, 0]), 0.0625)

    def asked(self):
        return [note[0] for note in self.notes]


def noted(weights, *, rejecting=True, n_particles=4, **settings):
    rule = NotedRule(np.array(weights), **settings)
    return rule, Step(rule.predict, rule, rejecting, n_particles, KERNEL, ())


def before(rejections=2):
    return Belief(EXAMPLES, np.full(3, 1 / 3), time=4, stream=9, rejections=rejections)


# --- the phases -------------------------------------------------------------------------------------------------------


def test_the_five_phases_come_in_order_and_each_gets_what_the_one_before_made():
    rule, step = noted([0.5, -0.25, 0.25])
    belief, rng = before(), np.random.default_rng(0)
    after = step(belief, Y, "forward", rng)
    assert rule.asked() == ["predict", "correct", "resample"]
    predict, correct, resample = rule.notes
    assert predict[1] is belief
    assert predict[2:] == ("forward", rng)
    assert correct[1] is PRIOR
    assert correct[2] is Y
    assert resample[1:] == ([1.0, -0.5, 0.5], 4, rng)  # normalised: the weights sum to 1/2
    assert after.states is EXAMPLES
    np.testing.assert_array_equal(after.weights, [1.0, -0.5, 0.5])
    np.testing.assert_array_equal(after.resampled, [2, 0])
    assert (after.time, after.stream, after.rejections, after.kernel) == (5, 9, 2, KERNEL)
    report = after.report
    assert (report.weight_sum, report.herding_loss) == (0.5, 0.0625)
    assert (report.observation_coverage, report.state_coverage, report.coverage) == (0.5, 0.75, 0.5)
    assert (report.missing, report.rejected) == (False, False)


@pytest.mark.parametrize("rejecting", [True, False])
def test_without_observation_only_the_prediction_is_made(rejecting):
    rule, step = noted([1.0, 0.0, 0.0], rejecting=rejecting)
    after = step(before(), None, None, np.random.default_rng(0))
    assert rule.asked() == ["predict", "state_coverage"]
    assert rule.notes[1][1] is PRIOR
    assert_kept(after, rejections=2)
    assert (after.report.missing, after.report.rejected) == (True, False)
    assert after.report.state_coverage == 0.125
    assert np.isnan(after.report.observation_coverage)


def assert_kept(after, rejections):
    """The prediction is the belief, and goes on with its own weights."""
    assert after.states is PARTICLES
    np.testing.assert_array_equal(after.weights, PRIOR.weights)
    assert after.resampled is None
    assert (after.time, after.stream, after.rejections) == (5, 9, rejections)
    assert np.isnan(after.report.weight_sum)
    assert np.isnan(after.report.herding_loss)


# --- keep or reject ---------------------------------------------------------------------------------------------------

UNTRUSTED = {
    "zero": ([0.5, -0.5, 0.0], 0.5),
    "negative": ([0.5, -1.0, 0.0], 0.5),
    "nearly nothing": ([0.5, -0.4995, 0.0], 0.5),
    "like no example": ([0.5, 0.5, 0.0], 0.5e-8),
}


@pytest.mark.parametrize(("weights", "coverage"), UNTRUSTED.values(), ids=UNTRUSTED)
def test_a_correction_that_cannot_be_trusted_is_rejected(weights, coverage):
    rule, step = noted(weights, coverage=coverage)
    after = step(before(), Y, None, np.random.default_rng(0))
    assert rule.asked() == ["predict", "correct"]
    assert_kept(after, rejections=3)
    assert (after.report.missing, after.report.rejected) == (False, True)
    assert (after.report.observation_coverage, after.report.state_coverage) == (coverage, 0.75)


@pytest.mark.parametrize(("weights", "coverage"), [case for name, case in UNTRUSTED.items() if name != "zero"])
def test_the_printed_algorithm_normalises_whatever_does_not_vanish(weights, coverage):
    """Also a negative sum: dividing by it turns all signs round, and the weights sum to one."""
    rule, step = noted(weights, coverage=coverage, rejecting=False)
    after = step(before(), Y, None, np.random.default_rng(0))
    assert rule.asked() == ["predict", "correct", "resample"]
    np.testing.assert_array_equal(after.weights, np.array(weights) / sum(weights))
    assert after.weights.sum() == pytest.approx(1.0)
    assert after.report.weight_sum == sum(weights)
    assert (after.report.rejected, after.rejections) == (False, 2)


def test_weights_that_sum_to_zero_cannot_be_normalised():
    rule, step = noted([0.5, -0.5, 0.0], rejecting=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is divided by zero on the way
        with pytest.raises(FloatingPointError, match=r"sum to zero, so they cannot be normalised.*reject=True"):
            step(before(), Y, None, np.random.default_rng(0))
    assert rule.asked() == ["predict", "correct"]


@pytest.mark.parametrize("rejecting", [True, False])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_an_error_and_not_a_rejection(bad, rejecting):
    """A kernel or a solve failed: keeping the prediction would hide it."""
    rule, step = noted([0.5, bad, 0.0], rejecting=rejecting)
    with pytest.raises(FloatingPointError, match=r"not finite.*raise epsilon and delta"):
        step(before(), Y, None, np.random.default_rng(0))
    assert rule.asked() == ["predict", "correct"]


# --- start and prediction ---------------------------------------------------------------------------------------------


def test_the_initial_belief_is_equally_weighted_draws():
    _, step = noted([1.0, 0.0, 0.0])
    motion = Motion(push, lambda size, rng: rng.normal(size=(size, 1)), EXAMPLES, ())
    belief = step.initial(motion, stream=3, rng=np.random.default_rng(8))
    np.testing.assert_array_equal(belief.states, np.random.default_rng(8).normal(size=(4, 1)))
    np.testing.assert_array_equal(belief.weights, np.full(4, 0.25))
    assert (belief.time, belief.stream, belief.rejections, belief.resampled) == (0, 3, 0, None)


def test_particles_are_copies_of_what_was_resampled_in_turn():
    """Particle i is point i mod ℓ (Section 5.2), moved with the random numbers of its step."""
    move = Move(Motion(push, None, EXAMPLES, ()), 5)
    belief = Belief(EXAMPLES, np.array([0.5, 0.0, 0.5]), time=1, resampled=np.array([2, 0]))
    moved = move(belief, Drive(0.5), np.random.default_rng(1))
    expected = push(np.array([[2.0], [0.0], [2.0], [0.0], [2.0]]), 0.5, np.random.default_rng(1))
    np.testing.assert_array_equal(moved.states, expected)
    np.testing.assert_array_equal(moved.weights, np.full(5, 0.2))


def test_what_was_not_resampled_moves_with_its_weights_and_what_is_initial_stays():
    move = Move(Motion(push, None, EXAMPLES, ()), 5)
    weights = np.array([0.75, -0.25, 0.5])
    moved = move(Belief(EXAMPLES, weights, time=1), Drive(), np.random.default_rng(1))
    np.testing.assert_array_equal(moved.states, push(EXAMPLES, None, np.random.default_rng(1)))
    np.testing.assert_array_equal(moved.weights, weights)
    first = move(Belief(EXAMPLES, weights, time=0), Drive("ignored"), np.random.default_rng(1))
    np.testing.assert_array_equal(first.states, EXAMPLES)
    np.testing.assert_array_equal(first.weights, weights)


# --- in a filter ------------------------------------------------------------------------------------------------------


def test_a_step_changes_nothing_and_branches_share_their_noise():
    flt = fitted()
    observations, controls = data()
    trunk = online(flt, observations[:5], controls)[-1]
    before = trunk.weights.copy(), trunk.states.copy(), trunk.mean(), trunk.time
    left = flt.step(trunk, [0.5], 0.1)
    right = flt.step(trunk, [-2.0], 0.1)
    again = flt.step(trunk, [0.5], 0.1)
    np.testing.assert_array_equal(left.weights, again.weights)
    assert np.abs(left.mean() - right.mean()).max() > 0.01
    np.testing.assert_array_equal(flt.step(trunk, None, 0.1).states, flt.step(trunk, None, 0.1).states)
    for was, now in zip(before, (trunk.weights, trunk.states, trunk.mean(), trunk.time), strict=True):
        np.testing.assert_array_equal(was, now)


def test_a_missing_step_is_the_prediction_alone():
    """The particles are moved as they are: the same noise, no weights changed, no correction."""
    flt = fitted(resampling="none")
    observations, _controls = data()
    before = flt.step(flt.start(), observations[0])
    after = flt.step(before, None, 0.7)
    rng = np.random.default_rng(np.random.SeedSequence(flt.seed_, spawn_key=(0, 2)))
    np.testing.assert_allclose(after.states, push(before.states, 0.7, rng), rtol=1e-14)
    np.testing.assert_array_equal(after.weights, before.weights)
    assert after.report.missing
    assert not after.report.rejected
    assert np.isnan(after.report.weight_sum)
    assert np.isnan(after.report.herding_loss)
