"""What a belief says about its uncertainty, before and after calibration."""

import numpy as np
import pytest
from left_out_errors import overconfident
from scipy.stats import chi2, norm

from kmcf.embedding import Embedding
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.step_report import StepReport
from kmcf.trust.calibration import Calibration

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=(4000, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
EQUAL = np.full(4000, 1 / 4000)


@pytest.fixture(scope="module")
def calibration():
    rng = np.random.default_rng(1)
    return Calibration.learn(overconfident(400, 2, rng), overconfident(400, 2, rng, shrink=1.0), left_out=True)


def belief(calibration, **more):
    return Belief(NORMAL, EQUAL, time=1, calibration=calibration, **more)


def test_without_calibration_everything_is_as_computed():
    plain, bare = belief(None), Embedding(NORMAL, EQUAL)
    np.testing.assert_array_equal(plain.interval(0.8), bare.interval(0.8))
    np.testing.assert_allclose(plain.intervals([0.95, 0.5])[1], bare.interval(0.5))
    assert plain.probability((-1.0, 1.0)) == bare.probability((-1.0, 1.0))


def test_intervals_are_stretched_and_nested(calibration):
    known = belief(calibration)
    levels = [0.3, 0.5, 0.72, 0.9, 0.95, 0.97, 0.999]
    bounds = known.intervals(levels)
    assert (np.diff(bounds[:, 0], axis=0) <= 0).all()
    assert (np.diff(bounds[:, 1], axis=0) >= 0).all()
    for level, bound in zip(levels, bounds, strict=True):
        np.testing.assert_array_equal(known.interval(level), bound)
    raw = Embedding(NORMAL, EQUAL)
    median = raw.quantile(0.5)
    lower, upper = raw.interval(0.95)
    floor, factor = calibration.corrected.floors[6], calibration.corrected.factors[6]
    np.testing.assert_allclose(known.interval()[0], median - factor * np.hypot(median - lower, floor))
    np.testing.assert_allclose(known.interval()[1], median + factor * np.hypot(upper - median, floor))


@pytest.mark.parametrize("level", ["95", None, True])
def test_levels_that_are_no_numbers(level, calibration):
    for known in (None, calibration):
        made = belief(calibration=known)
        with pytest.raises(TypeError, match=r"level = .*; it must be a number between 0 and 1, as 0\.95\."):
            made.interval(level)
        with pytest.raises(TypeError, match=r"it must be a number between 0 and 1"):
            made.intervals([level])


def test_predictions_have_factors_of_their_own(calibration):
    missing = belief(calibration, report=StepReport(missing=True))
    rejected = belief(calibration, report=StepReport(rejected=True))
    np.testing.assert_array_equal(missing.interval(), rejected.interval())
    assert (np.ptp(missing.interval(), axis=0) < np.ptp(belief(calibration).interval(), axis=0)).all()
    assert not missing.corrected


def test_the_ellipse_of_a_normal_sample_is_the_normal_one():
    ellipse = belief(None).ellipse(0.9)
    np.testing.assert_allclose(ellipse.matrix, chi2.ppf(0.9, 2) * np.cov(NORMAL.T, bias=True), rtol=1e-9)
    assert ellipse.contains(NORMAL).mean() == pytest.approx(0.9, abs=0.02)
    whole = belief(None).ellipse(0.9, columns=None)
    np.testing.assert_array_equal(whole.matrix, ellipse.matrix)


def test_calibrated_ellipses_use_the_learnt_radius(calibration):
    stretch, known = calibration.corrected, belief(calibration)
    ellipse = known.ellipse(0.95, (1, 0))
    expected = known.scatter()[::-1, ::-1] + np.diag(stretch.variances[::-1])
    np.testing.assert_allclose(ellipse.matrix, stretch.radius(0.95, (0, 1)) ** 2 * expected)


def test_scatter_is_a_covariance_whatever_the_weights():
    rng = np.random.default_rng(2)
    weights = rng.normal(size=4000)
    signed = Embedding(NORMAL, weights / weights.sum())
    assert (np.linalg.eigvalsh(signed.scatter()) >= 0).all()
    positive = np.maximum(weights / weights.sum(), 0.0)
    np.testing.assert_allclose(signed.scatter(), np.cov(NORMAL.T, aweights=positive, ddof=0), rtol=1e-9)
    turned = Embedding(np.array([[3.0], [-3.0]]), np.array([0.5, 0.5]), angles=(0,))
    np.testing.assert_allclose(turned.scatter(), (np.pi - 3.0) ** 2)


def test_calibrated_probabilities_agree_with_the_stretched_normal(calibration):
    known = belief(calibration)
    k = 6
    factor, floor = calibration.corrected.factors[k], calibration.corrected.floors[k]
    sd = factor * np.hypot(NORMAL.std(axis=0), floor / norm.ppf(0.975))
    expected = norm.cdf(1.0, scale=sd[0]) - norm.cdf(-0.5, scale=sd[0])
    box = ([-0.5, -np.inf], [1.0, np.inf])
    assert known.probability(box) == pytest.approx(expected, abs=0.02)
    asked = known.probability(lambda x: (x[:, 0] > -0.5) & (x[:, 0] < 1.0))
    assert asked == pytest.approx(known.probability(box), abs=0.01)
    assert known.probability(lambda x: x[:, 0] > -np.inf) == pytest.approx(1.0)
    with pytest.raises(TypeError, match="region is a function"):
        known.probability(3)


def test_crps_is_that_of_a_normal_distribution():
    truth = np.array([0.7, -1.1])
    z = truth / NORMAL.std(axis=0)
    closed = NORMAL.std(axis=0) * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    assert belief(None).crps(truth) == pytest.approx(closed.mean(), rel=0.03)


def test_calibrated_crps_is_that_of_the_calibrated_intervals(calibration):
    known, truth = belief(calibration), np.array([0.7, -1.1])
    levels = np.linspace(0.0005, 0.9995, 1000)
    bounds = known.intervals(levels)
    quantiles = np.concatenate([bounds[::-1, 0], bounds[:, 1]])
    at = np.concatenate([0.5 - 0.5 * levels[::-1], 0.5 + 0.5 * levels])[:, None]
    losses = np.where(truth >= quantiles, at * (truth - quantiles), (1 - at) * (quantiles - truth))
    assert known.crps(truth) == pytest.approx(2 * losses.mean(), rel=0.01)


def test_angles_reach_half_around_at_most():
    rng = np.random.default_rng(3)
    angles = rng.vonmises(3.0, 0.5, size=(500, 1))
    errors = overconfident(100, 1, rng, shrink=0.05)
    calibration = Calibration.learn(errors, errors, left_out=True)
    turning = Belief(angles, np.full(500, 1 / 500), angles=(0,), time=1, calibration=calibration)
    assert np.ptp(turning.interval(0.99)) <= 2 * np.pi
    assert turning.crps([3.0]) == pytest.approx(turning.crps([3.0 - 2 * np.pi]))
    plain = Belief(angles, np.full(500, 1 / 500), angles=(0,), time=1)
    assert plain.crps([3.0]) == pytest.approx(plain.crps([3.0 - 2 * np.pi]))


def test_bad_questions_get_a_sentence(calibration):
    known = belief(calibration)
    with pytest.raises(ValueError, match=r"level = 1.2"):
        known.interval(1.2)
    with pytest.raises(ValueError, match="less than 1"):
        known.ellipse(1.0)
    with pytest.raises(ValueError, match="different columns"):
        known.ellipse(columns=(0, 2))
    with pytest.raises(ValueError, match="2 columns"):
        known.crps([1.0])
