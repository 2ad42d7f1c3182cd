"""The first thing a newcomer sees: a hidden state recovered by a filter that was never told the observation model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from kmcf.arrays import FloatArray
from kmcf.datasets import Trajectory, paper_model
from kmcf.experiments.kalman import kalman
from kmcf.extras import require
from kmcf.filter import FilterRun, KernelMonteCarloFilter


@dataclass(frozen=True)
class DemoResult:
    """What the demo found."""

    errors: dict[str, float]
    """Root mean squared error of each method."""
    coverage: float
    """Share of true states inside the 95 % band."""
    milliseconds: float
    """Time per step of the filter."""
    picture: Path
    """The saved figure."""


def run_demo(folder: Path, *, n_examples: int = 300, length: int = 150, seed: int = 0) -> DemoResult:
    """Filter the paper's model 1a from examples and compare with guessing and with knowing everything.

    Parameters
    ----------
    folder : Path
        Where to save the picture.
    n_examples : int
        How many example pairs the filter is given.
    length : int
        How many observations it then filters.
    seed : int
        Makes the demo repeatable.
    """
    model = paper_model("1a")
    train = model.simulate(n_examples, random_state=(seed, 0))
    test = model.simulate(length, random_state=(seed, 1))
    flt = KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=seed)
    flt.fit(train.states, train.observations)
    began = perf_counter()
    run = flt.filter(test.observations)
    milliseconds = 1000.0 * (perf_counter() - began) / length
    estimates = {
        "state of the most similar example": _nearest_example(train, test),
        "KMCF: examples and a simulator": run.mean,
        "Kalman filter: knows every equation": kalman(test.observations).means[:, None],
    }
    errors = {name: float(np.sqrt(np.mean((value - test.states) ** 2))) for name, value in estimates.items()}
    inside = float(np.mean((run.interval[:, 0] <= test.states) & (test.states <= run.interval[:, 1])))
    return DemoResult(errors, inside, milliseconds, _picture(folder, run, test))


def _nearest_example(train: Trajectory, test: Trajectory) -> FloatArray:
    nearest = np.abs(test.observations - train.observations.T).argmin(axis=1)
    states: FloatArray = train.states[nearest]
    return states


def _picture(folder: Path, run: FilterRun, test: Trajectory) -> Path:
    require("matplotlib", "plot").use("agg")
    pyplot = require("matplotlib.pyplot", "plot")
    axes = run.plot(truth=test.states)
    axes[0].plot(run.time, test.observations[:, 0], ".", color="#999999", markersize=4, label="observation")
    axes[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, fontsize="small", frameon=False)
    axes[0].set_title("Hidden state recovered from examples alone", loc="left", fontsize="medium", pad=24)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "filtering.png"
    axes[0].figure.savefig(path, dpi=150, bbox_inches="tight")
    pyplot.close(axes[0].figure)
    return path
