"""How many observations a filter needs to find itself again after the state has jumped where no move leads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.filter import KernelMonteCarloFilter, ParticleLikelihoodFilter
from kmcf.numerics.arrays import FloatArray
from kmcf.transitions import with_recovery
from kmcf_lab.bench.kidnapping_cases import AFTER, Case, ble_cases, model_cases, robot_cases
from kmcf_lab.quiet import quiet

NEAR_ENOUGH = 2.0
"""An estimate is back when two errors in a row are at most this multiple of the usual one: the median error of the
oracle where there is one, else of the better of the filters on examples and on particles that never look elsewhere,
where nothing happens."""
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
    looks: float
    """Share of the observations there at which the filter looked elsewhere, in vain."""
    jumps: int


def measure_kidnapping(
    models: list[str],
    n: int,
    repetitions: int,
    tracks: int,
    report: Callable[[str], None] = print,
    robots: Path | None = None,
    done: Callable[[list[KidnappingRow]], None] = lambda rows: None,
) -> list[KidnappingRow]:
    """Return rows for the paper's models, for Bluetooth tracks of which one is left out at a time, and for robots.

    Parameters
    ----------
    models : list of str
        The paper's models.
    n, repetitions : int
        Examples and data sets of each.
    tracks : int
        How many tracks (and robots).
    report : callable
        Is told what is being measured.
    robots : Path, optional
        An MRCLAM folder. None: robots are left out.
    done : callable
        Is given all rows so far, after each problem.
    """
    problems: dict[str, Iterator[Case]] = {name: model_cases(name, n, repetitions) for name in models}
    problems["BLE"] = ble_cases(tracks)
    if robots is not None:
        problems["MRCLAM"] = robot_cases(robots, tracks)
    rows = []
    with threadpool_limits(limits=1), quiet():
        for problem, cases in problems.items():
            report(problem)
            rows += _rows(problem, list(cases))
            done(rows)
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


def _rows(problem: str, cases: list[Case]) -> list[KidnappingRow]:
    found: dict[str, list[tuple[int, float, float]]] = {}
    for seed, case in enumerate(cases):
        filters = _filters(case, seed)
        runs = {method: case.calm.run(flt) for method, flt in filters.items()}
        calm = {method: case.calm.errors_of(run, case.axes) for method, run in runs.items()}
        references = (
            ["oracle"] if "oracle" in filters else [f"on {one}, relocate=False" for one in ("examples", "particles")]
        )
        usual = min(float(np.median(calm[method])) for method in references)
        for method, flt in filters.items():
            for track in case.jumping:
                back = observations_until_back(track.errors_of(track.run(flt), case.axes), usual)
                looks = float(case.calm.counted(runs[method], runs[method].relocated).mean())
                found.setdefault(method, []).append((back, float(calm[method].mean()), looks))
    return [_row(problem, method, np.array(values)) for method, values in found.items()]


def _row(problem: str, method: str, values: FloatArray) -> KidnappingRow:
    counts, calm, looks = values.T
    means = float(np.mean(counts < AFTER)), float(calm.mean()), float(looks.mean())
    return KidnappingRow(problem, method, float(np.median(counts)), *means, len(values))


STAYING = {"relocate": False}


def _filters(case: Case, seed: int) -> dict[str, Any]:
    """Return filters on the examples and on particles, as they are and never looking elsewhere; others; all fitted."""
    recovering = with_recovery(case.transition, case.examples[0], PROBABILITY)

    def on_examples(transition: Any = case.transition, **changes: Any) -> KernelMonteCarloFilter:
        return KernelMonteCarloFilter(transition, **shared, tolerance="auto", **changes)

    def on_particles(**changes: Any) -> ParticleLikelihoodFilter:
        return ParticleLikelihoodFilter(case.transition, **shared, **case.on_particles, **changes)

    shared: Mapping[str, Any] = {"initial": case.initial, "random_state": seed, **case.settings}
    made: dict[str, Any] = {
        "on examples": on_examples(),
        "on examples, relocate=False": on_examples(**STAYING),
        f"on examples, with_recovery {PROBABILITY}": on_examples(recovering, **STAYING),
        "on both": on_examples(support="both"),
        "on particles": on_particles(),
        "on particles, relocate=False": on_particles(**STAYING),
    }
    if case.placed:
        made["on particles, posts placed"] = ParticleLikelihoodFilter(case.transition, **{**shared, **case.placed})
    if case.oracle is not None:
        made["oracle"] = case.oracle
    return {method: flt.fit(*case.examples) for method, flt in made.items()}
