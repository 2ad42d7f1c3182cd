import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from kmcf.kernels import Circular

ANGLES = np.random.default_rng(0).uniform(-10, 10, size=(9, 1))


def test_circular_is_gaussian_in_the_chord():
    # the chord of an angle a is 2 |sin(a / 2)|
    expected = [[np.exp(-((2 * np.sin((x - y) / 2)) ** 2) / (2 * 0.4**2)) for y in ANGLES[:, 0]] for x in ANGLES[:, 0]]
    np.testing.assert_allclose(Circular(0.4)(ANGLES), expected, rtol=1e-12)


def test_several_angles_multiply():
    pairs = np.hstack([ANGLES, ANGLES[::-1]])
    product = Circular(0.4)(pairs[:, :1]) * Circular(0.4)(pairs[:, 1:])
    np.testing.assert_allclose(Circular(0.4)(pairs), product, rtol=1e-12)


@given(turn=st.floats(-20, 20), laps=st.integers(-5, 5))
def test_circular_does_not_see_rotations_and_laps(turn, laps):
    kernel = Circular(0.5)
    np.testing.assert_allclose(
        kernel(ANGLES + turn, ANGLES + turn + 2 * np.pi * laps), kernel(ANGLES), rtol=1e-9, atol=1e-12
    )


def test_learnt_bandwidth_is_the_median_chord():
    chords = pdist(ANGLES, lambda x, y: 2 * abs(np.sin((x[0] - y[0]) / 2)))
    assert Circular(multiplier=0.5).fit(ANGLES).bandwidth_ == pytest.approx(0.5 * np.median(chords), rel=1e-12)


def test_some_of_the_angles_with_bandwidths_of_their_own():
    pairs, widths = np.hstack([ANGLES, ANGLES[::-1]]), np.array([0.4, 0.7, 0.4, 0.7])
    restricted = Circular(widths).restricted(np.array([1]))
    np.testing.assert_allclose(restricted(pairs[:, 1:]), Circular(0.7)(pairs[:, 1:]), rtol=1e-12)
    np.testing.assert_allclose(Circular(0.4).restricted(np.array([1]))(ANGLES), Circular(0.4)(ANGLES), rtol=1e-12)
