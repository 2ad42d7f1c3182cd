import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from kmcf.numerics.circles import circular_mean, wrapped_columns, wrapped_difference


@pytest.mark.parametrize(
    ("angle", "wrapped"),
    [
        (0.0, 0.0),
        (np.pi, np.pi),
        (-np.pi, np.pi),
        (3 * np.pi / 2, -np.pi / 2),
        (-3 * np.pi / 2, np.pi / 2),
        (2 * np.pi, 0.0),
        (7.0, 7.0 - 2 * np.pi),
        (-100.0, -100.0 + 32 * np.pi),
    ],
)
def test_known_differences(angle, wrapped):
    assert wrapped_difference(np.array([angle]))[0] == pytest.approx(wrapped, abs=1e-12)


@given(angle=st.floats(-1e4, 1e4))
def test_wrapping_keeps_the_direction_and_the_range(angle):
    wrapped = float(wrapped_difference(np.array([angle]))[0])
    assert -np.pi <= wrapped <= np.pi
    assert np.exp(1j * wrapped) == pytest.approx(np.exp(1j * angle), abs=1e-9)


@given(angle=st.floats(-3.14, 3.14), laps=st.integers(-10, 10))
def test_laps_do_not_matter(angle, laps):
    assert wrapped_difference(np.array([angle + 2 * np.pi * laps]))[0] == pytest.approx(angle, abs=1e-12)


def test_circular_mean_equals_scipy_for_equal_weights():
    angles = np.random.default_rng(0).normal(3.0, 0.5, size=50)
    expected = stats.circmean(angles, high=np.pi, low=-np.pi)
    assert circular_mean(angles, np.full(50, 1 / 50)) == pytest.approx(expected, abs=1e-12)


def test_circular_mean_across_the_seam():
    assert abs(circular_mean(np.array([np.pi - 0.1, -np.pi + 0.1]), np.array([0.5, 0.5]))) == pytest.approx(np.pi)
    assert circular_mean(np.array([np.pi - 0.1, -np.pi + 0.3]), np.array([0.5, 0.5])) == pytest.approx(-np.pi + 0.1)


def test_circular_mean_is_the_direction_of_the_weighted_resultant():
    angles, weights = np.array([0.3, 2.0, -1.0]), np.array([0.8, 0.5, -0.3])
    resultant = sum(w * np.exp(1j * a) for a, w in zip(angles, weights, strict=True))
    assert circular_mean(angles, weights) == pytest.approx(np.angle(resultant), abs=1e-14)


@given(turn=st.floats(-10, 10), seed=st.integers(0, 50))
def test_turning_all_angles_turns_the_mean(turn, seed):
    rng = np.random.default_rng(seed)
    angles, weights = rng.normal(size=6), rng.dirichlet(np.ones(6))
    turned = circular_mean(angles + turn, weights)
    assert np.exp(1j * turned) == pytest.approx(np.exp(1j * (circular_mean(angles, weights) + turn)), abs=1e-9)


def test_columns_that_are_not_there_are_named():
    for columns in ((2,), (0.5,), (-3,)):
        with pytest.raises(ValueError, match="but the columns are 0 to 1"):
            wrapped_columns(np.zeros((4, 2)), columns)
