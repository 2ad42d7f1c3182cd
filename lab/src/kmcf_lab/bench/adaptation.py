"""Sensors that have changed: what is noticed, and how much of the damage adapting repairs, with labels and without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import kmcf
from kmcf.adaptation.change import stretch_of, verdict_of
from kmcf.adaptation.change_signals import Signals
from kmcf.adaptation.change_walks import Data, walked
from kmcf.datasets import ble_tracks, examples, paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf.numerics.arrays import FloatArray
from kmcf.transitions import GaussianRandomWalk
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import estimate

SEEN, LATER, PAIRS = 200, 300, 30
RATE, WALKS = 0.05, 19


class Change(NamedTuple):
    """What the sensor does now: every column scaled, and shifted by so many standard deviations."""

    name: str
    scale: float
    shift: float


CHANGES = (
    Change("none", 1.0, 0.0),
    Change("shifted by 1 sd", 1.0, 1.0),
    Change("doubled", 2.0, 0.0),
    Change("halved, shifted by 0.5 sd", 0.5, 0.5),
)
OFFSETS = (0.0, -20.0)
"""What one of the Bluetooth receivers is off by, in dB."""


@dataclass(frozen=True)
class AdaptationCell:
    """One data set with one change: errors, and what was decided."""

    problem: str
    change: str
    seed: int
    clean: float
    """Error before the sensor changed."""
    damaged: float
    """Error without adapting."""
    unlabelled: float
    """Error after adapting to observations alone."""
    labelled: float
    """Error after adapting to 30 pairs."""
    adapted: bool
    adapted_labelled: bool
    noticed: float
    """Whether it was, 0 or 1; NaN where nobody asked (each answer takes many runs of the filter)."""
    step: float
    """When it was noticed; NaN if it was not."""


@dataclass(frozen=True)
class AdaptationRow:
    """The average over data sets."""

    problem: str
    change: str
    clean: float
    damaged: float
    unlabelled: float
    labelled: float
    repaired: float
    """Share of the damage (damaged − clean) repaired without labels; NaN where there is next to none."""
    repaired_labelled: float
    worse: float
    """The largest ratio of the error after adapting (without labels) to that without, over data sets."""
    adapted: float
    noticed: float
    data_sets: int


def measure_models(
    names: Sequence[str], n: int, *, repetitions: int, changes: Sequence[Change] = CHANGES,
    report: Callable[[str], None] = print, first: int = 0,
) -> list[AdaptationCell]:  # fmt: skip
    """Change the sensor of the paper's models; adapt on one sequence, and measure the error on another."""
    cells = []
    with quiet():
        for name in names:
            for change in changes:
                for seed in range(first, first + repetitions):
                    report(f"model {name}, {change.name}, data set {seed + 1}")
                    cells.append(_model(name, change, n, seed))
    return cells


def _model(name: str, change: Change, n: int, seed: int) -> AdaptationCell:
    model = paper_model(name)
    train, seen, later = (model.simulate(size, random_state=(seed, part)) for part, size in enumerate((n, SEEN, LATER)))
    flt = KernelMonteCarloFilter(model.transition, initial=model.initial, tolerance="auto", random_state=seed)
    flt.fit(train.states, train.observations)
    shift = change.shift * train.observations.std(axis=0)

    def changed(observations: FloatArray) -> FloatArray:
        return change.scale * observations + shift

    def error(fitted: Any, observations: FloatArray) -> float:
        difference = fitted.filter(observations, later.controls).mean - later.states
        return float(np.sqrt(np.mean(difference**2)))

    return _cell(flt, (f"model {name}", change.name, seed), changed, (seen, later), error)


def measure_bluetooth(
    pairs_of_tracks: Sequence[tuple[int, int]], offsets: Sequence[float] = OFFSETS,
    report: Callable[[str], None] = print, first: int = 0,
) -> list[AdaptationCell]:  # fmt: skip
    """Let one of twelve receivers be off; adapt on one track, and measure the error on another."""
    tracks, cells = ble_tracks(), []
    with quiet():
        for offset in offsets:
            for number, (one, other) in enumerate(pairs_of_tracks, first):
                report(f"Bluetooth, one receiver {offset:+.0f} dB, tracks {one + 1} and {other + 1}")
                cells.append(_tracks(tracks, one, other, offset, number))
    return cells


def _tracks(tracks: Sequence[Any], first: int, second: int, offset: float, number: int) -> AdaptationCell:
    others = [track for k, track in enumerate(tracks) if k not in (first, second)]
    states, observations = examples(others)
    flt = KernelMonteCarloFilter(GaussianRandomWalk().fit(others), tolerance="auto", random_state=0)
    flt.fit(states, observations)
    moved = np.zeros(observations.shape[1])
    moved[number % len(moved)] = offset

    def changed(rows: FloatArray) -> FloatArray:
        return rows + moved

    def error(fitted: Any, rows: FloatArray) -> float:
        return float(np.mean(np.linalg.norm(fitted.filter(rows).mean - tracks[second].states, axis=1)))

    name = "no receiver off" if offset == 0.0 else f"one receiver {offset:+.0f} dB"
    return _cell(flt, ("Bluetooth tracks (m)", name, number), changed, (tracks[first], tracks[second]), error)


