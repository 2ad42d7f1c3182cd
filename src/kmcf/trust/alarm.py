"""The watch over a filter: what it looks at in every step, and when it raises an alarm."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kmcf.bayes_rule.base import LEAST_SIMILARITY
from kmcf.numerics.arrays import BoolArray, FloatArray, has_gaps
from kmcf.numerics.objects import Objects, is_numeric
from kmcf.trust.distances import RawDistances
from kmcf.trust.hull import Hull
from kmcf.trust.residuals import Expected
from kmcf.trust.signals import CANCELLED, MEMORY, UNCOVERED, UNLIKE
from kmcf.trust.thresholds import LABEL, Thresholds, thresholds_from

LEAST_ESS = 1.0 - 1e-9
"""No distribution has an effective sample size below one (up to rounding): signed weights stand against each other."""
Calibration = Callable[[RawDistances | None], Mapping[str, FloatArray]]
"""Returns the columns of steps that went well, given the distances between observations."""


class Look(NamedTuple):
    """What a watch saw in one observation."""

    distance: float = np.nan
    """Its log distance to the examples; NaN where nothing can be compared."""
    running: FloatArray | None = None
    """Running means of the observations' coordinates and of their residuals after it, (2, c)."""
    shift: float = np.nan
    """The size of the first."""
    residual_shift: float = np.nan
    """The size of the second; NaN where the state is not known."""


