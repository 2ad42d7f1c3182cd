"""Kernels made of kernels: sums, products, multiples, groups of columns, transformed inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from kmcf.kernels.base import Kernel, as_rows
from kmcf.kernels.robust import asinh_scaled, centre_and_scale
from kmcf.numerics.arrays import Array
from kmcf.numerics.objects import Objects, as_objects


class _Pair(Kernel):
    """Two kernels on the same objects."""

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.first = first
        self.second = second

    @property
    def structured(self) -> bool:
        """True where either part works on non-vectorial objects."""
        return self.first.structured or self.second.structured

    @property
    def handles_missing(self) -> bool:
        """True where both parts can handle NaN."""
        return self.first.handles_missing and self.second.handles_missing

    @property
    def handles_infinity(self) -> bool:
        """True where both parts can handle infinities."""
        return self.first.handles_infinity and self.second.handles_infinity

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Fit both parts on the same examples."""
        self.first.fit(objects, states)
        self.second.fit(objects, states)
        return self

    def prepare(self, objects: Objects) -> tuple[Any, Any]:
        """Prepare the objects for both parts, each of which reads them its own way (as numbers, or as they are)."""
        parts = (self.first, self.second)
        read = [as_objects(objects, "the kernel's argument", structured=part.structured) for part in parts]
        return self.first.prepare(read[0]), self.second.prepare(read[1])


class Sum(_Pair):
    """Sum of two kernels, written ``k1 + k2``.

    Examples
    --------
    >>> from kmcf.kernels import Constant, Linear
    >>> (Linear() + Constant(1.0))([[2.0]], [[3.0]])
    array([[7.]])
    """

    def evaluate(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> Array:
        """Add the two matrices."""
        return self.first.evaluate(a[0], b[0]) + self.second.evaluate(a[1], b[1])

    def evaluate_diagonal(self, a: tuple[Any, Any]) -> Array:
        """Add the two diagonals."""
        return self.first.evaluate_diagonal(a[0]) + self.second.evaluate_diagonal(a[1])


class Product(_Pair):
    """Product of two kernels, written ``k1 * k2``.

    Examples
    --------
    >>> from kmcf.kernels import Constant, Linear
    >>> (Linear() * Constant(2.0))([[2.0]], [[3.0]])
    array([[12.]])
    """

    def evaluate(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> Array:
        """Multiply the two matrices entry by entry."""
        return self.first.evaluate(a[0], b[0]) * self.second.evaluate(a[1], b[1])

    def evaluate_log(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> Array:
        """Add the logarithms."""
        return self.first.evaluate_log(a[0], b[0]) + self.second.evaluate_log(a[1], b[1])

    def evaluate_diagonal(self, a: tuple[Any, Any]) -> Array:
        """Multiply the two diagonals."""
        return self.first.evaluate_diagonal(a[0]) * self.second.evaluate_diagonal(a[1])


class Wrapped(Kernel):
    """Base of the kernels that change one kernel's input or output."""

    kernel: Kernel

    @property
    def structured(self) -> bool:
        """As the kernel inside."""
        return self.kernel.structured

    @property
    def handles_missing(self) -> bool:
        """As the kernel inside."""
        return self.kernel.handles_missing

    @property
    def handles_infinity(self) -> bool:
        """As the kernel inside."""
        return self.kernel.handles_infinity

    def evaluate(self, a: Any, b: Any) -> Array:
        """Evaluate the kernel inside."""
        return self.kernel.evaluate(a, b)

    def evaluate_log(self, a: Any, b: Any) -> Array:
        """Evaluate the logarithm of the kernel inside."""
        return self.kernel.evaluate_log(a, b)

    def evaluate_diagonal(self, a: Any) -> Array:
        """Evaluate the diagonal of the kernel inside."""
        return self.kernel.evaluate_diagonal(a)


class Scaled(Wrapped):
    """A multiple of a kernel, written ``c * k`` with c > 0.

    Examples
    --------
    >>> from kmcf.kernels import Linear
    >>> (3 * Linear())([[2.0]], [[3.0]])
    array([[18.]])
    """

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.kernel = kernel
        self.factor = factor

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Fit the kernel inside."""
        self.kernel.fit(objects, states)
        return self

    def prepare(self, objects: Objects) -> Any:
        """Prepare for the kernel inside."""
        if not (np.isfinite(self.factor) and self.factor > 0):
            raise ValueError(f"a kernel was multiplied by {self.factor!r}; the factor must be positive and finite.")
        return self.kernel.prepare(objects)

    def evaluate(self, a: Any, b: Any) -> Array:
        """Return the multiple of the matrix."""
        return self.factor * self.kernel.evaluate(a, b)

    def evaluate_log(self, a: Any, b: Any) -> Array:
        """Add the logarithm of the factor."""
        return np.log(self.factor) + self.kernel.evaluate_log(a, b)

    def evaluate_diagonal(self, a: Any) -> Array:
        """Return the multiple of the diagonal."""
        return self.factor * self.kernel.evaluate_diagonal(a)


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
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("AsinhScaled learns its scale from examples: call fit(examples) first.")
        rows = as_rows(objects, self)
        if rows.shape[1] != self.centre_.shape[0]:
            raise ValueError(f"AsinhScaled was fitted on {self.centre_.shape[0]} columns but got {rows.shape[1]}.")
        return asinh_scaled(rows, self.centre_, self.scale_)

    def prepare(self, objects: Objects) -> Any:
        """Scale the columns and prepare them for the kernel inside."""
        return self.kernel.prepare(self.transform(objects))
