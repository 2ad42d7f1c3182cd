"""A phone carried through a building of three floors with 436 WiFi access points: WiFine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.datasets import Recording, examples, wifine, with_elapsed_times
from kmcf.kernels import Gaussian, SignalStrength
from kmcf.numerics.arrays import FloatArray
from kmcf_lab.localize.problem import Data, LocalizationFold, Measure, Problem, Settings
from kmcf_lab.localize.splits import spread
from kmcf_lab.localize.walking import SteadyWalk

WIFINE_SETTINGS = Settings(
    # A scan tells where the phone was some six seconds ago. With the velocity in the state the filter learns that from
    # the examples, and need not believe that it lags behind.
    transition=SteadyWalk(),
    # The last three scans make an observation. All of this was chosen on left-out training walks: mean errors of 1.46,
    # 1.39, 1.18 and 1.17 m with one to four scans, where the mean of five neighbours has 1.67, 1.40, 1.22 and 1.19 m.
    load={"scans": 3},
    observation_kernel=SignalStrength(floor=-100.0, scans=3),
    # Metres, and metres per second; 1 to 4 m and 0.2 to 0.4 m/s differ little.
    state_kernel=Gaussian(np.array([2.0, 2.0, 2.0, 0.3, 0.3, 0.3])),
    kmcf={
        "engine": "local",
        "tolerance": "auto",
        "rule": "importance",
        "delta": 1e-3,
        "rank": 200,
        "n_particles": 200,
    },
    knn_particles={"n_particles": 1000},
    # Jumps change nothing on the training walks, which the filter never loses.
    recovery=0.02,
    split={"most_folds": None},
)


def load_walks(path: Path, *, scans: int) -> Data:
    """Load the training and the validation walks, with so many scans in every observation."""
    walks = [walk for part in ("train", "val") for walk in wifine(path, part)]
    return Data([with_earlier_scans(with_elapsed_times(walk), scans) for walk in walks])


def with_earlier_scans(walk: Recording, scans: int) -> Recording:
    """Put each scan and those before it side by side, newest first; the first scan stands in for those before it.

    Examples
    --------
    >>> walk = Recording("walk", np.arange(3.0), np.zeros((3, 2)), np.array([[1.0], [2.0], [3.0]]))
    >>> with_earlier_scans(walk, 2).observations.tolist()
    [[1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]
    """
    steps = np.arange(len(walk))
    earlier = [walk.observations[np.maximum(steps - k, 0)] for k in range(scans)]
    return replace(walk, observations=np.concatenate(earlier, axis=1))


def train_and_validate(
    data: Data, repetition: int = 0, *, every: int = 1, most_folds: int | None = None
) -> list[LocalizationFold]:
    """Test on each validation walk, with examples from all training walks.

    Parameters
    ----------
    data : Data
        Walks whose names begin with "train" or "val".
    repetition : int
        Not used: there is nothing random here.
    every : int
        Keep every k-th step of the training walks as an example.
    most_folds : int, optional
        Test on so many walks only, evenly spread.
    """
    training = [walk for walk in data.recordings if walk.name.startswith("train")]
    tested = [walk for walk in data.recordings if walk.name.startswith("val")]
    states, observations = _examples(data, every)
    return [
        LocalizationFold(tested[k].name, training, states, observations, tested[k], shared=True)
        for k in spread(len(tested), most_folds or len(tested))
    ]


def _examples(data: Data, every: int) -> tuple[FloatArray, Any]:
    """Return the examples, the same arrays again where the data are the same."""
    if not _LAST or _LAST[0] is not data or _LAST[1] != every:
        states, observations = examples([walk for walk in data.recordings if walk.name.startswith("train")])
        _LAST[:] = [data, every, (states[::every], observations[::every])]
    found: tuple[FloatArray, Any] = _LAST[2]
    return found


_LAST: list[Any] = []
"""The data last divided, how densely, and the examples."""


WIFINE = Problem(
    name="wifine",
    title="Indoor positioning from WiFi (WiFine)",
    about=(
        "A person walks slowly through three floors of a building with a phone that scans 436 access points about "
        "every five seconds. Validation walks, from an unknown start, with examples from 120 training walks; errors "
        "are in three dimensions."
    ),
    load=load_walks,
    split=train_and_validate,
    settings=WIFINE_SETTINGS,
    quick=replace(WIFINE_SETTINGS, split={"every": 4, "most_folds": 6}),
    measure=Measure("mean", axes=3),
    methods=("kmcf", "knn-pf", "knn", "nai"),
    needs="the folder of WiFine, with train.npz and val.npz",
)
