"""What may be wrong with a step, as numbers: the larger, the worse; NaN where it is not known.

| signal | what it is | reason it gives |
|---|---|---|
| `observation_distance` | log distance of the observation to the nearest examples' | unlike any example |
| `observation_drift` | its running mean | changed sensor |
| `observation_shift` | how far the running mean of observations is from that of the examples | changed sensor |
| `residual_shift` | running mean of how observations differ from those around the estimate | changed sensor |
| `evidence_drop` | running mean of how much lower the log evidence is than expected | changed sensor |
| `rarity` | long running mean of how rare the observation is among those of the examples | changed sensor |
| `lost` | how much better a prior spread over all examples predicts the observation | lost |
| `ess` | log of the support's size over the effective sample size | uncovered state |
| `negative_mass` | total of the negative weights | cancelled weights |
| `state_distance` | negative log coverage of the predicted states by the examples | uncovered state |
| `leaving` | the mean is near the edge of the examples, observations are odd, few examples carry it | uncovered state |
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kmcf.bayes_rule.evidence import Evidence
from kmcf.numerics.arrays import FloatArray

UNCOVERED, UNLIKE, CHANGED, CANCELLED, LOST = (
    "uncovered state",
    "unlike any example",
    "changed sensor",
    "cancelled weights",
    "lost",
)
REASONS = {
    "observation_distance": UNLIKE,
    "observation_drift": CHANGED,
    "observation_shift": CHANGED,
    "residual_shift": CHANGED,
    "evidence_drop": CHANGED,
    "rarity": CHANGED,
    "lost": LOST,
    "ess": UNCOVERED,
    "negative_mass": CANCELLED,
    "state_distance": UNCOVERED,
    "leaving": UNCOVERED,
}
"""The signals, and the reason that each one gives."""
MARGINS = {
    "observation_distance": 0.1,
    "observation_drift": 0.05,
    "observation_shift": 0.02,
    "residual_shift": 0.02,
    "evidence_drop": 0.05,
    "rarity": 0.05,
    "lost": 0.5,
    "ess": 0.2,
    "negative_mass": 0.1,
    "state_distance": 0.02,
    "leaving": 0.3,
}
"""A signal must exceed its usual range by this much at least: less means nothing."""
MEMORY, LONG_MEMORY = 0.9, 0.96
"""How much of a running mean each step keeps: it looks back about ten, or 25, observations."""
MEMORIES = {"observation_drift": MEMORY, "observation_shift": MEMORY, "residual_shift": MEMORY, "evidence_drop": MEMORY,
            "rarity": LONG_MEMORY}  # fmt: skip
"""The signals that are running means, and what they keep."""


STRAYING = 0.3
"""Where part of the prediction is beyond the examples, an observation further from them than nine in ten of theirs
raises an alarm, if residuals are larger than by chance so often, too."""


class Running(NamedTuple):
    """Running means along a sequence; what they lack of full weight is filled with what is usual."""

    distance: float = 0.0
    """Of the log distance of observations to the examples."""
    innovation: float = 0.0
    """Of how much less probable than predicted they were."""
    rarity: float = 0.0
    """Of how rare they are among those of the examples; with the long memory."""
    weight: float = 0.0
    long_weight: float = 0.0

    def after(self, distance: float, innovation: float, rarity: float) -> Running:
        """Return them after one more observation; what is NaN counts as zero, and nothing at all if all are."""
        if math.isnan(distance) and math.isnan(innovation) and math.isnan(rarity):
            return self
        new, long_new = 1.0 - MEMORY, 1.0 - LONG_MEMORY
        return Running(
            MEMORY * self.distance + new * (0.0 if math.isnan(distance) else distance),
            MEMORY * self.innovation + new * (0.0 if math.isnan(innovation) else innovation),
            LONG_MEMORY * self.rarity + long_new * (0.0 if math.isnan(rarity) else rarity),
            MEMORY * self.weight + new,
            LONG_MEMORY * self.long_weight + long_new,
        )


NOTHING_SEEN = Running()
KEPT = np.array([MEMORY, MEMORY, LONG_MEMORY, MEMORY, LONG_MEMORY])


def running_means(distances: FloatArray, innovations: FloatArray, rarities: FloatArray) -> FloatArray:
    """Return :class:`Running` along whole sequences, (..., T) → (..., T, 5), as one step after the other would.

    Examples
    --------
    >>> running_means(np.array([1.0, np.nan]), np.array([2.0, np.nan]), np.array([0.0, np.nan])).round(2).tolist()
    [[0.1, 0.2, 0.0, 0.1, 0.04], [0.1, 0.2, 0.0, 0.1, 0.04]]
    """
    from scipy.signal import lfilter

    seen = ~(np.isnan(distances) & np.isnan(innovations) & np.isnan(rarities))
    found = np.zeros((*distances.shape, len(KEPT)))
    ones = np.ones(distances.shape)
    values = [np.nan_to_num(distances), np.nan_to_num(innovations), np.nan_to_num(rarities), ones, ones]
    for place in np.ndindex(distances.shape[:-1]):
        chosen = np.flatnonzero(seen[place])
        last = np.cumsum(seen[place]) - 1  # the observation that each step has seen last
        for k, series in enumerate(values):
            smooth = lfilter([1.0 - KEPT[k]], [1.0, -KEPT[k]], series[place][chosen])
            found[place][:, k] = np.where(last >= 0, np.append(smooth, 0.0)[last], 0.0)
    return found


def shift_sizes(points: FloatArray) -> FloatArray:
    """Return how far the running means of points (..., T, c) are from zero, per column, (..., T); NaN: missing.

    Examples
    --------
    >>> shift_sizes(np.array([[3.0, 4.0], [np.nan, np.nan]])).round(3).tolist()
    [0.354, nan]
    """
    from scipy.signal import lfilter

    seen = np.asarray(~np.isnan(points).any(axis=-1))
    found = np.full(seen.shape, np.nan)
    for place in np.ndindex(seen.shape[:-1]):
        means = lfilter([1.0 - MEMORY], [1.0, -MEMORY], points[place][seen[place]], axis=0)
        found[place][seen[place]] = size_of(means)
    return found


def size_of(mean: FloatArray) -> Any:
    """Return the root mean square of the columns."""
    return np.sqrt((mean**2).mean(axis=-1))


def lost(evidence: Evidence) -> Any:
    """Return how much better a prior spread over all examples predicts the observation, in log units.

    Near zero or negative: the prediction was at least as good. Large: the observation resembles examples, but none
    where the state was predicted to be.

    Examples
    --------
    >>> lost(Evidence(predicted=-9.0, spread=-2.0, expected=-1.0))
    7.0
    """
    return -evidence.ratio


def signals_of(columns: Mapping[str, Any], usual: tuple[float, float, float]) -> dict[str, FloatArray]:
    """Return the signals of T steps.

    Parameters
    ----------
    columns : mapping
        Arrays (T,): ``observation_distance``, ``observation_shift``, ``relative_evidence``, ``ess``,
        ``support_size``, ``negative_mass``, ``state_coverage``; and ``running`` (T, 5), as :class:`Running`. Perhaps
        ``residual_shift``, and ``edge``: how far beyond the examples means are.
    usual : three floats
        The usual log distance, innovation and rarity, for running means that have not seen much.
    """
    running = np.asarray(columns["running"], dtype=np.float64)
    rest, long_rest = 1.0 - running[..., 3], 1.0 - running[..., 4]
    with np.errstate(divide="ignore", invalid="ignore"):
        ess = np.log(columns["support_size"] / np.asarray(columns["ess"], dtype=np.float64))
        coverage = -np.log(np.maximum(columns["state_coverage"], 1e-12))
    nowhere = np.full(np.shape(ess), np.nan)
    return {
        "observation_distance": np.asarray(columns["observation_distance"], dtype=np.float64),
        "observation_drift": running[..., 0] + rest * usual[0],
        "observation_shift": np.asarray(columns["observation_shift"], dtype=np.float64),
        "residual_shift": np.asarray(columns.get("residual_shift", nowhere), dtype=np.float64),
        "evidence_drop": running[..., 1] + rest * usual[1],
        "rarity": running[..., 2] + long_rest * usual[2],
        "lost": -np.asarray(columns["relative_evidence"], dtype=np.float64),
        "ess": ess,
        "negative_mass": np.asarray(columns["negative_mass"], dtype=np.float64),
        "state_distance": coverage,
        "edge": np.asarray(columns.get("edge", nowhere), dtype=np.float64),
    }
