"""Distances between rows, and the median heuristic."""

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist, pdist

from kmcf.numerics.arrays import Array, FloatArray, array_namespace
from kmcf.numerics.differences import scaled_squares

_FEW_COLUMNS = 8
_MEDIAN_SAMPLE = 2000
_ROUNDING = 1e-14


def common_columns(a: Array, b: Array) -> int:
    """Return how many columns two collections of rows have; an error if they differ.

    Examples
    --------
    >>> common_columns(np.zeros((5, 3)), np.zeros((2, 3)))
    3
    """
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"the objects to compare have {a.shape[1]} and {b.shape[1]} columns; these numbers must agree."
        )
    return int(a.shape[1])


def squared_euclidean(a: Array, b: Array) -> Array:
    """Return ‖a_i − b_j‖² for all rows, (n, m).

    For a few columns, or a single b, the differences are formed directly, which is exact for close points; for many
    columns the expanded square is used, after centring to limit cancellation, and what could be rounding alone counts
    as zero.

    Examples
    --------
    >>> squared_euclidean(np.array([[0.0], [1.0]]), np.array([[3.0]]))
    array([[9.],
           [4.]])
    """
    xp = np if type(a) is np.ndarray and type(b) is np.ndarray else array_namespace(a, b)
    columns = common_columns(a, b)
    if columns == 0 or b.shape[0] == 0:
        return xp.zeros((a.shape[0], b.shape[0]), dtype=b.dtype)
    few = 2 <= columns <= _FEW_COLUMNS or (columns > 1 and b.shape[0] == 1)
    if few and xp is np and a.dtype == b.dtype == np.float64:
        return np.asarray(cdist(a, b, "sqeuclidean"))  # the same differences, in one pass
    if columns <= _FEW_COLUMNS:
        difference = a[:, None, 0] - b[None, :, 0]
        total = difference * difference
        for j in range(1, columns):
            difference = a[:, None, j] - b[None, :, j]
            total += difference * difference
        return total
    centre = xp.mean(b, axis=0)
    centred_a = a - centre
    centred_b = centred_a if a is b else b - centre
    squares_a = xp.sum(centred_a * centred_a, axis=1)
    squares_b = xp.sum(centred_b * centred_b, axis=1)
    squares = squares_a[:, None] + squares_b[None, :]
    total = squares - 2.0 * (centred_a @ centred_b.T)
    return xp.where(total > _ROUNDING * squares, total, 0.0)


def scaled_euclidean(a: Array, b: Array, factor: float) -> Array:
    """Return factor · ‖a_i − b_j‖² for all rows, (n, m), in a new array.

    Examples
    --------
    >>> scaled_euclidean(np.array([[0.0], [1.0]]), np.array([[3.0]]), -0.5)
    array([[-4.5],
           [-2. ]])
    """
    if type(a) is type(b) is np.ndarray and a.shape[1] == b.shape[1] == 1 and a.dtype == b.dtype == np.float64:
        return scaled_squares(a[:, 0], b[:, 0], factor)
    squares = squared_euclidean(a, b)
    squares *= factor
    return squares


def euclidean(a: Array, b: Array) -> Array:
    """Return ‖a_i − b_j‖₂ for all rows, (n, m)."""
    return array_namespace(a, b).sqrt(squared_euclidean(a, b))


def manhattan(a: Array, b: Array) -> Array:
    """Return ‖a_i − b_j‖₁ for all rows, (n, m).

    Examples
    --------
    >>> manhattan(np.array([[0.0, 0.0]]), np.array([[3.0, -4.0]]))
    array([[7.]])
    """
    xp = array_namespace(a, b)
    total = xp.zeros((a.shape[0], b.shape[0]), dtype=b.dtype)
    for j in range(common_columns(a, b)):
        total += xp.abs(a[:, None, j] - b[None, :, j])
    return total


def median_distance(rows: FloatArray, distance: Callable[[Array, Array], Array] = euclidean) -> float:
    """Return the median distance between pairs of rows: the usual first guess for a bandwidth.

    Where more than half of the pairs coincide, it is the median of the positive distances; where all do, it is 1. More
    than 2000 rows are represented by 2000 of them, drawn from the *sorted* rows with a fixed seed, so that the result
    does not depend on their order.

    Examples
    --------
    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    >>> median_distance(np.zeros((5, 2)))
    1.0
    """
    rows = np.asarray(rows, dtype=np.float64)
    if rows.shape[0] > _MEDIAN_SAMPLE:
        order = np.lexsort(rows.T[::-1])
        chosen = np.random.default_rng(0).choice(rows.shape[0], _MEDIAN_SAMPLE, replace=False)
        rows = rows[order[chosen]]
    scale = max(
        float(np.abs(rows).max(initial=0.0)), 1e-100
    )  # so that no square overflows; anything smaller counts as zero
    if distance is euclidean and 1 <= rows.shape[1] <= _FEW_COLUMNS:
        distances = scale * pdist(rows / scale)  # the same numbers, half as many
    else:
        distances = scale * distance(rows / scale, rows / scale)[np.triu(np.ones((len(rows), len(rows)), bool), k=1)]
    distances[distances < 1e-100] = 0.0
    median = float(np.median(distances)) if distances.size else 0.0
    if median > 0:
        return median
    positive = distances[distances > 0]
    return float(np.median(positive)) if positive.size else 1.0
