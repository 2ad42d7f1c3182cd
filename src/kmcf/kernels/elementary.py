"""Kernels without a bandwidth: linear, constant, and one that asks only whether objects are the same."""

from __future__ import annotations

import numpy as np

from kmcf.kernels.base import as_rows
from kmcf.kernels.distances import common_columns
from kmcf.kernels.kernel import Kernel
from kmcf.numerics.arrays import Array, array_namespace
from kmcf.numerics.objects import Objects, is_numeric


class Linear(Kernel):
    r"""Linear kernel :math:`k(x, x') = x^\top x'`.

    It sees only the means of distributions; add another kernel, or multiply by one, to make it richer.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    @property
    def restrictable(self) -> bool:
        """True: any columns will do."""
        return True

    def evaluate(self, a: Array, b: Array) -> Array:
        """Return the inner products of the rows."""
        common_columns(a, b)
        return a @ b.T

    def evaluate_diagonal(self, a: Array) -> Array:
        """Return the squared norms of the rows."""
        return array_namespace(a).sum(a * a, axis=1)


class Constant(Kernel):
    """Constant kernel k(x, x') = value, on objects of any kind.

    Parameters
    ----------
    value : float
        Non-negative.

    Examples
    --------
    >>> Constant(3.0)(["a", "b"], ["c"])
    array([[3.],
           [3.]])
    """

    def __init__(self, value: float = 1.0) -> None:
        self.value = value

    @property
    def restrictable(self) -> bool:
        """True: any columns will do."""
        return True

    def prepare(self, objects: Objects) -> Array:
        """Keep only the number of objects."""
        if not (np.isfinite(self.value) and self.value >= 0):
            raise ValueError(f"Constant has value = {self.value!r}; it must be non-negative and finite.")
        dtype = objects.dtype if is_numeric(objects) else np.float64
        return array_namespace(objects).ones(len(objects), dtype=dtype)

    def evaluate(self, a: Array, b: Array) -> Array:
        """Return a matrix filled with the constant."""
        return self.value * (a[:, None] * b[None, :])

    def evaluate_diagonal(self, a: Array) -> Array:
        """Return a vector filled with the constant."""
        return self.value * a


class Same(Kernel):
    """1 for equal objects, ``otherwise`` for different ones: for the parts of a state that are labels, such as a floor.

    Multiply it with a kernel on the other columns: examples on other floors then count only by ``otherwise``.

    Parameters
    ----------
    otherwise : float
        Similarity of objects that differ, at least 0 and below 1.

    Examples
    --------
    >>> from kmcf.kernels import Columns, Gaussian
    >>> position_and_floor = Columns(Gaussian(2.0), [0, 1]) * Columns(Same(), 2)
    >>> position_and_floor([[0.0, 0.0, 1.0]], [[0.0, 2.0, 1.0], [0.0, 2.0, 2.0]]).round(4)
    array([[0.6065, 0.    ]])
    """

    def __init__(self, otherwise: float = 0.0) -> None:
        self.otherwise = otherwise

    def prepare(self, objects: Objects) -> Array:
        """Flatten to rows."""
        if not 0.0 <= self.otherwise < 1.0:
            raise ValueError(f"Same has otherwise = {self.otherwise!r}; it must be at least 0 and below 1.")
        return as_rows(objects, self)

    def evaluate(self, a: Array, b: Array) -> Array:
        """Compare all pairs of rows."""
        common_columns(a, b)
        xp = array_namespace(a, b)
        same = xp.all(a[:, None, :] == b[None, :, :], axis=2)
        return self.otherwise + (1.0 - self.otherwise) * xp.asarray(same, dtype=b.dtype)

    def evaluate_diagonal(self, a: Array) -> Array:
        """Return ones."""
        return array_namespace(a).ones(a.shape[0])
