"""A kernel for poses: position and heading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from kmcf.kernels.base import Neighbourhood, as_rows
from kmcf.kernels.circular import Circular
from kmcf.kernels.columns import Columns
from kmcf.kernels.kernel import Kernel, Product
from kmcf.kernels.stationary import Gaussian
from kmcf.numerics.arrays import Array, array_namespace
from kmcf.numerics.objects import Objects, as_objects


class Pose(Kernel):
    r"""Kernel on poses (x, y, heading): Gaussian in the position times :class:`Circular` in the heading.

    .. math:: k = \exp\!\left(-\frac{\|p - p'\|^2}{2\sigma_p^2}\right)
              \exp\!\left(-\frac{|e^{i\theta} - e^{i\theta'}|^2}{2\sigma_\theta^2}\right)

    The two bandwidths have different units and are learnt separately. Works in two and three dimensions and for
    several angles, for states and for observations.

    Parameters
    ----------
    heading : int or sequence of int
        Columns of angles in radians. All other columns are the position.
    position_bandwidth, heading_bandwidth : float, optional
        σ_p in units of length and σ_θ in units of the chord (for small differences, radians). None: ``multiplier``
        times the median distance of the examples.
    multiplier : float
        Factor on both medians.

    Attributes
    ----------
    position_bandwidth_, heading_bandwidth_ : float
        The bandwidths in use.

    Examples
    --------
    >>> kernel = Pose(position_bandwidth=1.0, heading_bandwidth=0.5)
    >>> kernel([[0.0, 0.0, 0.01]], [[0.0, 1.0, 2 * np.pi - 0.01]]).round(3)
    array([[0.606]])
    """

    def __init__(
        self,
        heading: int | Sequence[int] = 2,
        position_bandwidth: float | None = None,
        heading_bandwidth: float | None = None,
        multiplier: float = 1.0,
    ) -> None:
        self.heading = heading
        self.position_bandwidth = position_bandwidth
        self.heading_bandwidth = heading_bandwidth
        self.multiplier = multiplier

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn from the examples the bandwidths that were not given."""
        examples = as_objects(objects, "the kernel's examples")
        self.columns_ = int(as_rows(examples, self).shape[1])
        self.kernel_ = self._product(self.columns_).fit(examples, states)
        return self

    @property
    def position_bandwidth_(self) -> float:
        """σ_p in use."""
        return float(self.kernel_.first.kernel.bandwidth_)

    @property
    def heading_bandwidth_(self) -> float:
        """σ_θ in use."""
        return float(self.kernel_.second.kernel.bandwidth_)

    def prepare(self, objects: Objects) -> Any:
        """Divide the position by its bandwidth, and the points on the circle by theirs."""
        width = as_rows(objects, self).shape[1]
        if not hasattr(self, "kernel_"):
            return self._product(width).prepare(objects)
        if width != self.columns_:
            raise ValueError(f"Pose was fitted on {self.columns_} columns but got {width}.")
        return self.kernel_.prepare(objects)

    def evaluate(self, a: tuple[Array, Array], b: tuple[Array, Array]) -> Array:
        """Return the product of the two kernels."""
        logs = self.evaluate_log(a, b)
        return array_namespace(logs).exp(logs)

    def evaluate_log(self, a: tuple[Array, Array], b: tuple[Array, Array]) -> Array:
        """Return the sum of the two kernels' logarithms, which never underflows."""
        xp = array_namespace(*a, *b)
        return Gaussian().evaluate_log(xp.concat(a, axis=1), xp.concat(b, axis=1))  # squared distances add up

    def evaluate_diagonal(self, a: tuple[Array, Array]) -> Array:
        """Return ones."""
        return Gaussian().evaluate_diagonal(a[0])

    def neighbourhood(self, a: tuple[Array, Array], negligible: float) -> Neighbourhood:
        """Return position and heading side by side."""
        return Gaussian().neighbourhood(array_namespace(*a).concat(a, axis=1), negligible)

    def _product(self, width: int) -> Any:
        columns = np.atleast_1d(np.asarray(self.heading, dtype=np.intp))
        headings = {int(column) % width for column in columns if -width <= column < width}
        position = [column for column in range(width) if column not in headings]
        if not headings or len(headings) != len(columns) or not position:
            raise ValueError(
                f"Pose has heading = {self.heading!r}, but the data have {width} columns; it must name different "
                "columns and leave at least one for the position."
            )
        return Product(
            Columns(Gaussian(self.position_bandwidth, self.multiplier), position),
            Columns(Circular(self.heading_bandwidth, self.multiplier), sorted(headings)),
        )
