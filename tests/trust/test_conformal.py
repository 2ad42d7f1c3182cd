"""Factors are such that stretched intervals and ellipses hold what they say on new steps of the same kind."""

import numpy as np
import pytest
from left_out_errors import ARMS, overconfident
from scipy.stats import chi2, norm

from kmcf.trust.conformal import (
    LEVELS,
    LeftOutErrors,
    Stretch,
    effective_number,
    ellipse_columns,
    mahalanobis,
    score_quantile,
)


def test_a_new_score_stays_below_the_quantile_as_often_as_wanted():
    rng = np.random.default_rng(0)
    for count, level in ((30, 0.9), (60, 0.95), (200, 0.5)):
        below = [
            1.0
            - np.exp(-score_quantile(rng.exponential(size=count), level, count))  # P(new ≤ quantile), in closed form
            for _ in range(2000)
        ]
        assert np.mean(below) == pytest.approx(level, abs=0.008)


def test_few_independent_scores_give_the_largest():
    scores = np.arange(50.0)
    assert score_quantile(scores, 0.95, 8.0) == 49.0
    assert score_quantile(scores, 0.95, 40.0) < 49.0


@pytest.mark.parametrize(("rho", "level"), [(0.6, 0.95), (0.8, 0.95), (0.8, 0.9), (0.9, 0.5)])
def test_of_scores_that_follow_each_other_too(rho, level):
    """Over many short calibrations, a new, independent score is below the quantile as often as wanted, or a bit more.

    Ranks of normal scores follow each other more closely than the largest ones do, which the count cannot know.
    """
    rng = np.random.default_rng(4)
    below, plain = [], []
    for _ in range(3000):
        noise = rng.normal(size=100)
        series = np.empty(100)
        series[0] = noise[0]
        for t in range(1, 100):
            series[t] = rho * series[t - 1] + np.sqrt(1 - rho**2) * noise[t]
        found = effective_number(series, np.zeros(100))
        below.append(norm.cdf(score_quantile(series, level, found)))
        plain.append(norm.cdf(np.quantile(series, level)))
    assert level - 0.01 < np.mean(below) < level + 0.02
    assert level == 0.5 or np.mean(plain) < level - 0.01  # what the raised level is for


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
def test_autocorrelated_scores_count_for_less(rho):
    rng = np.random.default_rng(1)
    series = np.zeros(20_000)
    for t in range(1, len(series)):
        series[t] = rho * series[t - 1] + rng.normal()
    # Ranks of a normal pair with correlation r have the correlation (6/π) asin(r/2).
    lags = 6 / np.pi * np.arcsin(rho ** np.arange(1, 200) / 2)
    expected = len(series) / (1 + 2 * lags[lags > 0.05].sum())
    assert effective_number(series, np.zeros(len(series))) == pytest.approx(expected, rel=0.1)


def test_pairs_of_different_sequences_do_not_count():
    scores = np.repeat(np.random.default_rng(2).normal(size=300), 2)
    ends = np.arange(600) % 2  # what repeats belongs to different sequences
    assert effective_number(scores, np.cumsum(ends == 0)) < 320
    assert effective_number(scores, np.arange(600)) == 600


def test_constant_scores_are_all_worth_one():
    assert effective_number(np.ones(10), np.zeros(10)) == 10


def test_stretched_intervals_hold_what_they_say_on_new_steps():
    rng = np.random.default_rng(3)
    stretch = Stretch.learn(overconfident(3000, 2, rng))
    new = overconfident(20_000, 2, rng)
    for level in (0.5, 0.8, 0.9, 0.95):
        arms = norm.ppf(0.5 + 0.5 * level) * new.below[:, 6] / ARMS[6]
        inside = [
            np.abs(error) <= stretch.arms(np.array([level]), arm[None], arm[None])[0][0]
            for error, arm in zip(new.from_median[:2000], arms[:2000], strict=True)
        ]
        np.testing.assert_allclose(np.mean(inside, axis=0), level, atol=0.03)


def test_stretched_ellipses_hold_what_they_say_on_new_steps():
    rng = np.random.default_rng(4)
    stretch = Stretch.learn(overconfident(3000, 3, rng, correlation=0.7))
    new = overconfident(5000, 3, rng, correlation=0.7)
    for columns in ([0, 1], [2, 0], [0, 1, 2]):
        distances = mahalanobis(
            new.from_mean[:, columns], new.scatter[:, columns][:, :, columns], stretch.variances[columns]
        )
        assert np.mean(distances <= stretch.radius(0.95, columns)) == pytest.approx(0.95, abs=0.02)


