"""Walks put together from recorded ones: routes that nobody recorded, to choose settings on.

Where examples were recorded along the same routes again and again, a left-out walk repeats what the others did, turn by
turn, and whatever remembers the way seems to tell the place. A spliced walk changes to another left-out walk wherever
the two meet and part again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kmcf.datasets import Recording
from kmcf.numerics.arrays import FloatArray, IntArray

NEAR, APART = 0.5, 3.0
"""Walks meet within so many metres, in the plane, and have parted when they are so far from each other."""
AHEAD, LEAST = 3, 5
"""They part within the first number of steps; changes are at least the second number of steps apart."""
SAME_FLOOR = 1.0
ODDS, OTHER_FLOOR = 0.35, 0.06
"""Chance of changing at a meeting point, and of looking for one with another floor instead."""


@dataclass(frozen=True)
class Steps:
    """The steps of several walks, one after the other."""

    recordings: Sequence[Recording]
    places: FloatArray
    walk: IntArray
    number: IntArray
    """Which step of its walk."""
    left: IntArray
    """How many steps of its walk follow."""

    @classmethod
    def of(cls, recordings: Sequence[Recording]) -> Steps:
        """Put walks one after the other."""
        lengths = [len(one) for one in recordings]
        number = np.concatenate([np.arange(n) for n in lengths])
        walk = np.repeat(np.arange(len(lengths)), lengths)
        places = np.concatenate([one.states[:, :3] for one in recordings])
        return cls(recordings, places, walk, number, np.asarray(lengths)[walk] - 1 - number)

    def ahead(self, rows: IntArray) -> FloatArray:
        """Return where walks are some steps later, in the plane."""
        return self.places[rows + np.minimum(self.left[rows], AHEAD), :2]

    def elsewhere(self, row: int, other_floor: bool) -> IntArray:
        """Return steps of walks that are here, too, and go on to somewhere else."""
        near = np.linalg.norm(self.places[:, :2] - self.places[row, :2], axis=1) < NEAR
        same = np.abs(self.places[:, 2] - self.places[row, 2]) < SAME_FLOOR
        rows = np.flatnonzero(near & (same != other_floor) & (self.number > 1) & (self.left > LEAST))
        return rows[np.linalg.norm(self.ahead(rows) - self.ahead(np.array([row])), axis=1) > APART]


def spliced(recordings: Sequence[Recording], length: int, seed: int, name: str = "spliced") -> Recording:
    """Follow a recorded walk from somewhere on, and change to another one now and then where they meet.

    Parameters
    ----------
    recordings : sequence of Recording
        Walks whose states begin with x, y and z, in metres.
    length : int
        Number of steps; fewer where a walk ends.
    seed : int
        Which walk.
    name : str
        Its name.

    Examples
    --------
    >>> steps = np.arange(20.0)
    >>> east, north = np.zeros((20, 3)), np.zeros((20, 3))
    >>> east[:, 0], north[:, 1] = steps - 9.0, steps - 9.0
    >>> walks = [Recording(name, steps, states, states[:, :1]) for name, states in (("e", east), ("n", north))]
    >>> spliced(walks, 12, seed=23).states[[0, -1], :2].tolist()  # from the west, then to the north
    [[-8.0, 0.0], [0.0, 3.0]]
    """
    rng, steps = np.random.default_rng(seed), Steps.of(recordings)
    rows = [int(rng.choice(np.flatnonzero(steps.left >= min(LEAST, steps.left.max()))))]
    since = 0
    while len(rows) < length:
        here, since = rows[-1], since + 1
        if since >= LEAST and rng.random() < ODDS:
            found = steps.elsewhere(here, bool(rng.random() < OTHER_FLOOR))
            if len(found):
                here, since = int(rng.choice(found)), 0
        if steps.left[here] == 0:
            break
        rows.append(here + 1)
    return _recording(steps, np.array(rows), name)


def _recording(steps: Steps, rows: IntArray, name: str) -> Recording:
    """Put the steps together; each takes as long as it did in its own walk."""
    time, states, observations = (
        np.concatenate([np.asarray(getattr(one, part)) for one in steps.recordings])
        for part in ("time", "states", "observations")
    )
    before = rows - np.where(steps.number[rows] > 0, 1, -1)
    elapsed = np.abs(time[rows] - time[before])
    first = steps.recordings[0]
    return Recording(
        name, np.cumsum(elapsed) - elapsed[0], states[rows], observations[rows], units=first.units, names=first.names
    )
