"""Kernels and their algebra: sums, products and multiples, with anything that can be read as a kernel.

``kernel + other`` makes a :class:`Sum`, which is a kernel again, and ``other`` may be a plain function, which becomes
one. Each of these classes is defined by the others, so they share a module.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np

from kmcf.kernels.base import BaseKernel, Neighbourhood, as_rows, checked_matrix
from kmcf.kernels.examples import ExampleKernel
from kmcf.kernels.precomputed import PrecomputedExamples, check_kernel_matrix
from kmcf.numerics.arrays import Array, IntArray
from kmcf.numerics.objects import Objects, as_objects, is_numeric, take
from kmcf.support.estimators import clone

_BLOCK = 64


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
        return Sum(self, as_kernel(other))

    def __radd__(self, other: Any) -> Kernel:
        return as_kernel(other) + self

    def __mul__(self, other: Any) -> Kernel:
        return Scaled(self, float(other)) if isinstance(other, Real) else Product(self, as_kernel(other))

    def __rmul__(self, other: Any) -> Kernel:
        return self * other if isinstance(other, Real) else as_kernel(other) * self


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


def as_kernel(kernel: Any, name: str = "a kernel") -> Kernel:
    """Read a kernel: our own, a scikit-learn kernel, a callable ``(A, B) -> matrix``, or ``"precomputed"``.

    Parameters
    ----------
    kernel : object
        What to read.
    name : str
        What it is called in error messages.

    Examples
    --------
    >>> as_kernel(lambda a, b: a @ b.T)([[1.0]], [[2.0]])
    array([[2.]])
    """
    if isinstance(kernel, type):
        raise TypeError(f"{name} must be an object, but got the class {kernel.__name__}; write {kernel.__name__}().")
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel == "precomputed":
        return Precomputed()
    if _is_sklearn_kernel(kernel):
        return FromSklearn(kernel)
    if callable(kernel):
        return FromCallable(kernel)
    hint = " Pass what its fit_transform returns, with 'precomputed'." if hasattr(kernel, "fit_transform") else ""
    hint = f" For a kernel by its name, write kmcf.kernels.named({kernel!r})." if isinstance(kernel, str) else hint
    raise TypeError(
        f"{name} must be a kmcf kernel, a scikit-learn kernel, a callable (A, B) -> matrix or 'precomputed', "
        f"not {kernel!r}.{hint}"
    )


def _is_sklearn_kernel(kernel: Any) -> bool:
    """Tell by name: whoever has one has imported it, and nobody else should have to wait for that."""
    home = "sklearn.gaussian_process.kernels"
    return any((cls.__module__, cls.__name__) == (home, "Kernel") for cls in type(kernel).__mro__)


class FromCallable(Kernel):
    """A kernel given as a function of two collections.

    Parameters
    ----------
    function : callable
        ``(A, B) -> matrix`` with one row per object of A and one column per object of B. It must be symmetric and
        positive semi-definite. It receives arrays with one row per object, or lists where the objects are not numeric.

    Examples
    --------
    >>> same = FromCallable(lambda A, B: np.array([[float(a == b) for b in B] for a in A]))
    >>> same(["red", "blue"], ["red"])
    array([[1.],
           [0.]])
    """

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def prepare(self, objects: Objects) -> Objects:
        """Leave the objects as they are."""
        return objects

    def evaluate(self, a: Objects, b: Objects) -> Array:
        """Call the function and check the shape of what it returns."""
        return checked_matrix(self.function(a, b), (len(a), len(b)), f"the kernel function {_name(self.function)}")


class FromSklearn(Kernel):
    """A kernel of ``sklearn.gaussian_process.kernels``, with the hyper-parameters it was given.

    Parameters
    ----------
    kernel : kernel of scikit-learn
        Its hyper-parameters are used as they are.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> FromSklearn(RBF(2.0))([[0.0]], [[2.0]]).round(4)
    array([[0.6065]])
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    @property
    def structured(self) -> bool:
        """True for scikit-learn kernels that take arbitrary objects."""
        return not self.kernel.requires_vector_input

    @property
    def restrictable(self) -> bool:
        """True for kernels on vectors without a parameter per column."""
        return not self.structured and all(part.n_elements == 1 for part in self.kernel.hyperparameters)

    def prepare(self, objects: Objects) -> Objects:
        """Flatten numeric objects to rows."""
        return objects if self.structured else as_rows(objects, self)

    def evaluate(self, a: Objects, b: Objects) -> Array:
        """Evaluate the scikit-learn kernel."""
        return np.asarray(self.kernel(a, b))

    def evaluate_diagonal(self, a: Objects) -> Array:
        """Return the diagonal, block by block: a WhiteKernel's ``diag`` differs from its values for two collections."""
        blocks = [take(a, np.arange(start, min(start + _BLOCK, len(a)))) for start in range(0, len(a), _BLOCK)]
        return np.concatenate([np.zeros(0), *(np.diagonal(self.evaluate(block, block)) for block in blocks)])


class Precomputed(Kernel):
    """Kernel values computed elsewhere: an "object" is its row of similarities with the n examples.

    Fit a filter with the n × n matrix of the example observations in place of the observations, and filter rows of n
    similarities (of the new observation with every example), in the same order.

    Examples
    --------
    >>> matrix = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> kernel = Precomputed().on_examples(matrix)
    >>> kernel.against(np.array([[0.7, 0.2]]))
    array([[0.7],
           [0.2]])
    """

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Check that the matrix is square, symmetric and positive semi-definite."""
        check_kernel_matrix(np.asarray(objects, dtype=np.float64) if not is_numeric(objects) else objects)
        return self

    def evaluate(self, a: Any, b: Any) -> Array:
        """Refuse: without the examples there is nothing to evaluate."""
        raise TypeError(
            "a precomputed kernel has no function to evaluate: it can serve as observation_kernel only, where the "
            "observations are rows of kernel values with the examples."
        )

    def on_examples(self, examples: Objects) -> PrecomputedExamples:
        """Take the rows of the kernel matrix as the examples."""
        matrix = np.asarray(examples, dtype=np.float64)
        return PrecomputedExamples(self, matrix, np.arange(len(matrix)))


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
