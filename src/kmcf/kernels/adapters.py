"""Kernels from elsewhere: scikit-learn kernels, plain callables, precomputed matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

from kmcf.kernels.base import ExampleKernel, Kernel, as_rows
from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace
from kmcf.numerics.linalg import is_positive_semidefinite
from kmcf.numerics.objects import Objects, describe, is_numeric, take

_BLOCK = 64


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
    if isinstance(kernel, SklearnKernel):
        return FromSklearn(kernel)
    if callable(kernel):
        return FromCallable(kernel)
    hint = " Pass what its fit_transform returns, with 'precomputed'." if hasattr(kernel, "fit_transform") else ""
    raise TypeError(
        f"{name} must be a kmcf kernel, a scikit-learn kernel, a callable (A, B) -> matrix or 'precomputed', "
        f"not {kernel!r}.{hint}"
    )


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
        matrix = self.function(a, b)
        if array_namespace(matrix) is np:
            matrix = np.asarray(matrix, dtype=np.float64)
        if matrix.shape != (len(a), len(b)):
            raise ValueError(
                f"the kernel function {_name(self.function)} returned an array of shape {matrix.shape} for {len(a)} "
                f"and "
                f"{len(b)} objects; it must return a matrix of shape {(len(a), len(b))}."
            )
        return matrix


class FromSklearn(Kernel):
    """A kernel of ``sklearn.gaussian_process.kernels``, with the hyper-parameters it was given.

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

    def prepare(self, objects: Objects) -> Objects:
        """Flatten numeric objects to rows."""
        return objects if self.structured else as_rows(objects, self)

    def evaluate(self, a: Objects, b: Objects) -> Array:
        """Evaluate the scikit-learn kernel."""
        return np.asarray(self.kernel(a, b))

    def evaluate_diagonal(self, a: Objects) -> Array:
        """Return the diagonal, block by block: ``diag`` of a WhiteKernel is not what it gives for two collections."""
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
        del states
        _check_kernel_matrix(np.asarray(objects, dtype=np.float64) if not is_numeric(objects) else objects)
        return self

    def evaluate(self, a: Any, b: Any) -> Array:
        """Refuse: without the examples there is nothing to evaluate."""
        raise TypeError(
            "a precomputed kernel has no function to evaluate: it can serve as observation_kernel only, where the "
            "observations are rows of kernel values with the examples."
        )

    def on_examples(self, examples: Objects) -> PrecomputedExamples:
        """Take the rows of the kernel matrix as the examples."""
        return PrecomputedExamples(self, examples)


class PrecomputedExamples(ExampleKernel):
    """The kernel matrix of the examples, and rows of similarities with them."""

    def __init__(self, kernel: Precomputed, examples: Objects) -> None:
        self.kernel = kernel
        self.size = len(examples)
        self._matrix: FloatArray = np.asarray(examples, dtype=np.float64)
        self._indices: IntArray = np.arange(self.size)

    def subset(self, indices: IntArray) -> PrecomputedExamples:
        """Return the same for some of the examples; new observations still have one value per original example."""
        part = PrecomputedExamples.__new__(PrecomputedExamples)
        part.kernel, part.size = self.kernel, len(indices)
        part._matrix, part._indices = self._matrix, self._indices[indices]
        return part

    def mapped(self, function: Callable[[Array], Array]) -> PrecomputedExamples:
        """Return this: new similarities come from outside, in whatever precision they have."""
        del function
        return self

    def matrix(self) -> FloatArray:
        """Return the kernel matrix of the examples."""
        return self._matrix[np.ix_(self._indices, self._indices)]

    def columns(self, indices: IntArray) -> FloatArray:
        """Return some of its columns."""
        return self._matrix[np.ix_(self._indices, self._indices[indices])]

    def diagonal(self) -> FloatArray:
        """Return its diagonal."""
        return self._matrix[self._indices, self._indices]

    def against(self, objects: Objects) -> FloatArray:
        """Return the given rows of similarities as columns, for the examples kept."""
        rows = objects if array_namespace(objects) is not np else np.asarray(objects, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self._matrix.shape[1]:
            raise ValueError(
                f"with a precomputed kernel every observation is a row of {self._matrix.shape[1]} kernel values (one "
                f"per "
                f"example), but got {describe(rows)}."
            )
        return rows[:, self._indices].T


def _check_kernel_matrix(matrix: Any) -> None:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ValueError(
            "observation_kernel='precomputed' needs the square kernel matrix of the example observations, but got "
            f"{describe(matrix)}."
        )
    matrix = np.asarray(matrix, dtype=np.float64)
    if not np.all(np.isfinite(matrix)):
        raise ValueError("the precomputed kernel matrix has entries that are NaN or infinite.")
    scale = max(float(np.max(np.abs(matrix), initial=0.0)), np.finfo(float).tiny)
    asymmetry = float(np.max(np.abs(matrix - matrix.T), initial=0.0))
    if not asymmetry <= 1e-8 * scale:
        raise ValueError(
            f"the precomputed kernel matrix is not symmetric (largest difference {asymmetry:.3g}); a kernel satisfies "
            "k(a, b) = k(b, a)."
        )
    if not is_positive_semidefinite(matrix):
        raise ValueError(
            "the precomputed kernel matrix is not positive semi-definite; use a positive definite kernel, or add a "
            "multiple of the identity to the matrix."
        )


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
