"""Which columns of a sensor have changed, from a few new pairs: affine changes, judged column by column.

Each way, shifts alone or shifts and scales, is estimated without a fifth of the pairs and judged on that fifth, by the
log density of what was seen there given the old examples. A column counts as changed if that gains beyond chance by
itself: one receiver that is off among many leaves the others as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kmcf.adaptation.affine import Affine, fitted_change, log_densities
from kmcf.adaptation.observation_moments import ObservationMoments
from kmcf.adaptation.unlabelled import Judged
from kmcf.numerics.arrays import BoolArray, FloatArray, IntArray

FOLDS = 5
SURE = 1.64
"""A gain on pairs left out must exceed this many standard errors."""
ROUNDS = 5
"""Steps of EM: pairs that are far off count for less."""


class ColumnChange(NamedTuple):
    """An affine change of some columns; how it was judged."""

    name: str
    """"shift", "shift and scale" or "unchanged"."""
    columns: BoolArray
    """Which columns changed."""
    judged: list[Judged]

    @property
    def gain(self) -> tuple[float, float]:
        """By how much more probable pairs left out become, in log units, and the standard error."""
        return next(((one.gain, one.gain_error) for one in self.judged if one.name == self.name), (0.0, 0.0))

    def estimated(self, states: FloatArray, observations: FloatArray, moments: ObservationMoments) -> Affine:
        """Return the change of these columns that pairs show."""
        if self.name == "unchanged":
            return Affine.none(len(self.columns))
        return change_of(states, observations, moments, scaled="scale" in self.name).only(self.columns)


def change_of(states: FloatArray, observations: FloatArray, moments: ObservationMoments, *, scaled: bool) -> Affine:
    """Return the change of all columns that pairs show, under a Student distribution."""
    expected = moments.at(states)
    change = fitted_change(observations, *expected, scaled=scaled)[0]
    for _ in range(ROUNDS):
        change = fitted_change(observations, *expected, scaled=scaled, now=change)[0]
    return change


def changed_columns(states: FloatArray, observations: FloatArray, moments: ObservationMoments) -> ColumnChange:
    """Return the affine change of some columns that gains most on pairs left out; "unchanged" if none does for sure.

    Parameters
    ----------
    states, observations : arrays (N, d), (N, q)
        The new pairs.
    moments : ObservationMoments
        What the sensor showed before.
    """
    best, judged = ColumnChange("unchanged", np.zeros(observations.shape[1], dtype=bool), []), []
    for name in ("shift", "shift and scale"):
        gains = left_out_gains(states, observations, moments, scaled="scale" in name)
        columns = gains.sum(axis=0) > SURE * _error(gains)
        together = gains[:, columns].sum(axis=1)
        judged.append(Judged(name, float(together.sum()), float(_error(together))))
        sure = columns.any() and judged[-1].gain > SURE * judged[-1].gain_error
        if sure and judged[-1].gain > max((one.gain for one in judged[:-1] if best.name == one.name), default=0.0):
            best = best._replace(name=name, columns=columns)
    return best._replace(judged=judged)


def left_out_gains(
    states: FloatArray, observations: FloatArray, moments: ObservationMoments, *, scaled: bool
) -> FloatArray:
    """Return how much more probable a change estimated from other pairs makes each number, (N, q)."""
    count, width = observations.shape
    gains = np.zeros((count, width))
    for left_out in folds(count):
        kept = np.setdiff1d(np.arange(count), left_out)
        change = change_of(states[kept], observations[kept], moments, scaled=scaled)
        expected, seen = moments.at(states[left_out]), observations[left_out]
        usual = log_densities(seen, *expected, Affine.none(width))
        gains[left_out] = log_densities(seen, *expected, change) - usual
    return gains


def folds(count: int) -> list[IntArray]:
    """Divide pairs into successive parts, each of which is left out once."""
    return list(np.array_split(np.arange(count), min(FOLDS, count)))


def _error(gains: FloatArray) -> FloatArray:
    """Return the standard error of the sum of gains over their first axis."""
    return np.asarray(np.sqrt(len(gains)) * gains.std(axis=0, ddof=1))