def _cell(
    flt: Any,
    what: tuple[str, str, int],
    changed: Callable[[FloatArray], FloatArray],
    data: tuple[Any, Any],
    error: Callable[[Any, FloatArray], float],
) -> AdaptationCell:
    seen, later = data
    now, then = changed(seen.observations), changed(later.observations)
    unlabelled, labelled = repairs(flt, now, seen.states, seen.controls)
    verdict = None
    if what[2] == 0:
        verdict = kmcf.sensor_changed(flt, now, seen.controls, rate=RATE, walks=WALKS)
    return AdaptationCell(
        *what,
        clean=error(flt, later.observations),
        damaged=error(flt, then),
        unlabelled=error(unlabelled.filter, then),
        labelled=error(labelled.filter, then),
        adapted=unlabelled.adapted,
        adapted_labelled=labelled.adapted,
        noticed=np.nan if verdict is None else float(verdict.changed),
        step=np.nan if verdict is None or verdict.step is None else float(verdict.step),
    )


def repairs(flt: Any, seen: FloatArray, states: FloatArray, controls: Any) -> tuple[Any, Any]:
    """Adapt to a sequence of observations alone, and to some of them with their states."""
    places = np.unique(np.linspace(0, len(seen) - 1, PAIRS).astype(np.intp))
    return kmcf.adapt(flt, seen, controls=controls), kmcf.adapt(flt, seen[places], states[places])


def summarise_adaptation(cells: Sequence[AdaptationCell]) -> list[AdaptationRow]:
    """Average over data sets, problem by problem and change by change."""
    rows = []
    for problem, change in dict.fromkeys((cell.problem, cell.change) for cell in cells):
        some = [cell for cell in cells if (cell.problem, cell.change) == (problem, change)]
        means = {
            name: estimate([getattr(cell, name) for cell in some]).value
            for name in ("clean", "damaged", "unlabelled", "labelled")
        }
        damage = means["damaged"] - means["clean"]
        real = damage > 0.05 * means["clean"]
        rows.append(
            AdaptationRow(
                problem,
                change,
                **means,
                repaired=(means["damaged"] - means["unlabelled"]) / damage if real else np.nan,
                repaired_labelled=(means["damaged"] - means["labelled"]) / damage if real else np.nan,
                worse=max(cell.unlabelled / cell.damaged for cell in some),
                adapted=float(np.mean([cell.adapted for cell in some])),
                noticed=_mean_of_known([cell.noticed for cell in some]),
                data_sets=len(some),
            )
        )
    return rows


def _mean_of_known(values: Sequence[float]) -> float:
    known = np.array(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    return float(known.mean()) if len(known) else float("nan")


@dataclass(frozen=True)
class FalseAlarms:
    """How often short runs were reported as changed: of an unchanged sensor, of a shifted one, of a doubled one."""

    problem: str
    n: int
    """Examples."""
    runs: int
    """Each with a filter of its own, and with each sensor."""
    steps: int
    rate: float
    """What was stated."""
    noticed: float
    """Unchanged, but reported."""
    shifted: float
    """Shifted by a standard deviation, and reported."""
    doubled: float


def measure_false_alarms(name: str, n: int, runs: int, *, steps: int = 40, first: int = 100) -> FalseAlarms:
    """Test short runs, each with a filter fitted to examples of its own; data sets from ``first`` on."""
    model = paper_model(name)
    noticed: list[list[bool]] = []
    with quiet():
        for seed in range(first, first + runs):
            train = model.simulate(n, random_state=(seed, 7, 0))
            flt = KernelMonteCarloFilter(model.transition, initial=model.initial, n_particles=50, random_state=seed)
            flt.fit(train.states, train.observations)
            seen = model.simulate(steps, random_state=(seed, 7, 1))
            # As kmcf.sensor_changed does, but the walks are the same for all three sensors.
            usual = np.stack(list(walked(flt, [Data(seen.observations, seen.controls, None)], WALKS)))
            signals, unit = Signals.of(flt), train.observations.std(axis=0)
            stretch = stretch_of(flt, [seen.observations])
            now = [change.scale * seen.observations + change.shift * unit for change in CHANGES[:3]]
            tables = [signals.along(one, seen.controls, None, 0) for one in now]
            noticed.append([verdict_of([table], usual, RATE, stretch).changed for table in tables])
    shares = (float(share) for share in np.mean(noticed, axis=0))
    return FalseAlarms(f"model {name}", n, runs, steps, RATE, *shares)
