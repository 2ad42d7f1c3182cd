"""A phone carried through a building of three floors with 436 WiFi access points: WiFine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kmcf.datasets import examples, wifine, with_elapsed_times
from kmcf.kernels import Gaussian, SignalStrength
from kmcf_lab.localize.problem import Data, LocalizationFold, Measure, Problem, Settings
from kmcf_lab.localize.splits import spread
from kmcf_lab.localize.walking import SteadyWalk

WIFINE_SETTINGS = Settings(
    # A scan tells where the phone was some six seconds ago. With the velocity in the state the filter learns that from
    # the examples, and need not believe that it lags behind.
    transition=SteadyWalk(),
    observation_kernel=SignalStrength(floor=-100.0),
    # Metres, and metres per second; chosen on left-out training walks, where 1 to 4 m and 0.2 to 0.4 m/s differ little.
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
    split={"most_folds": None},
)


def load_walks(path: Path) -> Data:
    """Load the training and the validation walks."""
    return Data([with_elapsed_times(walk) for part in ("train", "val") for walk in wifine(path, part)])


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
    states, observations = examples(training)
    chosen = spread(len(tested), most_folds or len(tested))
    return [
        LocalizationFold(tested[k].name, training, states[::every], observations[::every], tested[k]) for k in chosen
    ]


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
