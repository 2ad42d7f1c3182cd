"""The protocol of Section 6.3: one drive to train, one to validate, one to test; random examples; three intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kmcf.datasets import Recording, kept
from kmcf.numerics.arrays import IntArray
from kmcf_lab.localize.problem import Data, LocalizationFold

PAPER_SIZES = (100, 200, 300, 400)
"""Numbers of examples."""
PAPER_INTERVALS = (2.27, 4.54, 6.81)
"""Seconds between steps."""


def sampled(recording: Recording, interval: float) -> Recording:
    """Keep the frames closest to every ``interval`` seconds; motions in between are chained.

    Examples
    --------
    >>> drive = Recording("drive", np.arange(0.0, 5.0, 0.5), np.zeros((10, 3)), np.zeros((10, 1)))
    >>> sampled(drive, 2.1).time
    array([0., 2., 4.])
    """
    wanted = np.arange(recording.time[0], recording.time[-1], interval)
    middles = 0.5 * (recording.time[1:] + recording.time[:-1])
    return kept(recording, np.unique(np.searchsorted(middles, wanted)))


def paper_folds(
    data: Data, repetition: int = 0, *, sizes: Sequence[int] = PAPER_SIZES, intervals: Sequence[float] = PAPER_INTERVALS
) -> list[LocalizationFold]:
    """Divide three drives as the paper does: examples from the first, tuning on the second, the test on the third.

    Parameters
    ----------
    data : Data
        Three drives along the same route; further ones are not used.
    repetition : int
        Which draw of the examples.
    sizes : sequence of int
        Numbers of examples, drawn at random from the first drive; those it does not have are left out.
    intervals : sequence of float
        Seconds between the steps of the test, of the validation and of the moves that the KBR filter learns from.
    """
    if len(data.recordings) < 3:
        raise ValueError(
            f"there are {len(data.recordings)} sequences; the paper's protocol needs three: to train, to validate and "
            "to test."
        )
    moves, validation, test = (kept(one, one.known) for one in data.recordings[:3])
    train = kept(moves, ~moves.missing)  # an image that cannot be read is no example
    folds = []
    for interval in intervals:
        thin, validated, tested = (sampled(one, interval) for one in (moves, validation, test))
        for size in (n for n in sizes if n <= len(train)):
            rows = _drawn(len(train), size, repetition)
            folds.append(
                LocalizationFold(
                    name=f"n = {size}, {interval:.2f} s",
                    training=[thin],
                    states=train.states[rows],
                    observations=_taken(train.observations, rows),
                    test=tested,
                    validation=(validated.name,),
                    tuning=[_as_recording(train, rows), validated],
                    group=f"{interval:.2f} s",
                )
            )
    if not folds:
        raise ValueError(f"the first sequence has {len(train)} images, fewer than the {min(sizes)} examples asked for.")
    return folds


def with_unique_names(recordings: Sequence[Recording]) -> list[Recording]:
    """Tell drives of the same name apart, since tuning leaves them out by name."""
    names = [one.name for one in recordings]
    return [
        replace(one, name=f"{one.name} ({k + 1})") if names.count(one.name) > 1 else one
        for k, one in enumerate(recordings)
    ]


def _as_recording(drive: Recording, rows: IntArray) -> Recording:
    """Return the examples drawn as a recording, so that tuning learns from them, too; they are no sequence."""
    controls = None if drive.controls is None else drive.controls[rows]
    return replace(
        drive,
        name=f"{drive.name}, drawn",
        time=drive.time[rows],
        states=drive.states[rows],
        observations=_taken(drive.observations, rows),
        controls=controls,
    )


def _drawn(count: int, size: int, repetition: int) -> IntArray:
    return np.sort(np.random.default_rng((repetition, size)).choice(count, size=size, replace=False))


def _taken(observations: Any, rows: IntArray) -> Any:
    return observations[rows] if isinstance(observations, np.ndarray) else [observations[int(row)] for row in rows]
