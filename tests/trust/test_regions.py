"""Probabilities of stretched and smoothed samples against closed forms."""

import numpy as np
import pytest
from scipy.stats import norm

from kmcf.trust.regions import Smoothed


def test_a_box_is_an_integral_over_a_mixture():
    rows, weights = np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([0.3, 0.7])
    mixture = Smoothed(rows, weights, np.array([0.5, 2.0]))
    sides = [
        norm.cdf(upper, rows[:, j], sd) - norm.cdf(-1, rows[:, j], sd) for j, upper, sd in ((0, 1, 0.5), (1, 3, 2))
    ]
    expected = np.sum(weights * sides[0] * sides[1])
    assert mixture.box(np.array([-1.0, -1.0]), np.array([1.0, 3.0])) == pytest.approx(expected)
    assert mixture.box(np.full(2, -np.inf), np.full(2, np.inf)) == pytest.approx(1.0)


def test_copies_stand_for_the_same_distribution():
    rng = np.random.default_rng(0)
    smoothed = Smoothed(rng.normal(size=(400, 1)), np.full(400, 1 / 400), np.array([0.8]))
    inside = np.abs(smoothed.copies()[:, 0]) < 1.0
    box = smoothed.box(np.array([-1.0]), np.array([1.0]))
    assert smoothed.share(inside.astype(float)) == pytest.approx(box, abs=0.02)
    np.testing.assert_array_equal(smoothed.copies(), smoothed.copies())


def test_stretching_moves_points_away_from_the_centre():
    stretched = Smoothed.stretched(
        np.array([[1.0], [4.0]]), np.array([0.5, 0.5]), np.array([2.0]), np.array([3.0]), np.array([0.1])
    )
    np.testing.assert_allclose(stretched.rows, [[-1.0], [8.0]])
    np.testing.assert_allclose(stretched.deviations, [0.3])


def test_signed_weights_stay_between_nothing_and_certainty():
    signed = Smoothed(np.array([[0.0], [5.0]]), np.array([1.5, -0.5]), np.array([0.1]))
    assert signed.box(np.array([-1.0]), np.array([1.0])) == 1.0
    assert signed.box(np.array([4.0]), np.array([6.0])) == 0.0


def test_angles_go_around():
    angle = Smoothed(np.array([[3.1]]), np.ones(1), np.array([0.2]), (0,))
    around = angle.box(np.array([2.5]), np.array([2.5 + 2 * np.pi]))
    assert around == pytest.approx(1.0, abs=1e-6)
    assert (np.abs(angle.copies()) <= np.pi).all()
