"""What the learnt kernel sees."""

import numpy as np

from kmcf.kernels.learned.inputs import RobustInputs


def test_inputs_are_robust_and_stay_in_range():
    rows = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [1000.0, 5.0]])
    inputs = RobustInputs(rows)
    z = inputs(rows)
    np.testing.assert_allclose(z[:, 0], np.arcsinh((rows[:, 0] - 1.5) / 1.0))
    np.testing.assert_allclose(z[:, 1], 0.0)
    np.testing.assert_allclose(inputs(np.array([[1e9, 5.0]])), z[3:4])
