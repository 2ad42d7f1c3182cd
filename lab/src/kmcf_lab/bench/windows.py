"""Windows on the Bluetooth tracks: what the last k observations as one gain, and what overlapping ones do to intervals.

Each track is followed with examples from the others. Overlapping windows reuse numbers, so a filter that takes each as
new evidence could be too sure of itself: measured here as it is, with larger δ, which weakens every correction, and
after ``calibrate``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kmcf.datasets import Recording, Window, ble_tracks, examples, windowed
from kmcf.filter import KernelMonteCarloFilter
from kmcf.kernels import Learned
from kmcf.transitions import GaussianRandomWalk
from kmcf_lab.quiet import quiet

INFLATION = 2.0
"""As for ``kmcf localize ble``: people stop and turn."""
FIRST = 5
WEAKER = {"δ × 10": 10.0, "δ × 100": 100.0}
AS_IT_IS, CALIBRATED = "as it is", "calibrated"


class Way(NamedTuple):
    """One way to filter: windows of k, what stands at the start of a sequence, and what is done about dependence."""

    k: int
    fill: str
    how: str


@dataclass(frozen=True)
class WindowCell:
    """One way to filter one track."""

    k: int
    fill: str
    how: str
    track: str
    track_number: int
    steps: int
    error: float
    """Mean distance of the mean to the true position, in metres."""
    first: float
    """The same over the first five steps."""
    inside: float
    """Share of true coordinates inside 95 % intervals."""
    width: float
    """Mean width of these, in metres."""


@dataclass(frozen=True)
class WindowRow:
    """One way to filter, over all tracks."""

    k: int
    fill: str
    how: str
    tracks: int
    error: float
    """Mean over all steps."""
    by_track: float
    """Mean of the tracks' means."""
    first: float
    inside: float
    width: float


def plan(lengths: Sequence[int], tracks: int, *, calibrated: bool = True) -> Iterator[tuple[Way, int]]:
    """Yield what is measured on which track, the quickest first; for single observations there is nothing to fill."""
    fill = {k: "repeat" if k > 1 else "nan" for k in lengths}
    quick = [Way(k, fill[k], how) for k in lengths for how in (AS_IT_IS, *WEAKER)]
    quick += [Way(k, "nan", AS_IT_IS) for k in lengths if k > 1]
    yield from ((way, number) for way in quick for number in range(tracks))
    if calibrated:  # with NaN every one of its fits would be k of them
        yield from ((Way(k, fill[k], CALIBRATED), number) for number in range(tracks) for k in lengths)


def measure_window(way: Way, number: int) -> WindowCell:
    """Follow one track with examples from all others."""
    with quiet():
        flt, train, test = _learnt(way.k, way.fill, number)
        if way.how in WEAKER:
            flt = flt.refitted(*examples(train), delta=WEAKER[way.how] * flt.delta_)
        if way.how == CALIBRATED:
            groups = [place for place, track in enumerate(train) for _ in track.time]
            states, shown = (
                np.concatenate([getattr(track, name) for track in train]) for name in ("states", "observations")
            )
            flt.calibrate(states, shown, groups)
            _learnt.cache_clear()
        run = flt.filter(test.observations, keep_beliefs=False)
    error = np.linalg.norm(run.mean - test.states, axis=1)
    lower, upper = run.interval[:, 0], run.interval[:, 1]
    return WindowCell(
        *way,
        track=test.name,
        track_number=number,
        steps=len(test),
        error=float(error.mean()),
        first=float(error[:FIRST].mean()),
        inside=float(((lower <= test.states) & (test.states <= upper)).mean()),
        width=float((upper - lower).mean()),
    )


@lru_cache(maxsize=9)
def _learnt(k: int, fill: str, number: int) -> tuple[KernelMonteCarloFilter, list[Recording], Recording]:
    tracks = ble_tracks()
    others = [track for track in tracks if track is not tracks[number]]
    walk = GaussianRandomWalk(np.asarray(GaussianRandomWalk().fit(others).scale_) * INFLATION)
    window = Window(k, fill="nan" if fill == "nan" else "repeat")
    train, test = windowed(others, window), windowed(tracks[number], window)
    flt = KernelMonteCarloFilter(walk, observation_kernel=Learned(), tolerance="auto", random_state=0)
    return flt.fit(*examples(train)), train, test


def summarise_windows(cells: Sequence[WindowCell]) -> list[WindowRow]:
    """Average over tracks, every step alike."""
    rows = []
    for way in dict.fromkeys(Way(cell.k, cell.fill, cell.how) for cell in cells):
        own = [cell for cell in cells if (cell.k, cell.fill, cell.how) == way]
        steps = [cell.steps for cell in own]
        error, inside, width = (
            float(np.average([getattr(cell, name) for cell in own], weights=steps))
            for name in ("error", "inside", "width")
        )
        by_track, first = (float(np.mean([getattr(cell, name) for cell in own])) for name in ("error", "first"))
        rows.append(WindowRow(*way, len(own), error, by_track, first, inside, width))
    return rows
