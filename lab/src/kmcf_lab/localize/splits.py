"""Ways of dividing recordings into folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kmcf.datasets import Recording, examples, thinned, with_velocity_columns
from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf_lab.localize.problem import Data, LocalizationFold

MOST_QUICK_STEPS = 150


def leave_one_out(
    data: Data,
    repetition: int = 0,
    *,
    every: int = 1,
    used_every: int = 1,
    longest: int | None = None,
    most_folds: int | None = None,
) -> list[LocalizationFold]:
    """Test on each recording in turn, with examples from all others.

    Parameters
    ----------
    data : Data
        At least two recordings.
    repetition : int
        Not used: there is nothing random here.
    every : int
        Keep every k-th step of the training recordings as an example.
    used_every : int
        Show the filters only every k-th observation of the test recording; see :func:`rarely_observed`.
    longest : int, optional
        Cut test recordings to this number of steps.
    most_folds : int, optional
        Make at most this number of folds.
    """
    recordings = list(data.recordings)
    if len(recordings) < 2:
        raise ValueError(f"there is {len(recordings)} recording; testing on one and learning from others takes two.")
    folds = []
    for test in recordings[:most_folds]:
        training = [recording for recording in recordings if recording is not test]
        states, observations = examples(sparse(training, every))
        shown = rarely_observed(test[:longest], used_every)
        folds.append(
            LocalizationFold(test.name, training, states, observations, shown, every=every, used_every=used_every)
        )
    return folds


def earlier_and_later(
    data: Data, repetition: int = 0, *, share: float = 0.7, longest: int | None = None, velocities: bool = False
) -> list[LocalizationFold]:
    """Take the first part of a recording as examples and test on the rest.

    How states move is learnt from successive steps only; tuning leaves out thirds of the first part.

    Parameters
    ----------
    data : Data
        One recording, whose time may have gaps.
    repetition : int
        Not used: there is nothing random here.
    share : float
        Share of the steps that are examples.
    longest : int, optional
        Cut the test to this number of steps.
    velocities : bool
        Append velocities to the positions, of each part by itself.
    """
    recording = data.recordings[0]
    last = int(share * len(recording))
    first, test = recording[:last], recording[last:][:longest]
    if velocities:
        first, test = with_velocity_columns(first), with_velocity_columns(test)
    step = float(np.min(np.diff(first.time)))
    ends = [0, *(np.flatnonzero(np.diff(first.time) > 1.5 * step) + 1), last]
    parts = [first[begin:end] for begin, end in pairwise(ends) if end - begin > 1]
    thirds = [
        replace(first[rows[0] : rows[-1] + 1], name=f"part {k + 1}")
        for k, rows in enumerate(np.array_split(np.arange(last), 3))
    ]
    states, observations = examples(first)
    return [LocalizationFold("later", parts, states, observations, test, tuning=thirds)]


def rarely_observed(recording: Recording, every: int) -> Recording:
    """Make all observations but every k-th missing.

    Where successive observations share what they saw (scans a few centimetres apart, landmarks remembered for some
    seconds), their errors are not independent, and a filter that takes them to be becomes far too confident. The
    motion bridges the steps in between.

    Examples
    --------
    >>> walk = Recording("walk", np.arange(4.0), np.zeros((4, 2)), np.ones((4, 1)))
    >>> rarely_observed(walk, 2).missing
    array([ True, False,  True, False])
    """
    if every == 1:
        return recording
    hidden = ~shown_steps(len(recording), every)
    seen = recording.observations
    if isinstance(seen, np.ndarray):
        return replace(recording, observations=np.where(hidden.reshape(-1, *[1] * (seen.ndim - 1)), np.nan, seen))
    return replace(recording, observations=[None if gone else y for gone, y in zip(hidden, seen, strict=True)])


def shown_steps(length: int, every: int) -> BoolArray:
    """Return which steps of a sequence :func:`rarely_observed` shows.

    Examples
    --------
    >>> shown_steps(4, 2)
    array([False,  True, False,  True])
    """
    return np.asarray(np.arange(length) % every == every - 1)


class TrainingRows(NamedTuple):
    """The steps of the training sequences, one after the other."""

    recordings: list[Recording]
    states: FloatArray
    observations: Any
    controls: Any
    groups: list[str]
    learned_from: BoolArray
    """Which of them are examples."""
    corrected_at: BoolArray
    """At which of them a filter would be shown the observation, as in the test sequence."""


def training_rows(recordings: Sequence[Recording], fold: LocalizationFold) -> TrainingRows:
    """Put sequences that a filter of a fold may learn from together, for tuning and calibration."""
    recordings = [one for one in recordings if len(one)]
    observations = [one.observations for one in recordings]
    arrays = all(isinstance(part, np.ndarray) for part in observations)
    controls = [one.controls for one in recordings]
    return TrainingRows(
        recordings,
        np.concatenate([one.states for one in recordings]),
        np.concatenate(observations) if arrays else [y for part in observations for y in part],
        None if controls[0] is None else np.concatenate(controls),
        [one.name for one in recordings for _ in range(len(one))],
        np.concatenate([np.arange(len(one)) % fold.every == 0 for one in recordings]),
        np.concatenate([shown_steps(len(one), fold.used_every) for one in recordings]),
    )


def sparse(recordings: Sequence[Recording], every: int) -> list[Recording]:
    """Keep every k-th step of each recording."""
    return [thinned(recording, every) for recording in recordings]


def spread(count: int, wanted: int) -> list[int]:
    """Choose ``wanted`` of the numbers 0, …, count − 1, evenly spread.

    Examples
    --------
    >>> spread(9, 3)
    [0, 4, 8]
    """
    return [int(number) for number in np.unique(np.linspace(0, count - 1, min(wanted, count)).round())]
