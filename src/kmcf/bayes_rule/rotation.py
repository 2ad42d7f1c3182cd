"""Which few directions of many features to keep."""

from __future__ import annotations

import numpy as np

from kmcf.numerics.arrays import FloatArray

RIDGE = 1e-2
"""Regularisation of the whitening, relative to the mean squared feature norm."""


def leading_directions(rows: FloatArray, rank: int) -> FloatArray:
    """Return the orthonormal directions of largest variance about zero, one row each, (rank, q).

    Examples
    --------
    >>> leading_directions(np.array([[0.0, 2.0], [1.0, 0.0]]), 1).round(6) + 0.0
    array([[0., 1.]])
    """
    _, vectors = np.linalg.eigh(rows.T @ rows)
    directions = vectors[:, ::-1][:, :rank].T
    return np.ascontiguousarray(directions * np.sign(directions.sum(axis=1, keepdims=True)))


def informative_directions(rows: FloatArray, targets: FloatArray) -> FloatArray:
    """Return orthonormal directions of the rows, (q, q), the most informative about the targets first.

    They are the leading left singular vectors of (VᵀV + ρI)^-1/2 VᵀU, mapped back by the same whitening: a regularised
    canonical correlation of the rows V with the targets U. After these come the directions of largest variance.

    Observation features of largest variance need not say anything about the state. With ten-dimensional observations
    whose *scale* depends on the state, the ten leading ones after the mean are linear in the observation and say
    nothing.

    Examples
    --------
    >>> rows = np.array([[3.0, 1.0], [-3.0, 1.0], [3.0, -1.0], [-3.0, -1.0]])
    >>> np.abs(informative_directions(rows, rows[:, 1:])).round(6)
    array([[0., 1.],
           [1., 0.]])
    """
    values, vectors = np.linalg.eigh(rows.T @ rows)
    ridge = RIDGE * max(float(np.sum(rows**2)), np.finfo(float).tiny)
    scale = 1.0 / np.sqrt(np.maximum(values, 0.0) + ridge)
    left, _, _ = np.linalg.svd((vectors * scale).T @ (rows.T @ targets), full_matrices=False)
    informative = vectors @ (scale[:, None] * left)
    orthonormal, _ = np.linalg.qr(np.concatenate([informative, vectors[:, ::-1]], axis=1))
    return np.ascontiguousarray(orthonormal.T)
