"""Examples drawn at random from some laps of the building, a test on another.

The protocol of Section 6.3, with a drive of its own for tuning, is in ``localize/paper_protocol.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kmcf.datasets.recording import Recording, thinned
from kmcf.numerics.arrays import FloatArray

PAPER_STEPS = (4, 8, 12)
"""Every fourth, eighth and twelfth frame: 2.27, 4.54 and 6.81 s with the default frame interval."""


class LocalizationTask(NamedTuple):
    """Examples and a test sequence."""

    states: FloatArray
    """Poses of the examples, (n, 3)."""
    observations: Any
    """Their n images."""
    training: list[Recording]
    """The laps of the examples, thinned like the test: transitions for the KBR filter, sequences for tuning."""
    test: Recording
    """The other lap, thinned."""


def localization_task(
    laps: Sequence[Recording], n: int, step: int = PAPER_STEPS[0], test: int = -1, random_state: Any = 0
) -> LocalizationTask:
    """Draw ``n`` examples at random from all laps but one, and test on that one with every ``step``-th frame.

    Parameters
    ----------
    laps : sequence of Recording
        At least two.
    n : int
        Number of examples, drawn without replacement.
    step : int
        Frames per step; ``PAPER_STEPS`` give the paper's three intervals.
    test : int
        The lap to test on.
    random_state : int or Generator
        Of the draw.

    Examples
    --------
    >>> lap = Recording("lap", np.arange(9.0), np.zeros((9, 3)), np.zeros((9, 4, 4)), np.zeros((9, 3)),
    ...                 names={"controls": ("rotation", "translation", "rotation")})
    >>> task = localization_task([lap, lap, lap], n=10, step=4)
    >>> task.states.shape, len(task.test), len(task.training)
    ((10, 3), 3, 2)
    """
    if len(laps) < 2 or not -len(laps) <= test < len(laps):
        raise ValueError(f"there are {len(laps)} laps and test = {test}; at least two are needed, one of them to test.")
    rest = [lap for number, lap in enumerate(laps) if number != test % len(laps)]
    frames = [(lap, row) for lap in rest for row in range(len(lap))]
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or not 1 <= n <= len(frames):
        raise ValueError(f"n = {n!r}; it must be an integer from 1 to {len(frames)}, the frames of the training laps.")
    drawn = np.sort(np.random.default_rng(random_state).choice(len(frames), size=n, replace=False))
    chosen = [frames[number] for number in drawn]
    observations: Any = [lap.observations[row] for lap, row in chosen]
    if all(isinstance(lap.observations, np.ndarray) for lap in rest):
        observations = np.stack(observations)
    states = np.stack([lap.states[row] for lap, row in chosen])
    return LocalizationTask(states, observations, [thinned(lap, step) for lap in rest], thinned(laps[test], step))