class Watch:
    """Looks at observations as they come, and decides about steps afterwards.

    Thresholds are found when they are first asked for, so that a filter whose alarms nobody reads costs nothing.

    Parameters
    ----------
    states, observations : arrays or lists
        All examples. No observations: there is nothing to compare with.
    angles : sequence of int
        State columns that are angles.
    calibration : callable
        Returns the columns of good steps.
    known : Thresholds, optional
        The thresholds, if they are known already.

    Examples
    --------
    >>> from kmcf.trust.rehearsal import left_out_distances
    >>> states = np.linspace(0.0, 1.0, 100)[:, None]
    >>> watch = Watch(states, states, (), lambda distances: left_out_distances(distances, np.arange(100)))
    >>> bool(watch.distance(np.array([[3.0]])) > watch.thresholds.levels["observation_distance"])
    True
    """

    def __init__(
        self,
        states: Objects,
        observations: Objects | None,
        angles: Sequence[int],
        calibration: Calibration,
        known: Thresholds | None = None,
    ) -> None:
        self._states: Objects = states
        self._observations = observations
        self._angles = tuple(angles)
        self._calibration: Calibration | None = calibration
        self._known = known
        self._whole: Watch | None = None

    @cached_property
    def distances(self) -> RawDistances | None:
        """The distances between observations; None where they are not numbers."""
        return None if self._observations is None else RawDistances.of(self._observations)

    @cached_property
    def expected(self) -> Expected | None:
        """What observations are like around a state; None where states or observations are not numbers."""
        known = self.distances
        return None if known is None else known.expected(self._states, self._angles)

    @cached_property
    def hull(self) -> Hull | None:
        """Where the examples end; None where states are not numbers."""
        return Hull.of(self._states, self._angles)

    @property
    def known(self) -> Thresholds | None:
        """The thresholds, if they have been found."""
        return self._known

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds; the first call finds them."""
        if self._known is None and self._whole is not None:
            self._known = self._whole.thresholds
        if self._known is None:
            assert self._calibration is not None
            self._known = thresholds_from(self._calibration(self.distances))
        return self._known

    def blind(self) -> Watch:
        """Return the same watch over observations that lack numbers, whose distances it does not know."""
        view = copy.copy(self)
        view.__dict__["distances"] = view.__dict__["expected"] = None
        view._whole = self
        return view

    def distance(self, observation: Objects) -> float:
        """Return the log distance of an observation (a collection of length 1) to the examples; NaN if unknown."""
        return self.look(None, observation).distance

    def look(self, before: FloatArray | None, observation: Objects, mean: FloatArray | None = None) -> Look:
        """Compare an observation with the examples.

        Parameters
        ----------
        before : array (2, c), optional
            The running means before it.
        observation : array (1, ...)
            The observation.
        mean : array (d,), optional
            The mean after it; None where it was not used.
        """
        if self.distances is None or _has_gaps(observation):
            return Look(running=before)
        distance, coordinates = self.distances.of_one(observation)
        # None yet, or one from a filter of other columns.
        if before is None or before.shape != (2, len(coordinates)):
            before = np.zeros((2, len(coordinates)))
        residual = None if mean is None or self.expected is None else self.expected.residual(mean, coordinates)
        known = np.array([coordinates, coordinates if residual is None else residual])
        running = MEMORY * before + (1.0 - MEMORY) * known
        if residual is None:
            running[1] = before[1]
            return Look(distance, running, _size(running[0]))
        return Look(distance, running, *map(_size, running))

    def decide(self, columns: Mapping[str, Any]) -> tuple[BoolArray, Any]:
        """Say which of T steps raise an alarm, and why.

        Parameters
        ----------
        columns : mapping
            As for :func:`~kmcf.trust.signals.signals_of`; and ``mean`` (T, ...), ``rejected`` and
            ``observation_coverage`` (T,). Perhaps ``straying`` (T,): whether part of the prediction is beyond the
            examples and observations differ from theirs.
        """
        alarm, reason = self.thresholds.decide({**columns, **self._edge(columns)})
        rejected = np.asarray(columns["rejected"], dtype=bool)
        unlike = np.asarray(columns["observation_coverage"]) <= LEAST_SIMILARITY
        reason = np.where(rejected & ~alarm, np.where(unlike, UNLIKE, CANCELLED), reason)
        impossible = np.asarray(columns["ess"], dtype=np.float64) < LEAST_ESS
        reason = np.where(impossible & ~alarm & ~rejected, CANCELLED, reason)
        alarm = alarm | impossible
        outside = self._outside(columns.get("mean"), alarm.shape) | self._strayed(columns)
        reason = np.where(outside & ~alarm & ~rejected, UNCOVERED, reason)
        return alarm | rejected | outside, reason.astype(LABEL)

    def _edge(self, columns: Mapping[str, Any]) -> dict[str, FloatArray]:
        """Return how far beyond the examples means are; nothing where that is not known."""
        means, shape = columns.get("mean"), np.shape(columns["ess"])
        if means is None or self.hull is None:
            return {}
        return {"edge": self.hull.beyond(np.reshape(means, (int(np.prod(shape)), -1))).reshape(shape)}

    def _strayed(self, columns: Mapping[str, Any]) -> BoolArray:
        """Say where a state may have left the examples: then an observation further from them than most is enough."""
        far = np.asarray(columns["observation_distance"], dtype=np.float64)
        usual = self.thresholds.parts.get("observation_distance")
        if usual is None or "straying" not in columns:
            return np.zeros(far.shape, dtype=bool)
        return np.asarray(columns["straying"], dtype=bool) & (far > usual.start)

    def _outside(self, means: Any, shape: tuple[int, ...]) -> BoolArray:
        if means is None or self.hull is None:
            return np.zeros(shape, dtype=bool)
        flat = np.reshape(means, (int(np.prod(shape)), -1))
        return self.hull.outside(flat).reshape(shape)

    def __getstate__(self) -> dict[str, Any]:
        """Keep what deciding takes: a pickled belief or run need not carry the examples."""
        _ = self.thresholds, self.hull
        kept = {"_known": self._known, "_whole": None, "hull": self.hull, "distances": None, "expected": None}
        return {**kept, "_states": None, "_observations": None, "_angles": self._angles, "_calibration": None}


def _size(mean: FloatArray) -> float:
    """Return the root mean square of the columns, quickly."""
    return math.sqrt(float(mean @ mean) / len(mean))


def _has_gaps(observation: Objects) -> bool:
    return is_numeric(observation) and has_gaps(observation)
