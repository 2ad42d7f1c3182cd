"""Affine corrections, one per column of the observation: how a sensor's numbers now relate to what they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.stats import t as student

from kmcf.numerics.arrays import BoolArray, FloatArray

LEAST_SCALE, MOST_SCALE = 0.05, 20.0
"""A sensor whose scale changed by more than this is another sensor."""
FREEDOM = 4.0
"""Degrees of freedom of what is seen, around what is predicted."""
CORE = (FREEDOM - 2.0) / FREEDOM
"""The part of a Student distribution's variance that is its scale's square."""


@dataclass(frozen=True, eq=False)
class Affine:
    """What the sensor says now is ``scale`` times what it would have said before, plus ``shift``, by column.

    Parameters
    ----------
    scale : array (q,)
        Factors by column.
    shift : array (q,)
        What is added, by column.

    Examples
    --------
    >>> changed = Affine(np.array([2.0]), np.array([1.0]))
    >>> changed.now(np.array([[3.0]])), changed.before(np.array([[7.0]]))
    (array([[7.]]), array([[3.]]))
    """

    scale: FloatArray
    shift: FloatArray

    @classmethod
    def none(cls, width: int) -> Self:
        """Return that nothing has changed."""
        return cls(np.ones(width), np.zeros(width))

    def now(self, observations: FloatArray) -> FloatArray:
        """Return what the sensor would say now, where it said these numbers before."""
        return self.scale * observations + self.shift

    def before(self, observations: FloatArray) -> FloatArray:
        """Return what the sensor would have said before, where it says these numbers now."""
        return (observations - self.shift) / self.scale

    def only(self, columns: BoolArray) -> Affine:
        """Return the same change in some columns, and none in the others."""
        return Affine(np.where(columns, self.scale, 1.0), np.where(columns, self.shift, 0.0))

    def beyond(self, earlier: Affine, factor: float) -> Affine:
        """Go on in the direction from an earlier estimate to this one, by ``factor`` times their difference."""
        scale = earlier.scale * (self.scale / earlier.scale) ** factor
        return Affine(np.clip(scale, LEAST_SCALE, MOST_SCALE), earlier.shift + factor * (self.shift - earlier.shift))


def log_densities(seen: FloatArray, means: FloatArray, variances: FloatArray, change: Affine) -> FloatArray:
    """Return the log density of each number seen, given what the old sensor would say on average, (T, q).

    It is the density of the numbers as they are seen, so that corrections can be compared, by a Student distribution of
    four degrees of freedom: a few states that the examples do not cover must not decide.

    Examples
    --------
    >>> seen, means, variances = np.array([[3.0]]), np.array([[1.0]]), np.array([[1.0]])
    >>> log_densities(seen, means, variances, Affine(np.array([2.0]), np.array([1.0]))).round(3)
    array([[-1.327]])
    """
    spread = change.scale * np.sqrt(CORE * variances)
    return np.asarray(student.logpdf((seen - change.now(means)) / spread, FREEDOM) - np.log(spread))


def fitted_change(
    seen: FloatArray, means: FloatArray, variances: FloatArray, *, scaled: bool, now: Affine | None = None
) -> tuple[Affine, FloatArray]:
    """Return the most probable change, given what the old sensor would say, and the shifts' standard errors.

    With seen = a m + b + a √v ε, the shift b is a weighted mean, and the scale a solves n a² + S_ym a − S_yy = 0.

    Parameters
    ----------
    seen, means, variances : arrays (T, q)
        What is seen; mean and variance of what the old sensor would say. NaN in the first two: unknown.
    scaled : bool
        Whether the scale may have changed, too.
    now : Affine, optional
        The present estimate: numbers that are far off by it count for less, as under a Student distribution (of which
        this is one step of EM). None: all count alike.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> means = rng.normal(size=(500, 1))
    >>> change, error = fitted_change(3.0 * (means + 0.1 * rng.normal(size=(500, 1))) - 2.0, means, 0.01 + 0.0 * means,
    ...                               scaled=True)
    >>> change.scale.round(1), change.shift.round(1)
    (array([3.]), array([-2.]))
    """
    known = np.isfinite(seen) & np.isfinite(means)
    means = np.where(known, means, 0.0)
    values = np.where(known, seen, 0.0)
    weights = np.where(known, 1.0 / variances, 0.0)
    if now is not None:
        core = CORE * variances
        off = (values - now.now(means)) ** 2 / (now.scale**2 * core)
        weights = np.where(known, (FREEDOM + 1.0) / (FREEDOM + off) / core, 0.0)
    total = np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
    seen_mean, old_mean = (weights * values).sum(axis=0) / total, (weights * means).sum(axis=0) / total
    scale = np.ones(seen.shape[1])
    count = np.maximum(known.sum(axis=0), 1)
    if scaled:
        squares = (weights * (values - seen_mean) ** 2).sum(axis=0)
        products = (weights * (values - seen_mean) * (means - old_mean)).sum(axis=0)
        scale = (-products + np.sqrt(products**2 + 4.0 * count * squares)) / (2.0 * count)
        scale = np.clip(scale, LEAST_SCALE, MOST_SCALE)
    heard = np.asarray(known.any(axis=0))
    shift = seen_mean - scale * old_mean
    return Affine(scale, shift).only(np.asarray(heard, dtype=bool)), np.where(heard, scale / np.sqrt(total), np.inf)


def matched_change(seen: FloatArray, examples: FloatArray, *, scaled: bool) -> Affine:
    """Return the change that makes the columns' medians (and mean deviations from them) those of the examples.

    It assumes that the states are visited as they were in the examples: a place to start from.
    """
    middle, usual = _middle(seen), _middle(examples)
    scale = np.ones(len(usual[0]))
    if scaled:
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = middle[1] / usual[1]
        scale = np.where(np.isfinite(ratio) & (ratio > 0), np.clip(ratio, LEAST_SCALE, MOST_SCALE), 1.0)
    return Affine(scale, middle[0] - scale * usual[0]).only(heard_of(middle[0]))


def heard_of(centre: FloatArray) -> BoolArray:
    """Say which columns were heard at all."""
    return np.asarray(np.isfinite(centre), dtype=bool)


def _middle(rows: FloatArray) -> tuple[Any, Any]:
    heard = np.isfinite(rows).any(axis=0)
    filled = np.where(heard, rows, 0.0)
    centre = np.nanmedian(filled, axis=0)
    spread = np.nanmedian(np.abs(filled - centre), axis=0)
    return np.where(heard, centre, np.nan), np.where(heard, spread, np.nan)
