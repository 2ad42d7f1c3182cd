"""How numbers depend on others: constant, linear or curved, whichever predicts left-out ones best.

Beyond the inputs that it was fitted to, the bends of a trend fade, and a straight line remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.spatial.distance import cdist

from kmcf.numerics.arrays import FloatArray, positive_or_one
from kmcf.numerics.objects import evenly_spaced

KNOTS = 25
STRAIGHT_RIDGE = 1e-6
"""Penalty of slopes: enough where columns depend on each other, too little to matter elsewhere."""
LEAST_FREEDOM = 1e-3
"""One minus the leverage of a point is at least this."""


class Shape(NamedTuple):
    """A kind of trend."""

    linear: bool = False
    width: float | None = None
    """Of the bumps that bend the line, in standard deviations of the inputs; None: no bumps."""
    ridge: float = 0.0
    """Penalty of the bumps."""


SHAPES = (
    Shape(),
    Shape(linear=True),
    *(Shape(linear=True, width=width, ridge=ridge) for width in (0.7, 1.5) for ridge in (0.3, 3.0, 30.0)),
)
"""From the simplest to the most flexible."""


@dataclass(frozen=True, eq=False)
class Trend:
    """A smooth function from (m, d) inputs to (m, c) numbers."""

    shape: Shape
    centre: FloatArray
    scale: FloatArray
    knots: FloatArray
    coefficients: FloatArray

    def __call__(self, inputs: FloatArray) -> FloatArray:
        """Return the trend at some inputs, (m, c)."""
        basis = _basis((inputs - self.centre) / self.scale, self.knots, self.shape)
        return np.asarray(basis @ self.coefficients)


class Trends:
    """All trends over some inputs, ready to be fitted to one set of targets after the other.

    Parameters
    ----------
    inputs : array (n, d)
        Where.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 30)[:, None]
    >>> trends = Trends(x)
    >>> [round(trends.fit(slope * x)(np.array([[2.0]])).item(), 3) for slope in (0.0, 1.0)]
    [0.0, 2.0]
    """

    def __init__(self, inputs: FloatArray) -> None:
        self._centre, self._scale = inputs.mean(axis=0), positive_or_one(inputs.std(axis=0))
        known = (inputs - self._centre) / self._scale
        self._knots = known[np.argsort(known[:, 0], kind="stable")[evenly_spaced(len(known), KNOTS)]]
        kinds = dict.fromkeys((shape.linear, shape.width) for shape in SHAPES)
        self._bases = {kind: _basis(known, self._knots, Shape(*kind)) for kind in kinds}
        self._unweighted = {kind: WeightedBasis(basis) for kind, basis in self._bases.items()}

    def fit(self, targets: FloatArray, weights: FloatArray | None = None) -> Trend:
        """Take the simplest shape, unless another predicts each target from the rest better by a standard error.

        Parameters
        ----------
        targets : array (n, c)
            What was found at the inputs.
        weights : array (n,), optional
            How much each row counts: one over the variance of its targets.

        Examples
        --------
        >>> x = np.linspace(0.0, 1.0, 30)[:, None]
        >>> line = Trends(x).fit(2.0 * x + 1.0)
        >>> line.shape.width is None, line(np.array([[3.0]])).round(3)
        (True, array([[7.]]))
        """
        bases = self._unweighted
        if weights is not None:
            roots = np.sqrt(weights / weights.mean())[:, None]
            bases = {kind: WeightedBasis(basis, roots) for kind, basis in self._bases.items()}
        best, least = None, np.empty(0)
        for shape in SHAPES:
            coefficients, errors = bases[shape.linear, shape.width].ridge(targets, shape)
            gained = least - errors if best is not None else np.array([np.inf])
            if best is None or gained.mean() > gained.std() / np.sqrt(len(gained)):
                best, least = (shape, coefficients), errors
        assert best is not None
        return Trend(best[0], self._centre, self._scale, self._knots, best[1])


class WeightedBasis:
    """Functions at the inputs, times roots of weights, in a form that every ridge can use.

    Parameters
    ----------
    basis : array (n, size)
        One column per function.
    roots : array (n, 1) or float
        Square roots of how much each row counts.
    """

    def __init__(self, basis: FloatArray, roots: FloatArray | float = 1.0) -> None:
        self._basis, self._roots = basis, roots
        self._Q, self._R = np.linalg.qr(roots * basis)

    def ridge(self, targets: FloatArray, shape: Shape) -> tuple[FloatArray, FloatArray]:
        """Return coefficients, and the weighted squared error at each row when it is left out, in variances, (n,)."""
        n, size = self._basis.shape
        bumps = 0 if shape.width is None else min(KNOTS, n)
        penalties = np.full(size, STRAIGHT_RIDGE)
        penalties[0], penalties[size - bumps :] = 0.0, shape.ridge
        Q, R = np.linalg.qr(np.vstack([self._R, np.diag(np.sqrt(penalties))]))
        Q = self._Q @ Q[: len(self._R)]  # of the penalised basis
        coefficients = solve_triangular(R, Q.T @ (self._roots * targets))
        leverages = np.sum(Q**2, axis=1, keepdims=True)
        left_out = self._roots * (targets - self._basis @ coefficients) / np.maximum(1.0 - leverages, LEAST_FREEDOM)
        variances = targets.var(axis=0)  # so that units of columns do not matter
        return coefficients, np.mean(left_out**2 / positive_or_one(variances), axis=1)


def _basis(rows: FloatArray, knots: FloatArray, shape: Shape) -> FloatArray:
    parts = [np.ones((len(rows), 1))]
    if shape.linear:
        parts.append(rows)
    if shape.width is not None:
        parts.append(np.exp(-cdist(rows, knots, "sqeuclidean") / (2.0 * shape.width**2)))
    return np.hstack(parts)
