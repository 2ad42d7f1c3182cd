"""Colours, and what pictures of beliefs and runs have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray

ESTIMATE = "#1f5fa8"
TRUTH = "#222222"
POSITIVE = "#1f5fa8"
NEGATIVE = "#c8372d"
ALERT = "#d9822b"
DENSITY = "#2f8f5b"
QUIET = "#555555"
"""Curves that give context, such as the effective sample size."""
MISSING = "#8a8a8a"
LINE = "#999999"
STATES = "#bbbbbb"


def legend_above(ax: Any) -> None:
    """Put the legend above the axes, where it hides nothing."""
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=5, fontsize="small", frameon=False, borderaxespad=0.2)


def true_states(truth: Any, shape: tuple[int, int]) -> FloatArray:
    """Return true states as an array of the given shape, (T, d); NaN for last columns that they do not have.

    Examples
    --------
    >>> true_states([1.0, 2.0], (2, 1))
    array([[1.],
           [2.]])
    """
    states = np.asarray(truth, dtype=np.float64)
    if states.ndim == 2 and len(states) == shape[0] and 0 < states.shape[1] < shape[1]:
        unknown = np.full((shape[0], shape[1] - states.shape[1]), np.nan)
        return np.concatenate([states, unknown], axis=1)
    if states.size != np.prod(shape):
        raise ValueError(f"truth has shape {states.shape}; it must hold {shape[0]} states with {shape[1]} columns.")
    return states.reshape(shape)
