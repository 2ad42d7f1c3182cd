"""What shows that a sensor has changed: running means of how observations differ from what was predicted."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.signal import lfilter

from kmcf.adaptation.observation_moments import ObservationMoments
from kmcf.adaptation.unlabelled import predicted
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects, is_numeric

REPORTED = {
    "prediction_score": (-1.0, "predicted worse"),
    "observation_distance": (1.0, "further from the examples"),
}
"""What steps report, its sign (the larger, the worse), and what it says about the observations.

Not the log evidence: it has no lower end, so that one step where examples are sparse looks like a changed sensor. The
kernel score says the same, and has one.
"""
OF_COLUMNS = ("elsewhere on average", "different from predictions on average", "more scattered than predicted")
"""What the observations' own columns say."""
REASONS = (*(reason for _, reason in REPORTED.values()), *OF_COLUMNS)
MEMORIES = (0.9, 0.97, 0.99)
"""What running means keep at each step: they look back about 10, 33 and 100 steps."""
WARM_UP = 5
"""The first steps of a run do not count."""
MOST_DEVIATIONS = 3.0
"""No single number counts for more than so many deviations: new states may be where examples are sparse."""


@dataclass(frozen=True, eq=False)
class Signals:
    """Reads the signals of a filter along sequences."""

    flt: Any
    moments: ObservationMoments | None
    """What columns are predicted to be; None where observations are not rows of numbers."""
    centre: FloatArray
    deviation: FloatArray

    @classmethod
    def of(cls, flt: Any) -> Self:
        """Look at the examples of a filter."""
        states, observations = flt.learnt_.examples
        if not (is_numeric(observations) and is_numeric(states) and np.ndim(observations) == 2):
            return cls(flt, None, np.zeros(0), np.zeros(0))
        rows = np.asarray(observations, dtype=np.float64)
        complete = np.isfinite(rows).all(axis=1)
        rows, known = rows[complete], np.asarray(states)[complete]
        if len(rows) < 2:
            return cls(flt, None, np.zeros(0), np.zeros(0))
        moments = ObservationMoments.of(flt.state_kernel_, known, rows, getattr(flt, "epsilon_", None))
        centre = np.median(rows, axis=0)
        deviation = np.abs(rows - centre).mean(axis=0)
        return cls(flt, moments, centre, np.where(deviation > 0, deviation, np.inf))

    def along(self, observations: Any, controls: Any, times: Any, stream: int) -> FloatArray:
        """Filter a sequence; return running means of its signals, (T, reasons × memories); NaN where unknown."""
        belief = self.flt.start(stream)
        reported, apart, residuals = [], [], []
        for t, y in enumerate(observations):
            control, time = (None if given is None else given[t] for given in (controls, times))
            if self.moments is not None:
                row = self._row(y)
                mean, variance = self.moments(predicted(self.flt, belief, control, time))
                apart.append((row - self.centre) / self.deviation)
                residuals.append((row - mean) / np.sqrt(variance))
            belief = self.flt.step(belief, y, control, time)
            reported.append([sign * getattr(belief.report, name) for name, (sign, _) in REPORTED.items()])
        found = [running_mean(series, memory) for series in np.array(reported).T for memory in MEMORIES]
        found += self._of_columns(apart, residuals, len(reported))
        table = np.stack(found, axis=1)
        table[:WARM_UP] = np.nan
        return table

    def _row(self, y: Objects | None) -> FloatArray:
        if y is None:
            return np.full(len(self.centre), np.nan)
        return np.ravel(np.asarray(y, dtype=np.float64))

    def _of_columns(self, apart: list[FloatArray], residuals: list[FloatArray], length: int) -> list[FloatArray]:
        """Return running means of the columns, over them as root mean squares."""
        if self.moments is None:
            return [np.full(length, np.nan)] * (len(OF_COLUMNS) * len(MEMORIES))
        places, differences = (np.clip(rows, -MOST_DEVIATIONS, MOST_DEVIATIONS) for rows in (apart, residuals))
        scatter = running_squares(differences)
        return [
            *(columns_together(places, memory) for memory in MEMORIES),
            *(columns_together(differences, memory) for memory in MEMORIES),
            *(running_mean(scatter, memory) for memory in MEMORIES),
        ]


def running_squares(rows: FloatArray) -> FloatArray:
    """Return the mean square of each row; NaN where nothing is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(np.nanmean(rows**2, axis=1))


def columns_together(rows: FloatArray, memory: float) -> FloatArray:
    """Return the root mean square over columns of their running means, (T,)."""
    means = np.stack([running_mean(column, memory) for column in rows.T])
    known = np.isfinite(means)
    return np.asarray(np.sqrt((np.where(known, means, 0.0) ** 2).sum(axis=0) / np.maximum(known.sum(axis=0), 1)))


def running_mean(series: FloatArray, memory: float) -> FloatArray:
    """Return the mean of the values so far, the latest ones counting most; NaN does not count.

    Examples
    --------
    >>> running_mean(np.array([1.0, np.nan, 3.0]), 0.5)
    array([1. , 1. , 2.6])
    """
    known = np.isfinite(series)
    total = lfilter([1.0], [1.0, -memory], np.where(known, series, 0.0))
    weight = lfilter([1.0], [1.0, -memory], known.astype(np.float64))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(weight > 0, total / weight, np.nan))
