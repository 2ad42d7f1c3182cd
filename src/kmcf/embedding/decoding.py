"""Reading distributions off signed weighted samples: density, mode, quantiles, pre-images (Section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcf.embedding.kernel_mean import KernelMean
from kmcf.kernels import Gaussian
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.circles import circular_mean, wrapped_difference
from kmcf.numerics.objects import evenly_spaced, is_numeric, take

MOST_STARTS = 2000
"""Maximisers are sought among this many states with the largest weights."""
MOST_TIED = 128
"""Of states that share the largest weight, so many are compared by density."""


def density(
    points: FloatArray,
    rows: FloatArray,
    weights: FloatArray,
    bandwidth: float | FloatArray | None,
    angles: Sequence[int] = (),
) -> FloatArray:
    """Evaluate Σ w_i J_h(x − X_i) with Gaussian J_h, (m,); differences of angles are wrapped.

    Examples
    --------
    >>> density(np.array([[0.0]]), np.array([[0.0]]), np.array([1.0]), 1.0).round(4)
    array([0.3989])
    """
    h = _bandwidth(bandwidth, rows, weights, angles)
    log_scale = float(np.sum(np.log(h))) + 0.5 * rows.shape[1] * np.log(2.0 * np.pi)
    exponents = np.zeros((points.shape[0], rows.shape[0]))
    for j in range(rows.shape[1]):
        difference = points[:, j, None] - rows[None, :, j]
        if j in angles:
            difference = wrapped_difference(difference)
        exponents -= 0.5 * (difference / h[j]) ** 2
    return np.exp(exponents - log_scale) @ weights


def smoothing_bandwidth(rows: FloatArray, weights: FloatArray, angles: Sequence[int] = ()) -> FloatArray:
    """Rule-of-thumb smoothing per coordinate: sd × (4 / ((d + 2) ESS))^(1/(d+4)) (Silverman 1986, for ESS points).

    The standard deviations are those under the truncated weights, which always exist. A coordinate without spread
    gets a small positive value.
    """
    positive = np.maximum(weights, 0.0)
    positive = positive / positive.sum()
    centre = positive @ rows
    deviations = rows - centre
    for j in angles:
        deviations[:, j] = wrapped_difference(rows[:, j] - circular_mean(rows[:, j], positive))
    spread = np.sqrt(positive @ deviations**2)
    d = rows.shape[1]
    ess = max(1.0, 1.0 / float(np.sum(weights**2)))
    h: FloatArray = spread * (4.0 / ((d + 2.0) * ess)) ** (1.0 / (d + 4.0))
    floor = 1e-6 * max(float(np.ptp(rows, axis=0).max(initial=0.0)), 1e-6)
    return np.maximum(h, floor)


def density_mode(
    rows: FloatArray,
    weights: FloatArray,
    bandwidth: float | FloatArray | None,
    angles: Sequence[int] = (),
) -> FloatArray:
    """Maximise the smoothed density: climb from the three best states of the sample, keep the best point found.

    Examples
    --------
    >>> density_mode(np.array([[0.0], [2.0]]), np.array([0.5, 0.5]), 2.0).round(3)
    array([1.])
    """
    from scipy.optimize import minimize

    h = _bandwidth(bandwidth, rows, weights, angles)

    def negative_density(point: FloatArray) -> float:
        return -float(density(point[None, :], rows, weights, h, angles)[0])

    heavy = rows[np.argsort(-weights, kind="stable")[:MOST_STARTS]]
    values = density(heavy, rows, weights, h, angles)
    scale = max(float(np.max(np.abs(values))), np.finfo(float).tiny)
    starts = heavy[np.argsort(-values, kind="stable")[:3]]
    candidates = [starts[0]]
    for start in starts:
        climbed = minimize(lambda z, s=start: negative_density(s + z * h) / scale, np.zeros(rows.shape[1]))
        candidates.append(start + climbed.x * h)
    return min(candidates, key=negative_density)


def heaviest_state(embedding: KernelMean) -> int:
    """Return the index of the state with the largest weight; where several share it, the density decides.

    After a prediction all particles weigh the same, and the first of them says nothing. Of at most ``MOST_TIED`` tied
    states, evenly spread over the sample, the one is taken where the smoothed density is largest; for states that are
    objects, the kernel mean takes its place.

    Examples
    --------
    >>> heaviest_state(KernelMean(np.array([[9.0], [1.0], [1.1], [1.2]]), np.full(4, 0.25)))
    2
    """
    weights = embedding.weights
    tied = np.flatnonzero(weights == weights.max())
    if len(tied) <= 1:
        return int(np.argmax(weights))
    some = tied[evenly_spaced(len(tied), MOST_TIED)]
    states = embedding.states
    if is_numeric(states):
        rows = states.reshape(len(states), -1)
        heights = density(rows[some], rows, weights, None, embedding.angles)
    elif embedding.kernel is not None:
        heights = embedding.evaluate(take(states, some))
    else:
        return int(tied[0])
    return int(some[np.argmax(heights)])


def quantile(column: FloatArray, weights: FloatArray, levels: FloatArray) -> FloatArray:
    """Quantiles of a one-dimensional signed sample.

    The cumulative sum of signed weights need not increase; it is replaced by the average of the smallest non-decreasing
    function above and the largest below it, then inverted by linear interpolation between the midpoints of its steps.
    States without weight play no part in it.

    Examples
    --------
    >>> quantile(np.array([3.0, 1.0, 2.0]), np.full(3, 1 / 3), np.array([0.5]))
    array([2.])
    """
    order = np.argsort(column, kind="stable")
    order = order[weights[order] != 0.0]
    points, steps = column[order], weights[order]
    midpoints = np.cumsum(steps) - 0.5 * steps
    above = np.maximum.accumulate(midpoints)
    below = np.minimum.accumulate(midpoints[::-1])[::-1]
    return np.interp(levels, np.clip(0.5 * (above + below), 0.0, 1.0), points)


def preimage(embedding: KernelMean, iterations: int = 100) -> Any:
    """Find argmin_x ‖k(·, x) − m̂‖² = argmin_x k(x, x) − 2 m̂(x), first over the sample, then by fixed point.

    For a Gaussian kernel the stationary points satisfy x = Σ w_i k(x, X_i) X_i / Σ w_i k(x, X_i) (Mika et al. 1999).
    With signed weights the iteration may fail to improve; the best point seen is returned.
    """
    kernel = embedding.kernel_or_error()
    candidates = take(embedding.states, embedding.heaviest(MOST_STARTS))
    diagonal = np.asarray(kernel.diagonal(candidates), dtype=np.float64)
    start = candidates[int(np.argmin(diagonal - 2.0 * embedding.evaluate(candidates)))]
    if type(kernel) is not Gaussian or embedding.angles:
        return start
    best, best_value = start, -np.inf
    point = start
    for _ in range(iterations):
        similarity = np.asarray(kernel(point[None], embedding.states), dtype=np.float64)[0] * embedding.weights
        value = float(similarity.sum())
        if value <= max(best_value, 0.0):
            break
        best, best_value = point, value
        point = np.tensordot(similarity, embedding.states, axes=1) / value
    return best


def _bandwidth(
    bandwidth: float | FloatArray | None, rows: FloatArray, weights: FloatArray, angles: Sequence[int]
) -> FloatArray:
    """Return the smoothing asked for, checked, or the rule of thumb."""
    if bandwidth is None:
        return smoothing_bandwidth(rows, weights, angles)
    h = np.asarray(bandwidth, dtype=np.float64)
    if h.ndim > 1 or (h.ndim == 1 and h.shape != (rows.shape[1],)) or not np.all(np.isfinite(h) & (h > 0)):
        raise ValueError(
            f"bandwidth = {bandwidth!r}; give one positive number, or one per state column ({rows.shape[1]})."
        )
    return np.broadcast_to(h, (rows.shape[1],))
