"""How a sensor has changed, from observations without states.

The filter runs over the corrected observations, and its predictions say what the old sensor would have shown at each
step, before it is told. The change that makes what was seen most probable given these is the next correction, and so
on: EM with predictions, which cannot confirm themselves, in the place of labels. Several starts compete; each is
estimated on one half of the steps and judged on the other, by the density of the numbers as they were seen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kmcf.adaptation.affine import Affine, fitted_change, log_densities, matched_change
from kmcf.adaptation.observation_moments import ObservationMoments
from kmcf.adaptation.surface import long_run
from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.support.alerts import RejectedStepWarning, UnusedTimesWarning

ROUNDS, FEW_ROUNDS = 4, 2
"""So often the correction is estimated anew: in the end, and while ways compete."""
MOST_HASTE = 6.0
"""EM is slow where predictions follow the observations: every second round goes on to where it seems to lead, but by no
more than so many times the last step."""
CLEAR = 3.0
"""A column has shifted if it has by this many standard errors."""


class Judged(NamedTuple):
    """A way to correct, judged on steps that it was not estimated on."""

    name: str
    gain: float
    """By how much more probable it makes the observations than no correction does, in log units."""
    gain_error: float


@dataclass(frozen=True)
class Sequences:
    """Observations over time as one table (T, q), with what drove the moves."""

    flt: Any
    moments: ObservationMoments
    examples: FloatArray
    seen: Sequence[FloatArray]
    controls: Sequence[Any]
    times: Sequence[Any]
    tick: Callable[[], object] = lambda: None
    known: dict[Any, Any] = field(default_factory=dict)
    """Estimates that were made before, for ways that build on each other."""

    @property
    def table(self) -> FloatArray:
        """All observations, one sequence after the other."""
        return np.concatenate(self.seen)

    def predictions(self, change: Affine) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of what the old sensor would show, predicted from corrected observations, (T, q)."""
        found = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RejectedStepWarning)
            warnings.simplefilter("ignore", UnusedTimesWarning)
            for stream, (seen, controls, times) in enumerate(zip(self.seen, self.controls, self.times, strict=True)):
                belief = self.flt.start(stream)
                for t, row in enumerate(change.before(seen)):
                    control = None if controls is None else controls[t]
                    clock = None if times is None else times[t]
                    found.append(self.moments(predicted(self.flt, belief, control, clock)))
                    belief = self.flt.step(belief, row, control, clock)
        self.tick()
        means, variances = (np.array(part) for part in zip(*found, strict=True))
        return means, variances

    def estimated(self, start: Affine, counted: BoolArray, *, scaled: bool) -> tuple[Affine, FloatArray]:
        """Return the change by EM from a start, with the steps that count; and the shifts' standard errors."""
        key = (start.scale.tobytes(), start.shift.tobytes(), counted.tobytes(), scaled)
        if key in self.known:
            found_before: tuple[Affine, FloatArray] = self.known[key]
            return found_before
        change, table = start, self.table[counted]
        errors = np.full(table.shape[1], np.inf)
        earlier: list[Affine] = [change]
        for _ in range(ROUNDS if counted.all() else FEW_ROUNDS):
            means, variances = (part[counted] for part in self.predictions(change))
            # A filter cannot follow a state beyond the examples' edge, and would take it for a change of the sensor.
            inside = np.where(self.moments.inside(means, variances), means, np.nan)
            change, errors = fitted_change(table, inside, variances, scaled=scaled, now=change)
            earlier.append(change)
            if len(earlier) == 3:
                change = limit_of(*earlier)
                earlier = [change]
        self.known[key] = change, errors
        return change, errors

    def densities(self, change: Affine) -> tuple[FloatArray, BoolArray]:
        """Return log densities of the numbers as they were seen, and which were predicted within the edge, (T, q)."""
        means, variances = self.predictions(change)
        return log_densities(self.table, means, variances, change), self.moments.inside(means, variances)


def predicted(flt: Any, belief: Any, control: Any, time: Any) -> Any:
    """Return the prior of the next step, as a weighted sample."""
    backend = flt.backend_
    if hasattr(backend, "predicted"):
        return backend.predicted(belief, control, time)
    controls, times = (None if given is None else [given] for given in (control, time))
    return flt.forecast(belief, 1, controls, times)[0]


