"""Errors over the length of the sequence, for each model and budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kmcf_lab.abc.checks import all_rows, mean_error, models_of, opponents, present
from kmcf_lab.cells import Result, Row
from kmcf_lab.figures import BLUE, GREEN, GREY, ORANGE, canvas, save_figure
from kmcf_lab.tables import chosen

_LOOKS = {"KMCF": (GREEN, "o"), "ABC": (ORANGE, "s"), "ABC, summary": (BLUE, "D"), "oracle": (GREY, "^")}

_TICKS = (0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def draw_errors(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw a panel per model (down) and budget (across)."""
    rows = all_rows(results)
    models, budgets = models_of(rows), present(rows, "budget")
    size = (3.4 * len(budgets) + 1.6, 2.9 * len(models) + 0.4)
    with canvas(len(models), len(budgets), size, sharey="row") as (figure, axes):
        for line, model in zip(axes, models, strict=True):
            for axis, budget in zip(line, budgets, strict=True):
                if budget in present(chosen(rows, model=model), "budget"):
                    _panel(axis, rows, model, budget)
                else:
                    axis.remove()
            line[0].set_ylabel("root mean squared error")
        for axis in axes.flat:
            axis.set_xlabel("length T of the sequence")
        # Not every model has a summary: the legend is that of the panel with the most methods.
        handles, labels = max((one.get_legend_handles_labels() for one in axes[:, 0]), key=lambda pair: len(pair[1]))
        figure.legend(handles, labels, loc="outside right upper")
        return save_figure(figure, folder, "abc-errors")


def _panel(axis: Any, rows: Sequence[Row], model: str, budget: int) -> None:
    lengths = present(rows, "length")
    for method in ("KMCF", *opponents(rows, model), "oracle"):
        where: dict[str, Any] = {"model": model, "method": method}
        where |= {} if method == "oracle" else {"budget": budget}
        errors = [mean_error(rows, **where, length=length) for length in lengths]
        colour, mark = _LOOKS[method]
        style = {"color": colour, "marker": mark, "markersize": 5, "linewidth": 1.3, "capsize": 2}
        bars = [one.error for one in errors]
        axis.errorbar(lengths, [one.value for one in errors], bars, label=method, **style)
    axis.set(xscale="log", yscale="log", title=f"{model}, {budget} simulations")
    axis.set_xticks(lengths, [str(length) for length in lengths])
    low, high = axis.get_ylim()
    axis.set_yticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
    axis.minorticks_off()
    axis.set_ylim(low, high)
