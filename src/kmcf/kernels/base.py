"""What every kernel computes: the similarities of two collections of objects, prepared once per object."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace
from kmcf.numerics.objects import Objects, as_objects, describe, is_numeric, take
from kmcf.support.estimators import Estimator, clone
from kmcf.support.typed import check_types


class Neighbourhood(NamedTuple):
    """Places of objects, such that objects far apart have a negligible similarity."""

    rows: Array
    """One place per object, (n, d)."""
    radius: float
    """Objects whose places are further apart than this, in Euclidean distance, hardly resemble each other."""


class BaseKernel(Estimator, ABC):
    """A positive definite kernel without its operators; :class:`~kmcf.kernels.Kernel` is the class to derive from."""

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

    @property
    def restrictable(self) -> bool:
        """True where :meth:`restricted` can say what the kernel is on some of the columns."""
        return False

    def restricted(self, columns: IntArray) -> Self | None:
        """Return this kernel, not fitted, for objects of which only some columns are known; None if it sees none.

        Kernels whose formula makes sense for any number of columns override :attr:`restrictable`; those with a
        parameter per column also override this.

        Parameters
        ----------
        columns : array of int
            The columns that are known, of the flattened objects, in order.
        """
        return clone(self)

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn what there is to learn from the example objects (and their states); return self."""
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
        return floored_log(self.evaluate(a, b))

    def evaluate_diagonal(self, a: Any) -> Array:
        """Return the similarity of each prepared object with itself, (n,)."""
        count = len(a[0]) if isinstance(a, tuple) else len(a)
        singles = (take(a, np.array([i])) for i in range(count))
        return np.array([float(self.evaluate(one, one)[0, 0]) for one in singles])

    def neighbourhood(self, _a: Any, _negligible: float) -> Neighbourhood | None:
        """Return where prepared objects are, and the distance beyond which their similarity is negligible.

        Negligible is a share of an object's similarity with itself. None: the kernel does not fall off with a distance.
        """
        return None

    def __call__(self, a: Any, b: Any = None) -> Array:
        """Return the matrix of similarities of two collections (of one with itself if ``b`` is None)."""
        check_parameters(self)
        prepared_a = self.prepare(as_objects(a, "the kernel's first argument", structured=self.structured))
        if b is None:
            return self.evaluate(prepared_a, prepared_a)
        prepared_b = self.prepare(as_objects(b, "the kernel's second argument", structured=self.structured))
        return self.evaluate(prepared_a, prepared_b)

    def diagonal(self, a: Any) -> Array:
        """Return k(a_i, a_i) for every object, (n,)."""
        objects = as_objects(a, "the kernel's argument", structured=self.structured)
        return self.evaluate_diagonal(self.prepare(objects))


def check_parameters(kernel: BaseKernel) -> None:
    """Check the types of a kernel's parameters, and of those of kernels inside it."""
    for part in (kernel, *kernel.get_params(deep=True).values()):
        if isinstance(part, BaseKernel):
            check_types(type(part).__init__, part.get_params(deep=False), f"{type(part).__name__} has")


def as_rows(objects: Objects, kernel: BaseKernel) -> Array:
    """Flatten numeric objects to rows of float64; anything else is an error that names the kernel."""
    if type(objects) is np.ndarray and objects.ndim == 2 and objects.dtype == np.float64:
        return objects
    if not is_numeric(objects):
        raise TypeError(
            f"the kernel {type(kernel).__name__} works on numeric arrays, but got {describe(objects)}. "
            "Use a kernel made for such objects, or a callable (A, B) -> matrix."
        )
    xp = array_namespace(objects)
    return xp.reshape(objects, (objects.shape[0], math.prod(objects.shape[1:])))


def floored_log(values: Array) -> Array:
    """Return the logarithms of similarities, those that underflowed to zero at the smallest positive number."""
    xp = array_namespace(values)
    values = xp.asarray(values)
    return xp.log(xp.maximum(values, xp.finfo(values.dtype).tiny))


def checked_matrix(matrix: Any, shape: tuple[int, int], origin: str) -> Array:
    """Return the matrix a kernel computed, in float64 unless it is another library's; check its shape.

    Parameters
    ----------
    matrix : array_like
        What the kernel returned.
    shape : pair of int
        The numbers of objects it was given.
    origin : str
        What returned it, for the error message.

    Examples
    --------
    >>> checked_matrix([[1]], (1, 1), "the kernel")
    array([[1.]])
    """
    values = np.asarray(matrix, dtype=np.float64) if array_namespace(matrix) is np else matrix
    if values.shape != shape:
        raise ValueError(
            f"{origin} returned an array of shape {values.shape} for {shape[0]} and {shape[1]} objects; it must "
            f"return a matrix of shape {shape}."
        )
    return values


def positive(value: Any, name: str, kernel: BaseKernel) -> float | FloatArray:
    """Return a parameter of a kernel, such as a bandwidth, after checking that it is positive and finite."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{type(kernel).__name__} has {name} = {value!r}; it must be a number.") from error
    if numbers.ndim > 1 or not np.all(np.isfinite(numbers)) or not np.all(numbers > 0):
        raise ValueError(f"{type(kernel).__name__} has {name} = {value!r}; it must be positive and finite.")
    return float(numbers) if numbers.ndim == 0 else numbers
