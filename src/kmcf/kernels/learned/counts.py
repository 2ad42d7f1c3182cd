"""A kernel for counts: spikes, photons, words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcf.kernels.kernel import Kernel
from kmcf.kernels.learned.kernel import Learned, Learning
from kmcf.kernels.learned.poisson import CountInputs, PoissonProfile
from kmcf.kernels.stationary import Gaussian
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects

MULTIPLIER = 0.5
LARGEST_TYPICAL_COUNT = 20
"""Above this, the square root of a count is nearly normal, and kernels for vectors serve as well."""


class Counts(Learned):
    r"""Kernel for vectors of counts: two are similar if they speak for the same states.

    :math:`k(y, y') = \exp(-\|s(y) - s(y')\|^2 / 2\sigma^2)`, where :math:`s(y)^2` is a distribution over 150 of the
    example states: their posterior, tempered, if the counts are Poisson with rates that are learnt by smoothing the
    examples over the states. The distance is Hellinger's between these distributions. A vector of zeros is an
    observation like any other, with similarity 1 to itself: silence, too, says something about the state.

    Nothing has to be Poisson: rates, their smoothness and the temper, which makes up for counts that are more variable
    or not independent, are chosen by how well left-out examples are predicted.

    Parameters
    ----------
    kernel : Kernel, optional
        Kernel on s(y). None: Gaussian at half the median distance.
    angles : sequence of int, optional
        State columns that are angles in radians. None: those given to the filter.
    random_state : int
        Seed of the choice of 1500 training examples where there are more.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> places = rng.uniform(0.0, 1.0, size=(200, 1))
    >>> spikes = rng.poisson(4.0 * np.exp(-0.5 * ((places - [0.2, 0.5, 0.8]) / 0.1) ** 2))
    >>> kernel = Counts().fit(spikes, places)
    >>> kernel([[0, 0, 0], [4, 0, 0]], [[0, 0, 0], [5, 0, 0], [0, 0, 4]]).round(1)
    array([[1. , 0.2, 0.2],
           [0.2, 1. , 0. ]])
    """

    regressor = None
    features = None
    folds = 5

    def __init__(
        self, kernel: Kernel | None = None, angles: Sequence[int] | None = None, random_state: int = 0
    ) -> None:
        self.kernel = kernel
        self.angles = angles
        self.random_state = random_state

    def _learn(self, rows: FloatArray, states: FloatArray, training: IntArray) -> Learning:
        inputs = CountInputs(rows)
        profile = PoissonProfile(rows[training], states[training], self._angles(states.shape[1]))
        return Learning(inputs, np.ones(len(profile.places)), profile)

    def default_kernel(self) -> Kernel:
        """Return a Gaussian at half the median distance."""
        return Gaussian(multiplier=MULTIPLIER)

    def _rows(self, objects: Objects) -> FloatArray:
        rows = super()._rows(objects)
        bad = ~(np.isfinite(rows) & (rows >= 0))
        if bad.any():
            number, column = np.argwhere(bad)[0]
            raise ValueError(
                f"Counts compares counts, which are non-negative and finite, but entry {column} of object {number} is "
                f"{rows[number, column]}; use a kernel for vectors."
            )
        return rows


def look_like_counts(observations: Any) -> bool:
    """Return whether an array holds non-negative whole numbers, most of them small.

    Examples
    --------
    >>> look_like_counts(np.array([[0, 3], [1, 0]])), look_like_counts(np.array([[0.5, 3.0]]))
    (True, False)
    >>> look_like_counts(np.array([[200, 180], [90, 255]]))
    False
    """
    values = np.asarray(observations)
    if values.dtype.kind not in "uif" or not values.size:
        return False
    whole = np.isfinite(values).all() and (values >= 0).all() and (values == np.floor(values)).all()
    return bool(whole and values.max() > 1 and np.median(values) <= LARGEST_TYPICAL_COUNT)
