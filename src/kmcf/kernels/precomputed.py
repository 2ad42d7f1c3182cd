"""Kernel matrices computed elsewhere, behind the contract of a kernel on examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from kmcf.kernels.base import BaseKernel, floored_log
from kmcf.kernels.examples import ExampleKernel
from kmcf.kernels.kernel import Kernel
from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace
from kmcf.numerics.linalg import is_positive_semidefinite
from kmcf.numerics.objects import Objects, describe, is_numeric


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


class PrecomputedExamples(ExampleKernel):
    """The kernel matrix of the examples, and rows of similarities with them.

    Parameters
    ----------
    kernel : Precomputed
        The kernel that stands for the matrix.
    matrix : array (N, N)
        The kernel matrix of all N original examples.
    indices : array (n,)
        Which of them are kept.
    """

    def __init__(self, kernel: BaseKernel, matrix: FloatArray, indices: IntArray) -> None:
        self.kernel = kernel
        self.size = len(indices)
        self._matrix = matrix
        self._indices = indices

    def subset(self, indices: IntArray) -> PrecomputedExamples:
        """Return the same for some of the examples; new observations still have one value per original example."""
        return PrecomputedExamples(self.kernel, self._matrix, self._indices[indices])

    def mapped(self, function: Callable[[Array], Array]) -> PrecomputedExamples:
        """Return self: new similarities come from outside, in the precision they have."""
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
                f"with a precomputed kernel every observation is a row of {self._matrix.shape[1]} kernel values "
                f"(one per example), but got {describe(rows)}."
            )
        return rows[:, self._indices].T

    def log_against(self, objects: Objects) -> FloatArray:
        """Return the logarithms of the given similarities as columns."""
        return floored_log(self.against(objects))


def check_kernel_matrix(matrix: Any) -> None:
    """Raise an error unless a matrix is square, finite, symmetric and positive semi-definite."""
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
