"""Kernel Herding over a continuous space: points that need not be among any candidates (Section 3.5).

Each pick climbs from the best candidate to a local maximum of m̂(x) − (1/p) Σ_{j<p} k(x, x_j).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kmcf.embedding.embedding import Embedding
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.objects import as_objects, is_numeric


class HerdedPoints(NamedTuple):
    """Points that represent an embedding with equal weights.

    Examples
    --------
    >>> HerdedPoints(np.zeros((3, 1)), 0.25).loss
    0.25
    """

    points: FloatArray
    """(ℓ, ...), in order."""
    loss: float
    """The RKHS distance of their uniform mean to the embedding."""


def herd_continuously(embedding: Embedding, size: int, candidates: Any = None) -> HerdedPoints:
    """Pick points of the state space that represent an embedding; states must be vectors of numbers.

    Parameters
    ----------
    embedding : Embedding
        m̂, with its kernel.
    size : int
        ℓ, how many points to pick.
    candidates : array (N, ...), optional
        Where to start from. None: the states of the embedding.

    Examples
    --------
    >>> from kmcf.kernels import Gaussian
    >>> embedding = Embedding(np.array([[0.0], [1.0]]), np.array([0.5, 0.5]), Gaussian(2.0))
    >>> herd_continuously(embedding, 1).points.round(3)  # between the two, where no candidate is
    array([[0.5]])
    """
    from scipy.optimize import minimize

    if not is_numeric(embedding.states):
        raise TypeError("herding over a continuous space needs states that are vectors of numbers.")
    if size < 1:
        raise ValueError(f"size = {size}; at least one point must be picked.")
    kernel = embedding.kernel_or_error()
    starts = embedding.states if candidates is None else as_objects(candidates, "candidates")
    shape = embedding.states.shape[1:]
    mean_at_starts = embedding.evaluate(starts)
    similarity = np.zeros(len(starts))  # Σ_j k(·, x_j) at the starts
    picked = np.empty((0, *shape))
    for p in range(1, size + 1):

        def objective(flat: FloatArray, p: int = p, picked: FloatArray = picked) -> float:
            point = flat.reshape(1, *shape)
            repulsion = float(np.sum(kernel(point, picked))) / p if len(picked) else 0.0
            return repulsion - float(embedding.evaluate(point)[0])

        start = starts[int(np.argmax(mean_at_starts - similarity / p))].ravel()
        climbed = minimize(objective, start)
        best = climbed.x if climbed.fun <= objective(start) else start
        point = wrapped_columns(best.reshape(1, *shape), embedding.angles)
        picked = np.concatenate([picked, point])
        similarity += np.asarray(kernel(starts, point), dtype=np.float64)[:, 0]
    uniform = Embedding(picked, np.full(size, 1.0 / size), kernel, embedding.angles)
    return HerdedPoints(picked, uniform.distance(embedding))
