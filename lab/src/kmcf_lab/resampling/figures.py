"""The two figures of Section 6.1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf_lab.cells import Result
from kmcf_lab.figures import BLUE, GREEN, GREY, ORANGE, canvas, save_figure
from kmcf_lab.resampling.checks import sweep
from kmcf_lab.resampling.study import METHODS, SD, TRANSITION_SD, Draw

COLOURS = {"m̂_P": GREY, "woRes": BLUE, "Res-KH": GREEN, "Res-Trunc": ORANGE}
_MARKS = {"m̂_P": "o", "woRes": "s", "Res-KH": "^", "Res-Trunc": "D"}
BINS = np.linspace(-1.0, 1.0, 41)


def draw_demonstration(draw: Draw, folder: Path) -> list[Path]:
    """Draw the six panels: weighted samples and histograms, before and after the transition."""
    errors = draw.errors()
    with canvas(3, 2, (9.5, 8.5), sharex=True) as (figure, axes):
        for row, method in zip(axes, METHODS, strict=True):
            for axis, letter, sd in zip(row, "pq", (SD, np.hypot(SD, TRANSITION_SD)), strict=True):
                values = draw.samples[method] if letter == "p" else draw.moved[method]
                _panel(axis, method, values, draw.weights, float(sd))
                what = "before" if letter == "p" else "after"
                axis.set_title(f"{method}, {what} the transition: error {errors[f'{method}_{letter}']:.2e}")
        for axis in axes[-1]:
            axis.set(xlabel="state x", xlim=(-1.05, 1.05))
        return save_figure(figure, folder, "demonstration")


def _panel(axis: Any, method: str, values: FloatArray, weights: FloatArray, sd: float) -> None:
    if method == "woRes":
        axis.vlines(values, 0.0, weights, color=COLOURS[method], linewidth=1.0)
        axis.plot(values, weights, "o", color=COLOURS[method], markersize=3.5)
        axis.axhline(0.0, color=GREY, linewidth=0.6)
        axis.set_ylabel("weight")
        return
    axis.hist(values, BINS, color=COLOURS[method], alpha=0.75)
    grid = np.linspace(-1.0, 1.0, 400)
    density = np.exp(-0.5 * (grid / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi))
    axis.plot(grid, density * len(values) * (BINS[1] - BINS[0]), color=GREY, linewidth=1.2, label="true distribution")
    axis.set_ylabel("number of samples")
    axis.legend(loc="upper right")


def draw_sweep(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw the errors over Σw² on logarithmic axes."""
    averages = sweep(results)
    order = np.argsort(averages.sum_of_squares)
    x = averages.sum_of_squares[order]
    with canvas(1, 1, (7.0, 5.0)) as (figure, axes):
        axis = axes[0, 0]
        for name, means in averages.means.items():
            label = {"m̂_P": r"error of $\hat m_P$"}.get(name, f"{name}, error on $m_Q$")
            style = {"color": COLOURS[name], "marker": _MARKS[name], "markersize": 5, "linewidth": 1.3, "capsize": 2}
            axis.errorbar(x, means[order], averages.errors[name][order], label=label, **style)
        axis.set(xscale="log", yscale="log", xlabel=r"sum of squared weights $\sum_i w_i^2$")
        axis.set(ylabel="squared RKHS error", title="Section 6.1: mean over repetitions, bars: standard errors")
        axis.legend()
        return save_figure(figure, folder, "sweep")
