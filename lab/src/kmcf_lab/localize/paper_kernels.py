"""Kernels that Section 6.3 describes: a Gaussian on poses in R⁴, a Gaussian on differences of odometry."""

from __future__ import annotations

import numpy as np

from kmcf.kernels import Gaussian
from kmcf.kernels.base import as_rows
from kmcf.numerics.arrays import Array
from kmcf.numerics.circles import on_circles
from kmcf.numerics.objects import Objects


class PaperPose(Gaussian):
    """Gaussian on (x, y, cos heading, sin heading) with one bandwidth for all four numbers.

    Examples
    --------
    >>> kernel = PaperPose(1.0)
    >>> kernel([[0.0, 0.0, 0.0]], [[0.0, 0.0, np.pi]]).round(4)  # opposite points of the unit circle
    array([[0.1353]])
    """

    def rows(self, objects: Objects) -> Array:
        """Replace the heading by a point of the unit circle."""
        return on_circles(as_rows(objects, self), [2])


class OdometryDifference(Gaussian):
    """Gaussian on the difference of odometry poses, seen from the first: (forward, sideways, turn).

    Controls are motions (rotation, translation, rotation). The paper does not say in whose coordinates its differences
    are; seen from the robot they do not depend on how it happened to stand when the odometry was set to zero.

    Examples
    --------
    >>> kernel = OdometryDifference(1.0)
    >>> kernel([[0.0, 1.0, 0.0]], [[np.pi, -1.0, -np.pi]]).round(4)  # forward; turn, backward, turn back
    array([[1.]])
    """

    def rows(self, objects: Objects) -> Array:
        """Turn motions into differences."""
        first, distance, second = as_rows(objects, self).T
        return np.stack([distance * np.cos(first), distance * np.sin(first), first + second], axis=1)
