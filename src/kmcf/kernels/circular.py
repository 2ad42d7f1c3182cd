"""A kernel for angles."""

from __future__ import annotations

from typing import Self

import numpy as np

from kmcf.kernels.base import as_rows
from kmcf.kernels.stationary import Gaussian
from kmcf.numerics.arrays import Array, IntArray, array_namespace
from kmcf.numerics.objects import Objects
from kmcf.support.estimators import clone


class Circular(Gaussian):
    """Gaussian kernel on angles, each mapped to the unit circle: 359° and 1° are neighbours.

    Every column is an angle in radians. The distance is that of the points (cos a, sin a) in the plane; the median
    heuristic uses the same distance.

    Parameters
    ----------
    bandwidth : float, optional
        In units of the chord (for small differences, radians). None: ``multiplier`` times the median chord.
    multiplier : float
        Factor on the median.

    Examples
    --------
    >>> import numpy as np
    >>> Circular(0.5)([[0.01]], [[2 * np.pi - 0.01]]).round(3)
    array([[0.999]])
    """

    def restricted(self, columns: IntArray) -> Self:
        """Keep the bandwidths of both coordinates of the angles, if each has its own."""
        widths = np.asarray(self.bandwidth)
        if widths.ndim == 0:
            return clone(self)
        return clone(self).set_params(bandwidth=np.concatenate([half[columns] for half in np.split(widths, 2)]))

    def rows(self, objects: Objects) -> Array:
        """Return points of the unit circle, two numbers per angle."""
        angles = as_rows(objects, self)
        xp = array_namespace(angles)
        return xp.concat([xp.cos(angles), xp.sin(angles)], axis=1)
