"""Kernels that come from elsewhere: functions of two collections, and scikit-learn's kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kmcf.kernels.base import as_rows, checked_matrix
from kmcf.kernels.kernel import Kernel
from kmcf.kernels.precomputed import Precomputed
from kmcf.numerics.arrays import Array
from kmcf.numerics.objects import Objects, take

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


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
