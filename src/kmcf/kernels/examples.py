"""A kernel with one argument fixed to the examples: all that a filter ever asks of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kmcf.kernels.base import BaseKernel, Neighbourhood, checked_matrix
from kmcf.numerics.arrays import Array, FloatArray, IntArray
from kmcf.numerics.memory import check_fits
from kmcf.numerics.objects import Objects, is_numeric, take


class ExampleKernel:
    """A kernel with one argument fixed to the n examples, which are prepared once.

    :meth:`Kernel.on_examples <kmcf.kernels.Kernel.on_examples>` makes one. Kernel matrices computed elsewhere come in
    through the same methods (see :class:`~kmcf.kernels.Precomputed`).

    Parameters
    ----------
    kernel : Kernel
        The fitted kernel.
    prepared : object
        What it made of the examples.
    size : int
        n, the number of examples.

    Examples
    --------
    >>> import numpy as np
    >>> from kmcf.kernels import Gaussian
    >>> fixed = Gaussian(1.0).on_examples(np.array([[0.0], [1.0]]))
    >>> fixed.size
    2
    """

    def __init__(self, kernel: BaseKernel, prepared: Any, size: int) -> None:
        self.kernel = kernel
        self.size = size
        self._prepared = prepared

    @property
    def prepared(self) -> Any:
        """What the kernel made of the examples."""
        return self._prepared

    def subset(self, indices: IntArray) -> ExampleKernel:
        """Return the same kernel with its argument fixed to some of the examples only."""
        return ExampleKernel(self.kernel, take(self._prepared, indices), len(indices))

    def mapped(self, function: Callable[[Array], Array]) -> ExampleKernel:
        """Apply a function to every array of the prepared examples, to change their precision."""
        return ExampleKernel(self.kernel, _mapped(function, self._prepared), self.size)

    def matrix(self) -> FloatArray:
        """Return the kernel matrix of the examples, (n, n)."""
        check_fits(8.0 * self.size**2, f"the kernel matrix of {self.size} examples")
        return self._checked(self.kernel.evaluate(self._prepared, self._prepared), self.size)

    def columns(self, indices: IntArray) -> FloatArray:
        """Return some columns of the kernel matrix of the examples, (n, len(indices))."""
        chosen = take(self._prepared, indices)
        return self._checked(self.kernel.evaluate(self._prepared, chosen), len(indices))

    def diagonal(self) -> FloatArray:
        """Return the diagonal of the kernel matrix of the examples, (n,)."""
        return np.asarray(self.kernel.evaluate_diagonal(self._prepared), dtype=np.float64)

    def against(self, objects: Objects) -> FloatArray:
        """Return the similarities of all examples (rows) with other objects (columns), (n, m)."""
        return self._checked(self.kernel.evaluate(self._prepared, self.kernel.prepare(objects)), len(objects))

    def log_against(self, objects: Objects) -> FloatArray:
        """Return the logarithms of the similarities of all examples (rows) with other objects (columns), (n, m)."""
        return self._checked(self.kernel.evaluate_log(self._prepared, self.kernel.prepare(objects)), len(objects))

    def neighbourhood(self, negligible: float) -> Neighbourhood | None:
        """Return where the examples are, and beyond which distance they hardly resemble each other; None if nowhere."""
        return self.kernel.neighbourhood(self._prepared, negligible)

    def places(self, objects: Objects) -> FloatArray:
        """Return where other objects are, in the same coordinates."""
        found = self.kernel.neighbourhood(self.kernel.prepare(objects), 0.5)
        assert found is not None
        return np.asarray(found.rows)

    def _checked(self, matrix: Any, width: int) -> FloatArray:
        if type(matrix) is np.ndarray and matrix.dtype == np.float64 and matrix.shape == (self.size, width):
            return matrix
        return checked_matrix(matrix, (self.size, width), f"the kernel {self.kernel!r}")


def _mapped(function: Callable[[Array], Array], prepared: Any) -> Any:
    if isinstance(prepared, tuple):
        return tuple(_mapped(function, part) for part in prepared)
    return function(prepared) if is_numeric(prepared) else prepared
