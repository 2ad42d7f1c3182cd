"""A calibration keeps factors for corrections and for predictions, and comes back from a file as it was."""

import numpy as np
import pytest
from left_out_errors import overconfident

from kmcf.trust.calibration import Calibration


@pytest.fixture
def calibration():
    rng = np.random.default_rng(0)
    return Calibration.learn(overconfident(80, 2, rng), overconfident(90, 2, rng, shrink=1.0), left_out=True)


def test_each_kind_of_belief_has_its_own_factors(calibration):
    assert (calibration.kind(corrected=True).factors[-3] > 1.3 * calibration.kind(corrected=False).factors[-3]).all()
    assert calibration.count == 80
    assert "80 steps left out" in repr(calibration)


def test_it_comes_back_from_a_file_for_the_same_states_only(calibration):
    again = Calibration.restored(calibration.stored(), 2)
    np.testing.assert_array_equal(again.factor(0.93), calibration.factor(0.93))
    with pytest.raises(ValueError, match="not for states with 3 columns"):
        Calibration.restored(calibration.stored(), 3)
