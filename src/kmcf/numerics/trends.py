"""How numbers depend on others: constant, linear or curved, whichever foretells left-out ones best.

Beyond the inputs that it was fitted to, the bends of a trend fade, and a straight line remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

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

    @classmethod
    def fit(cls, inputs: FloatArray, targets: FloatArray, weights: FloatArray | None = None) -> Self:
        """Take the simplest shape, unless another foretells each target from the rest better by a standard error.

        Parameters
        ----------
        inputs : array (n, d)
            Where.
        targets : array (n, c)
            What was found there.
        weights : array (n,), optional
            How much each row counts: one over the variance of its targets.

        Examples
        --------
        >>> x = np.linspace(0.0, 1.0, 30)[:, None]
        >>> line = Trend.fit(x, 2.0 * x + 1.0)
        >>> line.shape.width is None, line(np.array([[3.0]])).round(3)
        (True, array([[7.]]))
        """
        centre, spread = inputs.mean(axis=0), inputs.std(axis=0)
        scale = positive_or_one(spread)
        known = (inputs - centre) / scale
        knots = known[np.argsort(known[:, 0], kind="stable")[evenly_spaced(len(known), KNOTS)]]
        roots = np.sqrt(np.ones(len(inputs)) if weights is None else weights / weights.mean())[:, None]
        best, least = None, np.empty(0)
        for shape in SHAPES:
            coefficients, errors = _ridge(_basis(known, knots, shape), targets, roots, shape)
            gained = least - errors if best is not None else np.array([np.inf])
            if best is None or gained.mean() > gained.std() / np.sqrt(len(gained)):
                best, least = (shape, coefficients), errors
        assert best is not None
        return cls(best[0], centre, scale, knots, best[1])

    def __call__(self, inputs: FloatArray) -> FloatArray:
        """Return the trend at some inputs, (m, c)."""
        basis = _basis((inputs - self.centre) / self.scale, self.knots, self.shape)
        return np.asarray(basis @ self.coefficients)


def _basis(rows: FloatArray, knots: FloatArray, shape: Shape) -> FloatArray:
    parts = [np.ones((len(rows), 1))]
    if shape.linear:
        parts.append(rows)
    if shape.width is not None:
        parts.append(np.exp(-cdist(rows, knots, "sqeuclidean") / (2.0 * shape.width**2)))
    return np.hstack(parts)


def _ridge(basis: FloatArray, targets: FloatArray, roots: FloatArray, shape: Shape) -> tuple[FloatArray, FloatArray]:
    """Return coefficients, and the weighted squared error at each row when that is left out, in variances, (n,)."""
    n, size = basis.shape
    bumps = 0 if shape.width is None else min(KNOTS, n)
    penalties = np.full(size, STRAIGHT_RIDGE)
    penalties[0], penalties[size - bumps :] = 0.0, shape.ridge
    Q, R = np.linalg.qr(np.vstack([roots * basis, np.diag(np.sqrt(penalties))]))
    coefficients = solve_triangular(R, Q[:n].T @ (roots * targets))
    leverages = np.sum(Q[:n] ** 2, axis=1, keepdims=True)
    left_out = roots * (targets - basis @ coefficients) / np.maximum(1.0 - leverages, LEAST_FREEDOM)
    variances = targets.var(axis=0)  # so that units of columns do not matter
    return coefficients, np.mean(left_out**2 / positive_or_one(variances), axis=1)
