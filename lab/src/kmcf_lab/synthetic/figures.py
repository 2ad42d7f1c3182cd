"""The figures of Section 6.2: errors without and with controls, ratios to the oracle, times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kmcf_lab.cells import Result
from kmcf_lab.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW, canvas, save_figure
from kmcf_lab.synthetic.measured import Measured, errors_of, times_of

_BLACK = "#000000"
_APART = 0.012
"""Distance between methods, in logarithms of n, so that their error bars do not hide each other."""


@dataclass(frozen=True)
class Look:
    """How a method is drawn: relatives share a colour."""

    colour: str
    mark: str
    line: str
    place: int
    """Of the colour in the palette of reports."""


LOOKS = {
    "KMCF": Look(BLUE, "o", "-", 0),
    "KMCF-low10": Look(SKY, "v", ":", 5),
    "KMCF-low20": Look(SKY, "^", "-", 5),
    "KMCF-sub50": Look(YELLOW, "v", ":", 4),
    "KMCF-sub100": Look(YELLOW, "^", "-", 4),
    "kNN-PF": Look(GREEN, "s", "-", 2),
    "GP-PF": Look(ORANGE, "D", "-", 1),
    "KBR": Look(PURPLE, "P", "-", 3),
    "oracle": Look(GREY, "_", "--", 7),
    "defaults": Look(_BLACK, "*", "-", 6),
    "importance": Look(_BLACK, "x", ":", 6),
    "learnt": Look(GREY, ".", "-.", 7),
    "KMCF, literal": Look(BLUE, "o", "--", 0),
    "KMCF, literal, no resampling": Look(BLUE, "x", ":", 0),
    "KMCF-low20, n × r": Look(SKY, "^", "--", 5),
    "KBR, literal": Look(PURPLE, "P", "--", 3),
}


def draw_errors(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw errors over n with standard errors: a figure without controls and one with them, a panel per model."""
    errors, paths = errors_of(results), []
    for kind, letter in (("without", "a"), ("with", "b")):
        models = [model for model in errors.models if model.endswith(letter)]
        if models:
            rows, columns = (len(models) + 1) // 2, min(len(models), 2)
            with canvas(rows, columns, (5.2 * columns + 1.8, 3.9 * rows)) as (figure, axes):
                for axis in axes.flat[len(models) :]:
                    axis.remove()
                for axis, model in zip(axes.flat, models, strict=False):
                    _panel(axis, errors, model, "root mean squared error")
                    _write_ticks(axis)
                    axis.set_title(f"model {model}")
                figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside right upper")
                paths += save_figure(figure, folder, f"errors-{kind}-controls")
    return paths


def draw_times(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw times per step over n, a panel per model that was timed."""
    times = times_of(results)
    if not times.models:
        return []
    count = len(times.models)
    with canvas(1, count, (4.2 * count + 2.4, 4.6), sharey=True) as (figure, axes):
        for axis, model in zip(axes[0], times.models, strict=True):
            _panel(axis, times, model, "milliseconds per step")
            axis.set_title(f"model {model}")
        for axis in axes[0]:
            _write_ticks(axis)
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper")
        return save_figure(figure, folder, "times")


def _panel(axis: Any, measured: Measured, model: str, label: str) -> None:
    sizes, methods = measured.sizes, measured.methods
    for place, method in enumerate(methods):
        x, means, errors = measured.curve(model, method)
        x = x * np.exp(_APART * (place - len(methods) / 2))
        look = LOOKS[method]
        style = {"color": look.colour, "marker": look.mark, "linestyle": look.line, "markersize": 5, "linewidth": 1.2}
        axis.errorbar(x, means, errors, label=method, capsize=2, **style)
    axis.set(xscale="log", yscale="log", xlabel="number of examples n", ylabel=label)
    axis.set_xticks(sizes, [str(n) for n in sizes])
    axis.minorticks_off()
    axis.set_xlim(sizes[0] / 1.2, sizes[-1] * 1.2)


def _write_ticks(axis: Any) -> None:
    """Write round numbers along the vertical axis; call it once everything that shares the axis is drawn."""
    low, high = axis.get_ylim()
    ticks = plain_ticks(low, high)
    axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_ylim(low, high)


def plain_ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two positive limits, which are often less than a decade apart.

    Examples
    --------
    >>> plain_ticks(0.7, 1.3), plain_ticks(0.2, 40.0)
    ([0.8, 1.0, 1.2], [0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0])
    """
    digits = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0) if high < 6.0 * low else (1.0, 2.0, 5.0)
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))))
    candidates = [float(f"{digit * 10.0**decade:.3g}") for decade in decades for digit in digits]
    return [tick for tick in candidates if low <= tick <= high]


def draw_ratios(results: Sequence[Result], folder: Path, n: int) -> list[Path]:
    """Draw the ratios to the oracle at one number of examples: a line per method, a mark per model."""
    errors = errors_of(results)
    methods = [name for name in reversed(errors.methods) if name != "oracle"]
    marks = dict(zip(errors.models, "osD^vP*X", strict=False))
    colours = dict(zip(errors.models, (BLUE, SKY, ORANGE, YELLOW, GREEN, PURPLE, GREY, _BLACK), strict=False))
    with canvas(1, 1, (8.0, 1.2 + 0.42 * len(methods))) as (figure, axes):
        axis = axes[0, 0]
        for model in errors.models:
            places = [(k, errors.ratio(model, n, method)) for k, method in enumerate(methods)]
            known = [(k, one.value) for k, one in places if one is not None]
            heights, ratios = np.array(known, dtype=np.float64).reshape(-1, 2).T
            style = {"color": colours[model], "marker": marks[model], "linestyle": "", "alpha": 0.85}
            axis.plot(ratios, heights, label=model, markersize=6, **style)
        overall = [(k, errors.overall_ratio(n, method)) for k, method in enumerate(methods)]
        for k, one in overall:
            if one is not None:
                axis.plot([one.value] * 2, [k - 0.35, k + 0.35], color="black", linewidth=2.0)
        axis.axvline(1.0, color=GREY, linewidth=1.0, linestyle="--")
        axis.set(xscale="log", xlabel="root mean squared error ÷ that of the oracle (bar: geometric mean)")
        axis.set_yticks(range(len(methods)), methods)
        ticks = [1, 1.2, 1.5, 2, 3, 4, 6, 8]
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
        axis.set_title(f"n = {n} examples")
        figure.legend(*axis.get_legend_handles_labels(), loc="outside right upper", title="model")
        return save_figure(figure, folder, "ratios")