def limit_of(first: Affine, second: Affine, third: Affine) -> Affine:
    """Return where a sequence of changes seems to lead whose steps shrink at a constant rate (Aitken).

    Examples
    --------
    >>> shifts = [Affine(np.ones(1), np.array([1.0 - 0.5**k])) for k in range(3)]
    >>> limit_of(*shifts).shift
    array([1.])
    """
    factors = []
    for before, after in (
        (np.log(second.scale / first.scale), np.log(third.scale / second.scale)),
        (second.shift - first.shift, third.shift - second.shift),
    ):
        size = float(before @ before)
        rate = float(before @ after) / size if size > 0 else 0.0
        factors.append(1.0 + min(rate / (1.0 - rate), MOST_HASTE) if 0.0 < rate < 1.0 else 1.0)
    scale = third.beyond(second, factors[0]).scale
    return Affine(scale, third.beyond(second, factors[1]).shift)


Way = Callable[[Sequences, BoolArray], Affine]


def _shift(sequences: Sequences, counted: BoolArray) -> Affine:
    return sequences.estimated(Affine.none(sequences.examples.shape[1]), counted, scaled=False)[0]


def _shift_from_medians(sequences: Sequences, counted: BoolArray) -> Affine:
    start = matched_change(sequences.table[counted], sequences.examples, scaled=False)
    return sequences.estimated(start, counted, scaled=False)[0]


def _some_columns(sequences: Sequences, counted: BoolArray) -> Affine:
    change, errors = sequences.estimated(Affine.none(sequences.examples.shape[1]), counted, scaled=False)
    return change.only(np.abs(change.shift) > CLEAR * errors)


def _scale(sequences: Sequences, counted: BoolArray) -> Affine:
    return sequences.estimated(Affine.none(sequences.examples.shape[1]), counted, scaled=True)[0]


def _medians(sequences: Sequences, counted: BoolArray) -> Affine:
    return matched_change(sequences.table[counted], sequences.examples, scaled=True)


def _scale_from_medians(sequences: Sequences, counted: BoolArray) -> Affine:
    return sequences.estimated(_medians(sequences, counted), counted, scaled=True)[0]


WAYS: dict[str, Way] = {
    "shift": _shift,
    "shift from the medians": _shift_from_medians,
    "shift of some columns": _some_columns,
    "shift and scale": _scale,
    "medians and mean deviations": _medians,
    "shift and scale from the medians": _scale_from_medians,
}
"""The ways to estimate a change that compete."""
RUNS = 2 * (4 * FEW_ROUNDS + len(WAYS)) + 1 + ROUNDS
"""How many times the filter runs over the sequences, at most."""


def best_change(sequences: Sequences) -> tuple[Affine, list[Judged], str]:
    """Return the change that the best way finds, what every way gained on steps it was not told, and its name."""
    table = sequences.table
    first = np.concatenate([np.arange(len(seen)) < len(seen) / 2 for seen in sequences.seen])
    ways = {name: way for name, way in WAYS.items() if name != "shift of some columns" or table.shape[1] > 1}
    plain, usual = sequences.densities(Affine.none(table.shape[1]))
    judged = []
    for name, way in ways.items():
        gains, inside = np.full(table.shape, np.nan), np.zeros(table.shape, dtype=bool)
        for half in (first, ~first):
            found, within = sequences.densities(way(sequences, half))
            gains[~half], inside[~half] = (found - plain)[~half], within[~half]
        judged.append(Judged(name, *judgement(gains, inside, usual)))
    best = max(judged, key=lambda one: one.gain)
    return ways[best.name](sequences, np.ones(len(table), dtype=bool)), judged, best.name


def judgement(gains: FloatArray, inside: BoolArray, usual: BoolArray) -> tuple[float, float]:
    """Return the gain at numbers that were predicted within the examples' edge, and its standard error.

    Where numbers that were within the edge without a correction, too, speak against it, these decide: then it only
    brings states back that had left the examples.
    """
    both = [np.where(np.isfinite(gains) & counted, gains, 0.0).sum(axis=1) for counted in (inside, inside & usual)]
    own, common = (total_of(np.where(np.isfinite(gains).any(axis=1), part, np.nan)) for part in both)
    return common if common[0] < -common[1] else own


def total_of(gains: FloatArray) -> tuple[float, float]:
    """Return the sum of gains and its standard error, neighbours being alike; NaN does not count.

    Examples
    --------
    >>> total, error = total_of(np.array([1.0, 3.0] * 50))
    >>> total, round(error)
    (200.0, 10)
    """
    known = gains[np.isfinite(gains)]
    if len(known) < 2:
        return 0.0, np.inf
    return float(known.sum()), float(np.sqrt(long_run(known[:, None])[0, 0]))
