"""Arithmetic on angles in radians."""

import math
from collections.abc import Sequence

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, array_namespace


def wrapped_difference(angles: Array) -> Array:
    """Map differences of angles to (−π, π].

    Examples
    --------
    >>> wrapped_difference(np.array([0.0, 2 * np.pi + 0.25, np.pi, -np.pi])).round(2)
    array([0.  , 0.25, 3.14, 3.14])
    """
    return np.pi - (np.pi - angles) % (2.0 * np.pi)  # the operator also takes JAX arrays


def wrapped_columns(rows: Array, columns: Sequence[int]) -> Array:
    """Return rows (n, ...) of any library with some columns, counted over the flattened rows, wrapped to (−π, π].

    Examples
    --------
    >>> wrapped_columns(np.array([[4.0, 4.0]]), [1]).round(2)
    array([[ 4.  , -2.28]])
    """
    if not len(columns):
        return rows
    chosen = np.zeros(math.prod(rows.shape[1:]), dtype=bool)
    try:
        chosen[list(columns)] = True
    except IndexError:
        raise ValueError(f"angles = {columns!r}, but the columns are 0 to {len(chosen) - 1}.") from None
    return array_namespace(rows).where(chosen.reshape(rows.shape[1:]), wrapped_difference(rows), rows)


def on_circles(rows: FloatArray, columns: Sequence[int]) -> FloatArray:
    """Return rows (n, d) without their angle columns, whose cosines and then sines are appended.

    Examples
    --------
    >>> on_circles(np.array([[np.pi / 2, 5.0]]), [0]).round(2)
    array([[5., 0., 1.]])
    """
    straight = [j for j in range(rows.shape[1]) if j not in columns]
    turned = rows[:, list(columns)]
    return np.concatenate([rows[:, straight], np.cos(turned), np.sin(turned)], axis=1)


def circular_mean(angles: FloatArray, weights: FloatArray) -> float:
    """Return the direction of the weighted mean of the points (cos a, sin a), in (−π, π].

    Examples
    --------
    >>> round(circular_mean(np.array([0.1, 2 * np.pi - 0.1]), np.array([0.5, 0.5])), 6) + 0.0
    0.0
    """
    return float(np.arctan2(weights @ np.sin(angles), weights @ np.cos(angles)))
