"""Odometry: what the wheels report of a motion (turn, distance, turn)."""

from __future__ import annotations

import numpy as np

from kmcf.numerics.arrays import FloatArray


def measure_motions(motions: FloatArray, noise: FloatArray, rng: np.random.Generator) -> FloatArray:
    r"""Return motions as the wheels report them, with the four noise parameters of Table 5.6.

    The variances are :math:`\alpha_1 r_1^2 + \alpha_2 d^2` for the first turn, :math:`\alpha_3 d^2 + \alpha_4 (r_1^2 +
    r_2^2)` for the distance and :math:`\alpha_1 r_2^2 + \alpha_2 d^2` for the second turn.
    """
    first, distance, second = (motions**2).T
    one, two, three, four = noise
    variances = np.stack(
        [one * first + two * distance, three * distance + four * (first + second), one * second + two * distance],
        axis=1,
    )
    return np.asarray(motions + np.sqrt(variances) * rng.standard_normal(motions.shape))
