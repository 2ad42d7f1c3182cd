"""Kernels that depend on the distance of two vectors: Gaussian, Laplace, Matérn."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from kmcf.kernels.base import Neighbourhood, as_rows, positive
from kmcf.kernels.distances import euclidean, manhattan, median_distance, scaled_euclidean
from kmcf.kernels.kernel import Kernel
from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace
from kmcf.numerics.objects import Objects, as_objects
from kmcf.support.estimators import clone, not_fitted

_NARROW, _FAR = 1e-90, 1e150
"""Rows divided by a bandwidth below the first are clipped at the second, so that no squared distance overflows."""


class Stationary(Kernel):
    """Base of the kernels with a bandwidth.

    Parameters
    ----------
    bandwidth : float or array (d,), optional
        Length scale, one for all columns or one per column. None: ``multiplier`` times the median distance of the
        examples (the median heuristic).
    multiplier : float
        Factor on the median distance; used only where ``bandwidth`` is None.
    """

    def __init__(self, bandwidth: float | FloatArray | None = None, multiplier: float = 1.0) -> None:
        self.bandwidth = bandwidth
        self.multiplier = multiplier

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn the bandwidth from the examples if none was given."""
        examples = as_objects(objects, "the kernel's examples")
        if self.bandwidth is None:
            factor = positive(self.multiplier, "multiplier", self)
            self.bandwidth_: float | FloatArray = float(factor) * median_distance(
                np.asarray(self.rows(examples)), self._distance
            )
        else:
            self.bandwidth_ = positive(self.bandwidth, "bandwidth", self)
        self.prepare(examples)
        return self

    def prepare(self, objects: Objects) -> Array:
        """Flatten to rows and divide by the bandwidth."""
        rows = self.rows(objects)
        width = self.fitted_bandwidth()
        if isinstance(width, np.ndarray) and width.shape != (rows.shape[1],):
            raise ValueError(
                f"{type(self).__name__} has {np.shape(width)[0]} bandwidths but the data have {rows.shape[1]} columns; "
                "give one bandwidth, or one per column."
            )
        if isinstance(width, float) and width > _NARROW:
            return rows / width
        xp = array_namespace(rows)
        far = min(_FAR, float(xp.finfo(rows.dtype).max) ** 0.4)
        return xp.clip(rows / xp.asarray(width, dtype=rows.dtype), -far, far)

    @property
    def restrictable(self) -> bool:
        """True: a distance can be measured in any columns."""
        return True

    def restricted(self, columns: IntArray) -> Self:
        """Keep the bandwidths of the columns, if each has its own."""
        widths = np.asarray(self.bandwidth)
        return clone(self).set_params(bandwidth=widths[columns]) if widths.ndim == 1 else clone(self)

    def evaluate_diagonal(self, a: Array) -> Array:
        """Return ones: every object is as similar to itself as can be."""
        return array_namespace(a).ones(a.shape[0])

    def neighbourhood(self, a: Array, negligible: float) -> Neighbourhood:
        """Return the rows as they are, in units of the bandwidth."""
        return Neighbourhood(a, self._reach(-math.log(negligible)))

    def _reach(self, decay: float) -> float:
        """Return a distance, in bandwidths, beyond which the kernel is below exp(−decay)."""
        return decay  # exp(−‖·‖₁) is never larger than exp(−‖·‖₂)

    def rows(self, objects: Objects) -> Array:
        """Return the vectors whose distance counts, one per object; subclasses may transform them."""
        return as_rows(objects, self)

    def fitted_bandwidth(self) -> float | FloatArray:
        """Return the bandwidth in use: the one given, or the one learnt."""
        if hasattr(self, "bandwidth_"):
            return self.bandwidth_
        if self.bandwidth is None:
            raise not_fitted(
                f"{type(self).__name__}(bandwidth=None) learns its bandwidth from examples: call fit(examples) first, "
                "or give a bandwidth."
            )
        return positive(self.bandwidth, "bandwidth", self)

    @staticmethod
    def _distance(a: Array, b: Array) -> Array:
        return euclidean(a, b)


