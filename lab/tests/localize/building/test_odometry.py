"""Odometry as the wheels report it."""

import numpy as np

from kmcf_lab.localize.building.odometry import measure_motions


def test_noise_has_the_variances_of_table_5_6():
    motion, (one, two, three, four) = np.array([0.5, 2.0, -0.3]), (0.01, 0.02, 0.03, 0.04)
    rng = np.random.default_rng(0)
    measured = measure_motions(np.tile(motion, (100_000, 1)), np.array([one, two, three, four]), rng)
    variances = [one * 0.25 + two * 4, three * 4 + four * (0.25 + 0.09), one * 0.09 + two * 4]
    np.testing.assert_allclose(measured.mean(axis=0), motion, atol=0.01)
    np.testing.assert_allclose(measured.var(axis=0), variances, rtol=0.03)