def test_equally_sure_beliefs_get_the_intervals_of_the_normal_distribution():
    rng = np.random.default_rng(5)
    errors = rng.normal(size=(20_000, 2))
    arms = np.broadcast_to(ARMS[:, None], (20_000, len(LEVELS), 2))
    scatter = np.broadcast_to(np.eye(2), (20_000, 2, 2))
    stretch = Stretch.learn(LeftOutErrors(arms, arms, errors, scatter, errors, np.zeros(20_000)))
    size = stretch.radius(0.95, (0, 1)) ** 2 * (1.0 + stretch.variances)
    np.testing.assert_allclose(size, chi2.ppf(0.95, 2), rtol=0.03)
    lower, upper = stretch.arms(LEVELS, arms[0], arms[0])
    np.testing.assert_allclose(lower, arms[0], rtol=0.06)
    np.testing.assert_allclose(upper, lower)


def test_noisy_arms_count_for_less_than_informative_ones():
    """What a belief says by itself is followed where it tells hard steps from easy ones, not where it is noise."""
    rng = np.random.default_rng(10)
    informative = overconfident(2000, 1, rng)
    noise = np.exp(1.5 * rng.normal(size=(2000, 1, 1))) * ARMS[:, None]
    sd_one = rng.normal(size=(2000, 1))
    misleading = LeftOutErrors(noise, noise, sd_one, noise[:, :1] ** 2, sd_one, np.zeros(2000))
    shares = [
        Stretch.learn(errors).floors[6, 0] / np.median(errors.below[:, 6, 0]) for errors in (informative, misleading)
    ]
    assert shares[0] <= 0.3
    assert shares[1] >= 1.0


def test_intervals_are_nested_whatever_the_arms():
    rng = np.random.default_rng(6)
    stretch = Stretch.learn(overconfident(40, 1, rng))
    levels = np.linspace(0.01, 0.999, 50)
    ragged = np.sort(rng.exponential(size=(50, 1)), axis=0)
    lower, upper = stretch.arms(levels, ragged, 2.0 * ragged)
    assert (np.diff(lower, axis=0) >= 0).all()
    assert (np.diff(upper, axis=0) >= 0).all()


def test_beliefs_that_are_single_points_get_an_interval():
    rng = np.random.default_rng(7)
    errors = rng.normal(size=(2000, 1))
    nothing = np.zeros((2000, len(LEVELS), 1))
    stretch = Stretch.learn(LeftOutErrors(nothing, nothing, errors, np.zeros((2000, 1, 1)), errors, np.zeros(2000)))
    lower, _ = stretch.arms(np.array([0.95]), np.zeros((1, 1)), np.zeros((1, 1)))
    assert lower[0, 0] == pytest.approx(1.96, rel=0.05)


def test_what_a_file_keeps_is_checked():
    stretch = Stretch.learn(overconfident(50, 2, np.random.default_rng(8)))
    again = Stretch.restored(stretch.stored())
    for name, value in stretch.stored().items():
        np.testing.assert_array_equal(getattr(again, name), value)
    with pytest.raises(ValueError, match="cannot be worth"):
        Stretch.restored({**stretch.stored(), "effective": np.nan})
    for name in ("floors", "factors", "variances", "radii"):
        for damage in (np.full_like(getattr(stretch, name), np.nan), -1.0 - getattr(stretch, name), np.zeros((1, 7))):
            with pytest.raises(ValueError, match="calibration"):
                Stretch.restored({**stretch.stored(), name: damage})


def test_states_with_many_columns_have_no_ellipses():
    assert ellipse_columns(9) == []
    assert Stretch.learn(overconfident(50, 9, np.random.default_rng(9))).radius(0.9, (0, 1)) is None


def test_errors_that_are_reached_anyway_need_no_wider_intervals():
    """A tenth of the errors is large; where states beyond the examples reach them, factors are those of the others."""
    rng = np.random.default_rng(4)
    errors = overconfident(4000, 2, rng)
    far = rng.random(4000) < 0.1
    wide = errors._replace(from_median=np.where(far[:, None], 50.0, errors.from_median))
    reached = np.broadcast_to(far[:, None, None], errors.below.shape)
    plain, known = Stretch.learn(wide), Stretch.learn(wide._replace(reached=reached))
    k = int(np.searchsorted(LEVELS, 0.95))
    assert (plain.factors[k] > 4.0 * known.factors[k]).all()
    below, above = (np.hypot(arm[:, k], known.floors[k]) for arm in (errors.below, errors.above))
    error = errors.from_median
    inside = np.abs(error) <= known.factors[k] * np.where(error > 0, above, below)
    held = np.where(far[:, None], True, inside).mean(axis=0)
    np.testing.assert_allclose(held, 0.95, atol=0.01)
    low = int(np.searchsorted(LEVELS, 0.5))  # at low levels nothing changes
    assert (known.factors[low] > 0).all()
    np.testing.assert_array_equal(known.factors[:low], plain.factors[:low])
