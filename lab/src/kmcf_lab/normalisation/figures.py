"""Two figures: what normalisation does to the error, and how far sums of weights are from 1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kmcf_lab.cells import Result, Row
from kmcf_lab.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW, canvas, save_figure
from kmcf_lab.normalisation.checks import VARIANTS, log_ratios, models_of
from kmcf_lab.normalisation.study import SCHEDULES
from kmcf_lab.statistics import confidence, factor
from kmcf_lab.tables import chosen, grid, rows_of

_COLOURS = (BLUE, ORANGE, GREEN)
_LINES = (BLUE, SKY, ORANGE, YELLOW, GREEN, PURPLE, GREY, "#000000")
_MARKS = "osD^vP*X"


def draw_ratios(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw the ratio of errors, without ÷ with normalisation, for each model with its confidence interval."""
    rows = rows_of(results, "errors")
    models = models_of(rows)
    with canvas(1, 1, (8.0, 4.4)) as (figure, axes):
        axis = axes[0, 0]
        for place, (variant, colour) in enumerate(zip(VARIANTS, _COLOURS, strict=True)):
            found = [factor(confidence(log_ratios(rows, model, variant))) for model in models]
            values = np.array([one.value for one in found])
            bars = [[one.value - one.low for one in found], [one.high - one.value for one in found]]
            x = np.arange(len(models)) + 0.18 * (place - 1)
            axis.errorbar(x, values, bars, fmt="o", color=colour, capsize=3, markersize=5, label=variant)
        axis.axhline(1.0, color=GREY, linewidth=0.8)
        axis.set_yscale("log")
        axis.set(xlabel="model", ylabel="error without ÷ with normalisation", title="Bars: 95 % confidence intervals")
        low, high = axis.get_ylim()
        ticks = [tick for tick in (0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0) if low <= tick <= high]
        axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
        axis.set_ylim(low, high)
        axis.set_xticks(range(len(models)), models)
        axis.legend()
        return save_figure(figure, folder, "normalisation-ratios")


def draw_sums(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw the median distance of the sum of weights from 1 over n, a panel per schedule of the regularisers."""
    rows = rows_of(results, "sums")
    with canvas(1, len(SCHEDULES), (9.6, 4.2), sharey=True) as (figure, axes):
        for axis, schedule in zip(axes[0], SCHEDULES, strict=True):
            _sums_panel(axis, rows, schedule)
        axes[0, 0].set_ylabel("median over steps of |Σw − 1|")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper", title="model")
        return save_figure(figure, folder, "normalisation-sums")


def _sums_panel(axis: Any, rows: Sequence[Row], schedule: str) -> None:
    for model, colour, mark in zip(models_of(rows), _LINES, _MARKS, strict=False):
        sizes, away = grid(chosen(rows, model=model, schedule=schedule), "n", "typically_away")
        bars = away.std(axis=0, ddof=1) / np.sqrt(len(away)) if len(away) > 1 else None
        style = {"color": colour, "marker": mark, "markersize": 5, "linewidth": 1.2, "capsize": 2}
        axis.errorbar(sizes, away.mean(axis=0), bars, label=model, **style)
    axis.set(xscale="log", yscale="log", xlabel="number of examples n", title=f"regularisers {schedule}")
    axis.set_xticks(sizes, [f"{size:.0f}" for size in sizes])
    axis.minorticks_off()
