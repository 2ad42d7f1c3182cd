"""Kernels on part of the columns, and on robustly scaled ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from kmcf.kernels.base import as_rows
from kmcf.kernels.kernel import Kernel, Wrapped
from kmcf.kernels.robust import asinh_scaled, centre_and_scale
from kmcf.numerics.arrays import Array, IntArray
from kmcf.numerics.objects import Objects, as_objects
from kmcf.support.estimators import not_fitted


class Columns(Wrapped):
    """A kernel on some columns only; multiply or add several for separate groups of columns.

    Parameters
    ----------
    kernel : Kernel
        What to apply.
    columns : int or sequence of int
        Which columns of the (flattened) objects it sees.

    Examples
    --------
    >>> from kmcf.kernels import Gaussian
    >>> position_and_speed = Columns(Gaussian(1.0), [0, 1]) * Columns(Gaussian(10.0), 2)
    >>> position_and_speed([[0.0, 0.0, 5.0]], [[1.0, 0.0, 5.0]]).round(4)
    array([[0.6065]])
    """

    def __init__(self, kernel: Kernel, columns: int | Sequence[int]) -> None:
        self.kernel = kernel
        self.columns = columns

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Fit the kernel inside on its columns of the examples."""
        self.kernel.fit(self._select(as_objects(objects, "the kernel's examples")), states)
        return self

    def prepare(self, objects: Objects) -> Any:
        """Select the columns and prepare them for the kernel inside."""
        return self.kernel.prepare(self._select(objects))

    @property
    def restrictable(self) -> bool:
        """As the kernel inside, if columns are counted from the left: from the right, their numbers change."""
        return self.kernel.restrictable and int(np.min(self.columns, initial=0)) >= 0

    def restricted(self, columns: IntArray) -> Self | None:
        """Restrict the kernel inside to those of its columns that are known, wherever they are now."""
        own = np.atleast_1d(np.asarray(self.columns, dtype=np.intp))
        known = np.flatnonzero(np.isin(own, columns))
        inside = self.kernel.restricted(known) if len(known) else None
        return None if inside is None else type(self)(inside, np.searchsorted(columns, own[known]).tolist())

    def _select(self, objects: Objects) -> Array:
        rows = as_rows(objects, self)
        columns = np.atleast_1d(np.asarray(self.columns, dtype=np.intp))
        if columns.size == 0 or columns.min() < -rows.shape[1] or columns.max() >= rows.shape[1]:
            raise ValueError(f"Columns was asked for columns {self.columns!r} of data with {rows.shape[1]} columns.")
        return rows[:, columns]


class AsinhScaled(Wrapped):
    r"""A kernel on robustly scaled columns, :math:`z = \operatorname{asinh}((y - \mathrm{median}) / \mathrm{MAD})`.

    Median and median absolute deviation (unscaled, and 1 where it is zero) are learnt from the examples, per column.
    Near the centre the map is linear, in the tails logarithmic, so heavy-tailed measurements keep a useful resolution
    everywhere. This is the default treatment of vector observations.

    Parameters
    ----------
    kernel : Kernel
        What to apply to the scaled columns.

    Examples
    --------
    >>> from kmcf.kernels import Gaussian
    >>> kernel = AsinhScaled(Gaussian()).fit([[-1.0], [0.0], [1.0], [1000.0]])
    >>> float(kernel.centre_[0]), float(kernel.scale_[0])
    (0.5, 1.0)
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn the centre and scale of every column, then fit the kernel inside on the scaled columns."""
        rows = as_rows(as_objects(objects, "the kernel's examples"), self)
        self.centre_, self.scale_ = centre_and_scale(rows)
        self.kernel.fit(self.transform(rows), states)
        return self

    def transform(self, objects: Objects) -> Array:
        """Return the scaled columns z."""
        if not hasattr(self, "centre_"):
            raise not_fitted("AsinhScaled learns its scale from examples: call fit(examples) first.")
        rows = as_rows(objects, self)
        if rows.shape[1] != self.centre_.shape[0]:
            raise ValueError(f"AsinhScaled was fitted on {self.centre_.shape[0]} columns but got {rows.shape[1]}.")
        return asinh_scaled(rows, self.centre_, self.scale_)

    def prepare(self, objects: Objects) -> Any:
        """Scale the columns and prepare them for the kernel inside."""
        return self.kernel.prepare(self.transform(objects))
