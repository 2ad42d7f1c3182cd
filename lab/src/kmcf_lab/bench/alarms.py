"""What alarms notice and what they do not: usual data, shifted observations, states that the examples do not cover."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.datasets import ble_tracks, examples, paper_model
from kmcf.filter import FilterRun, KernelMonteCarloFilter, ParticleLikelihoodFilter
from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.transitions import GaussianRandomWalk
from kmcf_lab.bench.alarm_room import Room, room_walk
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import estimate

FILTERS: dict[str, Callable[..., Any]] = {"examples": KernelMonteCarloFilter, "particles": ParticleLikelihoodFilter}
LENGTH, CHANGE = 400, 100
SHIFT = 2.0
INNER, OUTER = 2.0, 3.0
SOON, LATER = 20, 50
WALKS = 2
NEAR = 5


@dataclass(frozen=True)
class AlarmRow:
    """One quantity, averaged over data sets."""

    problem: str
    filter: str
    quantity: str
    value: float
    standard_error: float
    data_sets: int


class Tally:
    """Collects quantities by problem and filter."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str, str], list[float]] = {}

    def add(self, problem: str, filter: str, **quantities: float) -> None:
        """Add what one data set gave; NaN where it has nothing to say."""
        for name, value in quantities.items():
            if not np.isnan(value):
                self._values.setdefault((problem, filter, name), []).append(float(value))

    def rows(self) -> list[AlarmRow]:
        """Return the averages."""
        return [
            AlarmRow(*key, estimate(values).value, estimate(values).error, len(values))
            for key, values in self._values.items()
        ]


def measure_alarms(
    models: Sequence[str], n: int, *, repetitions: int, tracks: int, report: Callable[[str], None] = print
) -> list[AlarmRow]:
    """Measure false alarms and what is noticed, on the paper's models, in a room and on Bluetooth tracks."""
    tally = Tally()
    with quiet():
        for name in models:
            for seed in range(repetitions):
                report(f"model {name}, data set {seed + 1} of {repetitions}")
                _paper_model(tally, name, n, seed)
                _few_states(tally, name, n, seed)
        for seed in range(WALKS * repetitions):
            report(f"room, walk {seed + 1} of {WALKS * repetitions}")
            _room(tally, seed)
        for left_out in range(tracks):
            report(f"Bluetooth, track {left_out + 1} of {tracks}")
            _track(tally, left_out)
    return tally.rows()


def _paper_model(tally: Tally, name: str, n: int, seed: int) -> None:
    """Filter usual data, and the same with observations shifted by two standard deviations from step 100 on."""
    model = paper_model(name)
    train, test = model.simulate(n, random_state=(seed, 0)), model.simulate(LENGTH, random_state=(seed, 1))
    covered = inside(train.states, test.states)
    for label, make in FILTERS.items():
        flt = make(model.transition, initial=model.initial, random_state=seed)
        flt.fit(train.states, train.observations)
        run = flt.filter(test.observations, test.controls)
        tally.add(
            f"model {name}",
            label,
            alarms=run.alarm.mean(),
            alarms_where_covered=run.alarm[covered].mean(),
            alarms_well_inside=_share(run.alarm, well_inside(covered)),
            states_not_covered=1.0 - covered.mean(),
            outside_without_alarm=_outside_unnoticed(train.states, run),
        )
        _shifted(tally, f"model {name}", label, flt, test, train.observations.std(axis=0))


