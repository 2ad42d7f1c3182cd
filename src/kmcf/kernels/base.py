"""What a kernel is: a similarity of two objects, learnt where need be from examples, composed with ``+`` and ``*``."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace
from kmcf.numerics.objects import Objects, as_objects, describe, is_numeric, take


class Kernel(BaseEstimator, ABC):
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

    @property
    def structured(self) -> bool:
        """True where objects are not numeric vectors: a list of objects then stays a list."""
        return False

    @property
    def handles_missing(self) -> bool:
        """True where NaN inside an observation means something to the kernel."""
        return False

    @property
    def handles_infinity(self) -> bool:
        """True where infinity inside an observation means something to the kernel."""
        return False

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn what there is to learn from the example objects (and their states); return self."""
        del states
        self.prepare(as_objects(objects, "the kernel's examples", structured=self.structured))
        return self

    def prepare(self, objects: Objects) -> Any:
        """Do the work that depends on one object only; by default flatten each object to a row of numbers."""
        return as_rows(objects, self)

    @abstractmethod
    def evaluate(self, a: Any, b: Any) -> Array:
        """Return the (n, m) matrix of similarities of two *prepared* collections."""

    def evaluate_log(self, a: Any, b: Any) -> Array:
        """Return the logarithm of :meth:`evaluate`; kernels that can do it without underflow override this."""
        values = self.evaluate(a, b)
        xp = array_namespace(values)
        values = xp.asarray(values)
        return xp.log(xp.maximum(values, xp.finfo(values.dtype).tiny))

    def evaluate_diagonal(self, a: Any) -> Array:
        """Return the similarity of each prepared object with itself, (n,)."""
        count = len(a[0]) if isinstance(a, tuple) else len(a)
        singles = (take(a, np.array([i])) for i in range(count))
        return np.array([float(self.evaluate(one, one)[0, 0]) for one in singles])

    def on_examples(self, examples: Objects) -> ExampleKernel:
        """Return this kernel with one argument fixed to a collection of examples."""
        return ExampleKernel(self, examples)

    def __call__(self, a: Any, b: Any = None) -> Array:
        """Return the matrix of similarities of two collections (of one with itself if ``b`` is None)."""
        prepared_a = self.prepare(as_objects(a, "the kernel's first argument", structured=self.structured))
        if b is None:
            return self.evaluate(prepared_a, prepared_a)
        prepared_b = self.prepare(as_objects(b, "the kernel's second argument", structured=self.structured))
        return self.evaluate(prepared_a, prepared_b)

    def diagonal(self, a: Any) -> Array:
        """Return k(a_i, a_i) for every object, (n,)."""
        objects = as_objects(a, "the kernel's argument", structured=self.structured)
        return self.evaluate_diagonal(self.prepare(objects))

    def __add__(self, other: Any) -> Kernel:
        from kmcf.kernels.adapters import as_kernel
        from kmcf.kernels.composition import Sum

        return Sum(self, as_kernel(other))

    def __radd__(self, other: Any) -> Kernel:
        from kmcf.kernels.adapters import as_kernel

        return as_kernel(other) + self

    def __mul__(self, other: Any) -> Kernel:
        from kmcf.kernels.adapters import as_kernel
        from kmcf.kernels.composition import Product, Scaled

        if isinstance(other, Real):
            return Scaled(self, float(other))
        return Product(self, as_kernel(other))

    def __rmul__(self, other: Any) -> Kernel:
        from kmcf.kernels.adapters import as_kernel

        return self * other if isinstance(other, Real) else as_kernel(other) * self


class ExampleKernel:
    """A kernel with one argument fixed to the n examples: all that a filter ever asks of a kernel.

    The examples are prepared once. Kernel matrices that were computed elsewhere enter through the same four methods
    (see :class:`~kmcf.kernels.Precomputed`).
    """

    def __init__(self, kernel: Kernel, examples: Objects) -> None:
        self.kernel = kernel
        self.size = len(examples)
        self._prepared = kernel.prepare(examples)

    def subset(self, indices: IntArray) -> ExampleKernel:
        """Return the same kernel with its argument fixed to some of the examples only."""
        part = copy.copy(self)
        part.size = len(indices)
        part._prepared = take(self._prepared, indices)
        return part

    def matrix(self) -> FloatArray:
        """Return the kernel matrix of the examples, (n, n)."""
        return self._checked(self.kernel.evaluate(self._prepared, self._prepared), self.size)

    def columns(self, indices: IntArray) -> FloatArray:
        """Return some columns of the kernel matrix of the examples, (n, len(indices))."""
        chosen = take(self._prepared, indices)
        return self._checked(self.kernel.evaluate(self._prepared, chosen), len(indices))

    def diagonal(self) -> FloatArray:
        """Return the diagonal of the kernel matrix of the examples, (n,)."""
        diagonal: FloatArray = np.asarray(self.kernel.evaluate_diagonal(self._prepared), dtype=np.float64)
        return diagonal

    def against(self, objects: Objects) -> FloatArray:
        """Return the similarities of all examples (rows) with other objects (columns), (n, m)."""
        return self._checked(self.kernel.evaluate(self._prepared, self.kernel.prepare(objects)), len(objects))

    def log_against(self, objects: Objects) -> FloatArray:
        """Return the logarithms of the similarities of all examples (rows) with other objects (columns), (n, m)."""
        return self._checked(self.kernel.evaluate_log(self._prepared, self.kernel.prepare(objects)), len(objects))

    def mapped(self, function: Callable[[Array], Array]) -> ExampleKernel:
        """Return the same with a function applied to every array of the prepared examples, to change its precision."""
        part = copy.copy(self)
        part._prepared = _mapped(function, self._prepared)
        return part

    def _checked(self, matrix: Any, width: int) -> FloatArray:
        other_library = array_namespace(matrix) is not np
        values: FloatArray = matrix if other_library else np.asarray(matrix, dtype=np.float64)
        if values.shape != (self.size, width):
            raise ValueError(
                f"the kernel {self.kernel!r} returned an array of shape {values.shape} for {self.size} and {width} "
                f"objects; it must return a matrix of shape {(self.size, width)}."
            )
        return values


def _mapped(function: Callable[[Array], Array], prepared: Any) -> Any:
    if isinstance(prepared, tuple):
        return tuple(_mapped(function, part) for part in prepared)
    return function(prepared) if is_numeric(prepared) else prepared


def as_rows(objects: Objects, kernel: Kernel) -> Array:
    """Flatten numeric objects to rows of float64; anything else is an error that names the kernel."""
    if not is_numeric(objects):
        raise TypeError(
            f"the kernel {type(kernel).__name__} works on numeric arrays, but got {describe(objects)}. "
            "Use a kernel made for such objects, or a callable (A, B) -> matrix."
        )
    xp = array_namespace(objects)
    return xp.reshape(objects, (objects.shape[0], math.prod(objects.shape[1:])))
