"""Columns that changed are found one by one; the truth is the change that was made."""

import numpy as np
import pytest

from kmcf.adaptation.column_changes import changed_columns, left_out_gains
from kmcf.adaptation.observation_moments import ObservationMoments
from kmcf.kernels import Gaussian

RNG = np.random.default_rng(0)
SLOPES = np.array([1.0, -2.0, 0.5, 3.0])


def sensor(states):
    return states * SLOPES + 0.3 * RNG.normal(size=(len(states), 4))


STATES = RNG.normal(size=(200, 1))
MOMENTS = ObservationMoments.of(Gaussian(0.5).fit(STATES), STATES, sensor(STATES), 1e-3)
NEW = RNG.normal(size=(25, 1))
SEEN = sensor(NEW)


@pytest.mark.parametrize(
    ("scale", "shift", "name"),
    [
        ([1.0, 1.0, 1.0, 1.0], [0.0, 3.0, 0.0, 0.0], "shift"),
        ([1.0, 1.0, 1.0, 0.3], [0.0, 0.0, 0.0, 1.0], "shift and scale"),
    ],
)
def test_the_column_that_changed_is_found_and_the_others_are_left_alone(scale, shift, name):
    scale, shift = np.array(scale), np.array(shift)
    seen = scale * SEEN + shift
    found = changed_columns(NEW, seen, MOMENTS)
    assert found.name == name
    np.testing.assert_array_equal(found.columns, (shift != 0) | (scale != 1))
    change = found.estimated(NEW, seen, MOMENTS)
    np.testing.assert_allclose(change.shift, shift, atol=0.4)
    np.testing.assert_allclose(change.scale, scale, rtol=0.2)
    np.testing.assert_array_equal(change.shift[~found.columns], 0.0)
    gain, error = found.gain
    assert gain > 1.64 * error > 0.0


def test_nothing_is_found_where_nothing_changed():
    found = changed_columns(NEW, SEEN, MOMENTS)
    assert found.name == "unchanged"
    assert found.gain == (0.0, 0.0)
    np.testing.assert_array_equal(found.estimated(NEW, SEEN, MOMENTS).scale, 1.0)


def test_gains_are_of_pairs_that_the_change_was_not_estimated_from():
    """One pair that is far off cannot speak for itself."""
    seen = SEEN.copy()
    seen[3, 0] += 50.0
    gains = left_out_gains(NEW, seen, MOMENTS, scaled=False)
    assert abs(gains[3, 0]) < 1.0
