"""How many observations a filter needs to find itself again after the state has jumped where no move leads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.baselines import ParticleFilter
from kmcf.datasets import ble_tracks, paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf.numerics.arrays import FloatArray
from kmcf.transitions import GaussianRandomWalk, with_recovery
from kmcf_lab.quiet import quiet

BEFORE, AFTER = 40, 30
"""Steps before the jump, and those after it in which a filter may find itself again."""
FAR_JUMP = 4.5
"""How far a jump of the paper's models leads at least, in units of the noise of a move."""
FAR_WALK = 4.0
"""How far a jump of a walker leads at least, in metres."""
NEAR_ENOUGH = 2.0
"""An estimate is back when two errors in a row are at most this multiple of the usual one: the median error of the
oracle where there is one, otherwise of the default filter, where nothing happens."""
PROBABILITY = 0.02


@dataclass(frozen=True)
class KidnappingRow:
    """Observations until a filter is back, over several jumps, and its error where nothing happens."""

    problem: str
    method: str
    median: float
    """Of the number of observations after the jump; counted as ``AFTER`` where the filter was not back by then."""
    back: float
    """Share of the jumps after which it was back within ``AFTER`` observations."""
    error: float
    """Mean error over sequences without a jump."""
    jumps: int


class Case(NamedTuple):
    """Examples, a sequence with a jump, and one without."""

    transition: Any
    initial: Any
    examples: tuple[FloatArray, FloatArray]
    jumping: tuple[FloatArray, FloatArray]
    """States and observations; the jump leads to step ``BEFORE`` (counted from 0)."""
    calm: tuple[FloatArray, FloatArray]
    oracle: Any = None
    """A particle filter that knows the likelihood, where there is one."""


def measure_kidnapping(
    models: list[str], n: int, repetitions: int, tracks: int, report: Callable[[str], None] = print
) -> list[KidnappingRow]:
    """Return rows for the paper's models and for Bluetooth tracks, of which one is left out at a time."""
    problems: dict[str, Iterator[Case]] = {name: model_cases(name, n, repetitions) for name in models}
    problems["BLE"] = ble_cases(tracks)
    rows = []
    with threadpool_limits(limits=1), quiet():
        for problem, cases in problems.items():
            report(problem)
            rows += _rows(problem, list(cases))
    return rows


def observations_until_back(errors: FloatArray, usual: float) -> int:
    """Return after how many observations two errors in a row are within twice the usual one; ``AFTER`` if never.

    Examples
    --------
    >>> observations_until_back(np.array([9.0, 1.0, 9.0, 1.5, 1.0, 1.0]), usual=1.0)
    4
    """
    near = errors <= NEAR_ENOUGH * usual
    both = np.flatnonzero(near[:-1] & near[1:])
    return min(int(both[0]) + 1, AFTER) if len(both) else AFTER


def model_cases(name: str, n: int, repetitions: int) -> Iterator[Case]:
    """Yield sequences of a model into which the end of another was spliced, far from where a move could lead."""
    model = paper_model(name)
    for seed in range(repetitions):
        train, calm = (model.simulate(size, random_state=(seed, part)) for part, size in ((0, n), (1, 300)))
        start = model.simulate(BEFORE, random_state=(seed, 2))
        reach = np.abs(train.states).max()
        for attempt in range(100):
            other = model.simulate(2 * AFTER, random_state=(seed, 3, attempt))
            places = other.states[:AFTER, 0]
            far = np.flatnonzero((np.abs(places - start.states[-1, 0]) > FAR_JUMP) & (np.abs(places) <= reach))
            if len(far):
                rest = slice(int(far[0]), int(far[0]) + AFTER)
                jumping = _spliced(start, other, rest)
                oracle = ParticleFilter(model.transition, model.log_likelihood, model.initial, random_state=seed)
                examples = train.states, train.observations
                pair = calm.states, calm.observations
                yield Case(model.transition, model.initial, examples, jumping, pair, oracle)
                break


def ble_cases(tracks: int) -> Iterator[Case]:
    """Yield tracks out of which a part was cut, so that the walker jumps by several metres."""
    recordings = ble_tracks()
    for track in recordings[:tracks]:
        others = [other for other in recordings if other is not track]
        examples = tuple(np.concatenate([getattr(o, role) for o in others]) for role in ("states", "observations"))
        walk = GaussianRandomWalk(2.0 * np.asarray(GaussianRandomWalk().fit([o.states for o in others]).scale_))
        for before in range(min(BEFORE, len(track.states) // 2), 5, -5):
            distances = np.linalg.norm(track.states - track.states[before - 1], axis=1)
            far = [j for j in np.flatnonzero(distances > FAR_WALK) if before + 5 <= j <= len(distances) - 8]
            if far:
                rest = slice(int(far[0]), int(far[0]) + AFTER)
                kept = np.r_[np.arange(before), np.arange(len(distances))[rest]]
                padding = np.zeros(BEFORE - before, dtype=np.intp)  # the walker stands still first
                places = np.concatenate([padding, kept])
                jumping = track.states[places], track.observations[places]
                yield Case(walk, None, (examples[0], examples[1]), jumping, (track.states, track.observations))
                break


def _spliced(start: Any, other: Any, rest: slice) -> tuple[FloatArray, FloatArray]:
    pairs = ((getattr(start, role), getattr(other, role)[rest]) for role in ("states", "observations"))
    states, observations = (np.concatenate(pair) for pair in pairs)
    return states, observations


def _rows(problem: str, cases: list[Case]) -> list[KidnappingRow]:
    found: dict[str, list[tuple[int, float]]] = {}
    for seed, case in enumerate(cases):
        filters = _filters(case, seed)
        reference = filters.get("oracle", filters["default"])
        usual = float(np.median(_errors(reference, *case.calm)))
        for method, flt in filters.items():
            errors = _errors(flt, *case.jumping)[BEFORE:]
            calm = float(_errors(flt, *case.calm).mean())
            found.setdefault(method, []).append((observations_until_back(errors, usual), calm))
    return [_row(problem, method, np.array(values)) for method, values in found.items()]


def _row(problem: str, method: str, values: FloatArray) -> KidnappingRow:
    counts, calm = values.T
    share = float(np.mean(counts < AFTER))
    return KidnappingRow(problem, method, float(np.median(counts)), share, float(calm.mean()), len(values))


def _filters(case: Case, seed: int) -> dict[str, Any]:
    """Return the default filter, variants of it, and the oracle where there is one, all fitted."""
    recovering = with_recovery(case.transition, case.examples[0], PROBABILITY)
    made = {
        "default": KernelMonteCarloFilter(case.transition, case.initial, random_state=seed, tolerance="auto"),
        f"with_recovery {PROBABILITY}": KernelMonteCarloFilter(
            recovering, case.initial, random_state=seed, tolerance="auto"
        ),
        "on both": KernelMonteCarloFilter(
            case.transition, case.initial, random_state=seed, tolerance="auto", support="both"
        ),
        "on particles": KernelMonteCarloFilter(
            case.transition, case.initial, random_state=seed, tolerance="auto", support="particles"
        ),
    }
    if case.oracle is not None:
        made["oracle"] = case.oracle
    return {method: flt.fit(*case.examples) for method, flt in made.items()}


def _errors(flt: Any, states: FloatArray, observations: FloatArray) -> FloatArray:
    return np.linalg.norm(flt.filter(observations).mean - states, axis=1)