def _shifted(tally: Tally, problem: str, label: str, flt: Any, test: Any, deviation: FloatArray) -> None:
    seen = np.array(test.observations, dtype=np.float64)
    change = min(CHANGE, len(seen) // 2)
    seen[change:] += SHIFT * deviation
    run = flt.filter(seen, test.controls)
    alarm = run.alarm[change:]
    tally.add(
        problem, label, shift_within_20=float(alarm[:SOON].any()), shift_within_50=float(alarm[:LATER].any())
    )  # fmt: skip


def _few_states(tally: Tally, name: str, n: int, seed: int) -> None:
    """Take examples at |x| ≤ 2 only; count the alarms beyond 3, and inside."""
    model = paper_model(name)
    pool = model.simulate(4 * n, random_state=(seed, 2))
    known = np.flatnonzero(np.abs(pool.states[:, 0]) <= INNER)[:n]
    test = model.simulate(2 * LENGTH, random_state=(seed, 3))
    size = np.abs(test.states[:, 0])
    if len(known) < n // 2 or (size > OUTER).sum() < 10:
        return  # the model keeps its states inside
    for label, make in FILTERS.items():
        flt = make(model.transition, initial=model.initial, random_state=seed)
        flt.fit(pool.states[known], pool.observations[known])
        run = flt.filter(test.observations, test.controls)
        beyond, within = size > OUTER, size <= INNER
        tally.add(
            f"model {name}, examples at |x| ≤ 2",
            label,
            beyond_3=run.alarm[beyond].mean(),
            within_2=run.alarm[within].mean(),
            beyond_3_by_ess=_by_ess(run.ess, beyond, within),
            in_intervals_beyond_3=_share(in_intervals(run, test.states), beyond),
            in_intervals_within_2=_share(in_intervals(run, test.states), within),
            outside_without_alarm=_outside_unnoticed(pool.states[known], run),
        )


def _by_ess(ess: FloatArray, beyond: BoolArray, within: BoolArray) -> float:
    """Return the share of steps beyond whose effective sample size is below that of all but 5 % of steps within."""
    return float(np.mean(ess[beyond] < np.quantile(ess[within], 0.05)))


def _room(tally: Tally, seed: int) -> None:
    """Walk out of the part of a room that the examples cover."""
    room = Room.of(seed)
    for label, make in FILTERS.items():
        flt = make(room_walk, random_state=seed).fit(room.states, room.observations)
        run = flt.filter(room.heard)
        error = np.linalg.norm(run.mean - room.path, axis=1)
        usual = float(np.sqrt(np.mean(error[: room.leaves] ** 2)))
        large = np.flatnonzero((error > 3.0 * usual) & (np.arange(len(error)) >= room.leaves))
        alarms = np.flatnonzero(run.alarm[room.turns :]) + room.turns
        tally.add(
            "room, examples in 6 of 10 m",
            label,
            flagged_before_large_error=float(len(alarms) and alarms[0] <= large[0]) if len(large) else np.nan,
            flagged_at_all=float(len(alarms) > 0),
            alarms_inside=run.alarm[: room.turns].mean(),
            in_intervals_beyond=in_intervals(run, room.path)[room.leaves :].mean(),
            in_intervals_inside=in_intervals(run, room.path)[: room.turns].mean(),
            outside_without_alarm=_outside_unnoticed(room.states, run),
        )


def _track(tally: Tally, left_out: int) -> None:
    """Filter one of nine Bluetooth tracks with the examples of the others."""
    tracks = ble_tracks()
    test, others = tracks[left_out], [track for k, track in enumerate(tracks) if k != left_out]
    states, observations = examples(others)
    for label, make in FILTERS.items():
        flt = make(GaussianRandomWalk().fit(others), random_state=0).fit(states, observations)
        run = flt.filter(test.observations)
        tally.add(
            "Bluetooth tracks",
            label,
            alarms=run.alarm.mean(),
            outside_without_alarm=_outside_unnoticed(states, run),
        )
        _shifted(tally, "Bluetooth tracks", label, flt, test, observations.std(axis=0))


def inside(states: FloatArray, others: FloatArray) -> BoolArray:
    """Say which states are within the range of the examples."""
    return ((others >= states.min(axis=0)) & (others <= states.max(axis=0))).all(axis=1)


def well_inside(covered: BoolArray) -> BoolArray:
    """Say which steps have only covered states within five steps before and after.

    Examples
    --------
    >>> well_inside(np.array([True] * 8 + [False])).tolist()
    [True, True, True, False, False, False, False, False, False]
    """
    near = np.convolve(~covered, np.ones(2 * NEAR + 1))[NEAR : NEAR + len(covered)]
    return np.asarray(near < 0.5)


def in_intervals(run: FilterRun, states: FloatArray) -> BoolArray:
    """Say at which steps all coordinates of the true state are in their 95 % intervals."""
    return np.asarray(((states >= run.interval[:, 0]) & (states <= run.interval[:, 1])).all(axis=1))


def _share(marks: BoolArray, some: BoolArray) -> float:
    return float(marks[some].mean()) if some.any() else np.nan


def _outside_unnoticed(states: FloatArray, run: FilterRun) -> float:
    """Return the share of steps whose mean is outside the bounding box of the examples and that raise no alarm."""
    return float(np.mean(~inside(states, run.mean) & ~run.alarm))