class Gaussian(Stationary):
    r"""Gaussian kernel :math:`k(x, x') = \exp(-\|x - x'\|^2 / 2\sigma^2)`.

    Parameters
    ----------
    bandwidth : float or array (d,), optional
        σ. None: ``multiplier`` times the median distance of the examples.
    multiplier : float
        Factor on the median distance.

    Examples
    --------
    >>> Gaussian(2.0)([[0.0]], [[2.0]]).round(4)
    array([[0.6065]])
    >>> Gaussian().fit([[0.0], [1.0], [3.0]]).bandwidth_
    2.0
    """

    def evaluate(self, a: Array, b: Array) -> Array:
        """Return exp(−½‖a − b‖²) of rows already divided by the bandwidth."""
        exponents = scaled_euclidean(a, b, -0.5)
        if type(exponents) is not np.ndarray:
            return array_namespace(exponents).exp(exponents)
        return np.exp(exponents, out=exponents)

    def evaluate_log(self, a: Array, b: Array) -> Array:
        """Return −½‖a − b‖², which never underflows."""
        return scaled_euclidean(a, b, -0.5)

    def _reach(self, decay: float) -> float:
        return math.sqrt(2.0 * decay)


class Laplace(Stationary):
    r"""Laplace kernel :math:`k(x, x') = \exp(-\|x - x'\|_1 / \sigma)`.

    The median heuristic uses the same :math:`\ell_1` distance.

    Parameters
    ----------
    bandwidth : float, array or None
        σ, one number or one per column. None: the median distance of the examples times ``multiplier``.
    multiplier : float
        See ``bandwidth``.

    Examples
    --------
    >>> Laplace(2.0)([[0.0, 0.0]], [[1.0, -1.0]]).round(4)
    array([[0.3679]])
    """

    def evaluate(self, a: Array, b: Array) -> Array:
        """Return exp(−‖a − b‖₁) of rows already divided by the bandwidth."""
        return array_namespace(a, b).exp(-manhattan(a, b))

    @staticmethod
    def _distance(a: Array, b: Array) -> Array:
        return manhattan(a, b)


class Matern(Stationary):
    r"""Matérn kernel of smoothness ν = 1/2, 3/2 or 5/2.

    With :math:`r = \|x - x'\| / \sigma`: :math:`e^{-r}`, :math:`(1 + \sqrt3 r) e^{-\sqrt3 r}` and
    :math:`(1 + \sqrt5 r + \tfrac53 r^2) e^{-\sqrt5 r}`.

    Parameters
    ----------
    bandwidth : float or array (d,), optional
        σ. None: ``multiplier`` times the median distance of the examples.
    multiplier : float
        Factor on the median distance.
    nu : {0.5, 1.5, 2.5}
        Smoothness.

    Examples
    --------
    >>> Matern(1.0, nu=0.5)([[0.0]], [[1.0]]).round(4)
    array([[0.3679]])
    """

    def __init__(self, bandwidth: float | FloatArray | None = None, multiplier: float = 1.0, nu: float = 1.5) -> None:
        super().__init__(bandwidth, multiplier)
        self.nu = nu

    def evaluate(self, a: Array, b: Array) -> Array:
        """Return the Matérn function of the distance of rows already divided by the bandwidth."""
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"Matern has nu = {self.nu!r}; the smoothness must be 0.5, 1.5 or 2.5.")
        r = math.sqrt(2.0 * self.nu) * euclidean(a, b)
        polynomial: Array = {0.5: 1.0, 1.5: 1.0 + r, 2.5: 1.0 + r + r * r / 3.0}[self.nu]
        return polynomial * array_namespace(a, b).exp(-r)

    def _reach(self, decay: float) -> float:
        r = decay
        for _ in range(50):  # r = decay + log(polynomial), a contraction; both polynomials lie below (1 + r)²
            r = decay + 2.0 * math.log1p(r)
        return r / math.sqrt(2.0 * self.nu)
