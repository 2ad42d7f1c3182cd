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
from kmcf_lab.localize.spliced import spliced
from kmcf_lab.localize.splits import spread
from kmcf_lab.localize.walking import SteadyWalk

WIFINE_SETTINGS = Settings(
    # A scan tells where the phone was some six seconds ago. With the velocity in the state the filter learns that from
    # the examples, and need not believe that it lags behind. People turn more often than on the training routes.
    transition=SteadyWalk(),
    inflation=2.0,
    # All of this was chosen on walks spliced from left-out training walks: see WIFINE_SPLICED.
    load={"scans": 2},
    observation_kernel=SignalStrength(floor=-100.0, components=60, scans=2, fading=0.5),
    # Metres, and metres per second.
    state_kernel=Gaussian(np.array([2.0, 2.0, 2.0, 0.6, 0.6, 0.6])),
    kmcf={
        "engine": "local",
        "tolerance": "auto",
        "rule": "importance",
        "delta": 1e-3,
        "rank": 200,
        "n_particles": 100,
    },
    knn_particles={"n_particles": 1000},
    # Walks pass places without examples, behind which the filter must find itself again.
    recovery=0.1,
    split={"most_folds": None},
)
LEFT_OUT = 10
"""Training walks of each floor from which spliced walks are made; the examples are those of the others."""


def load_walks(path: Path, *, scans: int) -> Data:
    """Load the training and the validation walks, with so many scans in every observation."""
    walks = [walk for part in ("train", "val") for walk in wifine(path, part)]
    return Data([with_earlier_scans(with_elapsed_times(walk), scans) for walk in walks])


def load_spliced(path: Path, *, scans: int, count: int, length: int, draw: int) -> Data:
    """Load the training walks but for ten of each floor, and walks spliced from those left out.

    Parameters
    ----------
    path : Path
        The folder of WiFine.
    scans : int
        How many scans make an observation.
    count, length : int
        Number of spliced walks, and their steps.
    draw : int
        Another number leaves other walks out.
    """
    walks = wifine(path, "train")
    rng = np.random.default_rng(draw)
    floors = np.array([walk.name.split("_")[1] for walk in walks])
    left = {int(k) for floor in np.unique(floors) for k in rng.permutation(np.flatnonzero(floors == floor))[:LEFT_OUT]}
    out = [walks[k] for k in sorted(left)]
    kept = [walk for k, walk in enumerate(walks) if k not in left]
    kept += [spliced(out, length, 1000 * draw + k, f"spliced {k}") for k in range(count)]
    return Data([with_earlier_scans(with_elapsed_times(walk), scans) for walk in kept])


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
    """Test on each other walk, with examples from all training walks.

    Parameters
    ----------
    data : Data
        Walks; the names of those with the examples begin with "train".
    repetition : int
        Not used: there is nothing random here.
    every : int
        Keep every k-th step of the training walks as an example.
    most_folds : int, optional
        Test on so many walks only, evenly spread.
    """
    training = [walk for walk in data.recordings if walk.name.startswith("train")]
    tested = [walk for walk in data.recordings if not walk.name.startswith("train")]
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
WIFINE_SPLICED = replace(
    WIFINE,
    name="wifine-spliced",
    title="Indoor positioning from WiFi (WiFine, spliced training walks)",
    about=(
        "Settings of wifine are chosen here: all training walks of a floor follow one route, back and forth, so that a "
        "left-out walk is no test. Walks are spliced from left-out ones, so that they turn elsewhere; errors are in "
        "three dimensions."
    ),
    load=load_spliced,
    settings=replace(WIFINE_SETTINGS, load={**WIFINE_SETTINGS.load, "count": 60, "length": 36, "draw": 0}),
    quick=replace(
        WIFINE.quick,
        load={**WIFINE_SETTINGS.load, "count": 6, "length": 20, "draw": 0},
    ),
    needs="the folder of WiFine, with train.npz",
)
