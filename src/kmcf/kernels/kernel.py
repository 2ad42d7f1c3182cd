"""Kernels and their algebra: sums, products and multiples.

``kernel + other`` makes a :class:`Sum`, which is a kernel again. These classes are defined by each other, so they share
a module.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np

from kmcf.kernels.base import BaseKernel, Neighbourhood
from kmcf.kernels.examples import ExampleKernel
from kmcf.numerics.arrays import Array, IntArray
from kmcf.numerics.objects import Objects, as_objects
from kmcf.support.estimators import clone


class Kernel(BaseKernel):
    """Base class of positive definite kernels.

    A kernel is called as ``kernel(A, B)`` with two collections of n and m objects and returns the (n, m) matrix of
    similarities; ``kernel(A)`` is ``kernel(A, A)``. Kernels with something to learn (a bandwidth of ``None``, say)
    learn it in :meth:`fit` and store it under a name ending in ``_``.

    A new kernel overrides :meth:`evaluate`, and :meth:`prepare` if a part of the work depends on one object only (a
    scaling, a histogram, a regression): it is then done once per object, not once per pair.

    Examples
    --------
    >>> from kmcf.kernels import Gaussian, Linear
    >>> kernel = 2 * Gaussian(1.0) + Linear()
    >>> kernel([[0.0]], [[0.0], [1.0]]).round(3)
    array([[2.   , 1.213]])
    """

    def on_examples(self, examples: Objects) -> ExampleKernel:
        """Return this kernel with one argument fixed to a collection of examples."""
        return ExampleKernel(self, self.prepare(examples), len(examples))

    def __add__(self, other: Any) -> Kernel:
        return Sum(self, _read(other))

    def __radd__(self, other: Any) -> Kernel:
        return _read(other) + self

    def __mul__(self, other: Any) -> Kernel:
        return Scaled(self, float(other)) if isinstance(other, Real) else Product(self, _read(other))

    def __rmul__(self, other: Any) -> Kernel:
        return self * other if isinstance(other, Real) else _read(other) * self


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

    @property
    def restrictable(self) -> bool:
        """True where both parts are."""
        return self.first.restrictable and self.second.restrictable

    def restricted(self, columns: IntArray) -> Any:
        """Restrict both parts; one that sees none of the columns drops out."""
        parts = [part for kernel in (self.first, self.second) if (part := kernel.restricted(columns)) is not None]
        return type(self)(*parts) if len(parts) == 2 else next(iter(parts), None)

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Fit both parts on the same examples."""
        self.first.fit(objects, states)
        self.second.fit(objects, states)
        return self

    def prepare(self, objects: Objects) -> tuple[Any, Any]:
        """Prepare the objects for both parts, which may read them differently (as numbers, or as they are)."""
        parts = (self.first, self.second)
        read = [as_objects(objects, "the kernel's argument", structured=part.structured) for part in parts]
        return self.first.prepare(read[0]), self.second.prepare(read[1])


class Sum(_Pair):
    """Sum of two kernels, written ``k1 + k2``.

    Parameters
    ----------
    first, second : Kernel
        The two kernels.

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

    Parameters
    ----------
    first, second : Kernel
        The two kernels.

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

    def neighbourhood(self, a: tuple[Any, Any], negligible: float) -> Neighbourhood | None:
        """Return that of the first part that has one: no product is larger than its parts allow."""
        first = self.first.neighbourhood(a[0], negligible)
        return self.second.neighbourhood(a[1], negligible) if first is None else first


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

    @property
    def restrictable(self) -> bool:
        """As the kernel inside."""
        return self.kernel.restrictable

    def restricted(self, columns: IntArray) -> Any:
        """Restrict the kernel inside."""
        inside = self.kernel.restricted(columns)
        return None if inside is None else clone(self).set_params(kernel=inside)

    def evaluate(self, a: Any, b: Any) -> Array:
        """Evaluate the kernel inside."""
        return self.kernel.evaluate(a, b)

    def evaluate_log(self, a: Any, b: Any) -> Array:
        """Evaluate the logarithm of the kernel inside."""
        return self.kernel.evaluate_log(a, b)

    def evaluate_diagonal(self, a: Any) -> Array:
        """Evaluate the diagonal of the kernel inside."""
        return self.kernel.evaluate_diagonal(a)

    def neighbourhood(self, a: Any, negligible: float) -> Neighbourhood | None:
        """Return that of the kernel inside."""
        return self.kernel.neighbourhood(a, negligible)


class Scaled(Wrapped):
    """A multiple of a kernel, written ``c * k`` with c > 0.

    Parameters
    ----------
    kernel : Kernel
        What is multiplied.
    factor : float
        c.

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


def _read(kernel: Any) -> Kernel:
    """Read the other operand; kernels from elsewhere are subclasses of :class:`Kernel`, so they are imported late."""
    from kmcf.kernels.foreign import as_kernel

    return as_kernel(kernel)
