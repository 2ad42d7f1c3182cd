"""What a learnt observation kernel predicts of the state: features rich enough to tell posteriors apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg

from kmcf.kernels.distances import median_distance, squared_euclidean
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.circles import on_circles

BUMPS, BUMP_WIDTH = 20, 0.3
MOMENT_SHARE = 1.0


class Targets(NamedTuple):
    """Functions of the state, at the training states."""

    values: FloatArray
    """(n, K), centred columns of unit variance."""
    weights: FloatArray
    """How much each counts in the summary, (K,)."""


def state_targets(states: FloatArray, angles: Sequence[int] = ()) -> Targets:
    """Return moments of the state and the leading features of a Gaussian kernel on it.

    The second group spans the embedding of the state's distribution given the observation, scaled as in the RKHS: two
    observations get similar summaries only if they imply similar *distributions*, however many modes these have. The
    first (each coordinate and its square) makes the summary precise where one mode dominates. Angles enter as cosine
    and sine.

    Parameters
    ----------
    states : array (n, d)
        Training states.
    angles : sequence of int
        Columns that are angles in radians.
    """
    rows = _standardised(on_circles(states, angles))
    if rows.shape[1] == 0:  # all states are equal: nothing to predict
        return Targets(np.zeros((len(states), 1)), np.ones(1))
    moments = _standardised(np.concatenate([rows, rows**2], axis=1))
    bumps, eigenvalues = _principal_features(rows, BUMPS, BUMP_WIDTH)
    moment_weight = np.sqrt(MOMENT_SHARE * max(float(eigenvalues.sum()), 1e-12) / max(moments.shape[1], 1))
    return Targets(
        np.concatenate([moments, bumps], axis=1),
        np.concatenate([np.full(moments.shape[1], moment_weight), np.sqrt(eigenvalues)]),
    )


def _standardised(rows: FloatArray) -> FloatArray:
    """Centre and scale the columns; drop those that do not vary."""
    spread = rows.std(axis=0)
    varying = spread > 1e-12 * np.maximum(np.abs(rows).max(axis=0), 1.0)
    return (rows[:, varying] - rows[:, varying].mean(axis=0)) / spread[varying]


def _principal_features(rows: FloatArray, count: int, width: float) -> tuple[FloatArray, FloatArray]:
    """Return the leading principal components of a centred Gaussian kernel, of unit variance, and their eigenvalues."""
    n = len(rows)
    if rows.shape[1] == 0:
        return np.zeros((n, 0)), np.zeros(0)
    bandwidth = width * median_distance(rows)
    gram = np.exp(-0.5 * squared_euclidean(rows / bandwidth, rows / bandwidth))
    column = gram.mean(axis=0)
    centred = gram - column[None, :] - column[:, None] + column.mean()
    values, vectors = linalg.eigh(centred, subset_by_index=(max(n - count, 0), n - 1), check_finite=False)
    kept = min(count, int(np.sum(values > 1e-8 * n)))
    leading = vectors[:, ::-1][:, :kept] * np.sqrt(n)
    return np.ascontiguousarray(leading), values[::-1][:kept] / n
