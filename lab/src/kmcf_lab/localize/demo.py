"""The first thing a newcomer sees: a person followed through a room by the strengths of twelve Bluetooth signals."""

from __future__ import annotations

from pathlib import Path

from kmcf_lab.localize.experiment import Experiment, chosen_folds, run_experiment
from kmcf_lab.localize.publishing import Published, publish
from kmcf_lab.localize.splits import spread

DEMO_METHODS = ("kmcf", "knn-pf", "nai")


def run_demo(folder: Path, command: str, *, walks: int = 3, seed: int = 0, progress: bool = False) -> Published:
    """Follow some of the nine recorded walks, each with the eight others as examples, and write a report.

    Parameters
    ----------
    folder : Path
        Where tables, pictures and the report go.
    command : str
        What was typed.
    walks : int
        How many of the nine to follow, evenly spread and with the last one among them.
    seed : int
        Makes the demo repeatable.
    progress : bool
        Show a bar.
    """
    experiment = Experiment("ble", seed=seed)
    names = chosen_folds(experiment, None)
    chosen = [names[-1 - k] for k in spread(len(names), walks)]
    cells = folder / "cells"
    results = run_experiment(experiment, cells, folds=chosen, methods=DEMO_METHODS, fresh=True, progress=progress)
    return publish(experiment, results, folder, command)
