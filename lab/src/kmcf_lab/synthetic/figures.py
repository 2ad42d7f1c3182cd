"""The figures of Section 6.2: errors without and with controls, ratios to the oracle, times and their growth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kmcf_lab.cells import Result
from kmcf_lab.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW, canvas, save_figure
from kmcf_lab.synthetic.measured import Measured, errors_of, scaling_of, times_of
from kmcf_lab.synthetic.methods import METHODS
from kmcf_lab.synthetic.scaling import ALGORITHM_5, STABLE_STEP, WHOLE_STEP
from kmcf_lab.synthetic.times import NO_HERDING, OUR_HERDING, OUR_KBR, OUR_KMCF, PRINTED_KBR, PRINTED_KMCF, STABLE

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
    "KMCF-woRes": Look(BLUE, "x", ":", 0),
    "KMCF-ResTrunc": Look(BLUE, "+", "-.", 0),
    "kNN-PF": Look(GREEN, "s", "-", 2),
    "GP-PF": Look(ORANGE, "D", "-", 1),
    "KBR": Look(PURPLE, "P", "-", 3),
    "oracle": Look(GREY, "_", "--", 7),
    "ours (untuned)": Look(_BLACK, "*", "-", 6),
    "ours, importance (untuned)": Look(_BLACK, "x", ":", 6),
    "ours, learnt kernel": Look(GREY, ".", "-.", 7),
    "low-rank, stable 10": Look(_BLACK, "v", ":", 6),
    "low-rank, stable 20": Look(_BLACK, "^", "--", 6),
    PRINTED_KMCF: Look(BLUE, "o", "-", 0),
    OUR_HERDING: Look(BLUE, "s", ":", 0),
    NO_HERDING: Look(BLUE, "x", ":", 0),
    OUR_KMCF: Look(_BLACK, "o", "--", 6),
    "KMCF-low10, herding as printed": Look(SKY, "v", ":", 5),
    "KMCF-low20, herding as printed": Look(SKY, "^", "-", 5),
    "KMCF-sub50, as printed": Look(YELLOW, "v", ":", 4),
    "KMCF-sub100, as printed": Look(YELLOW, "^", "-", 4),
    STABLE: Look(_BLACK, "^", ":", 6),
    PRINTED_KBR: Look(PURPLE, "P", "-", 3),
    OUR_KBR: Look(PURPLE, "P", "--", 3),
    ALGORITHM_5: Look(SKY, "v", "-", 5),
    WHOLE_STEP: Look(SKY, "^", ":", 5),
}
DRAWN_ERRORS = (
    *("KMCF", "KMCF-low10", "KMCF-low20", "KMCF-sub50", "KMCF-sub100", "kNN-PF", "GP-PF", "KBR", "oracle"),
    *("ours (untuned)", "low-rank, stable 20"),
)
DRAWN_TIMES = (
    *(PRINTED_KMCF, "KMCF-low10, herding as printed", "KMCF-low20, herding as printed"),
    *("KMCF-sub50, as printed", "KMCF-sub100, as printed", "kNN-PF", "GP-PF", PRINTED_KBR),
    *(OUR_KMCF, OUR_KBR, "low-rank, stable 20", "ours (untuned)"),
)
"""What the figures over n show; the tables have everything."""


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
                    _panel(axis, errors, model, "root mean squared error", DRAWN_ERRORS)
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
            _panel(axis, times, model, "milliseconds per step", DRAWN_TIMES)
            axis.set_title(f"model {model}")
        for axis in axes[0]:
            _write_ticks(axis)
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper")
        return save_figure(figure, folder, "times")


def draw_scaling(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw the times of low-rank methods at large n, with a line of slope 1 to compare with."""
    scaling = scaling_of(results)
    if not scaling.values:
        return []
    with canvas(1, 1, (7.4, 4.4)) as (figure, axes):
        axis = axes[0, 0]
        _panel(axis, scaling, "1a", "milliseconds", (ALGORITHM_5, WHOLE_STEP, STABLE_STEP))
        ends = np.array([scaling.sizes[0], scaling.sizes[-1]], dtype=np.float64)
        _, means, _ = scaling.curve("1a", ALGORITHM_5)
        axis.plot(ends, means[0] * ends / ends[0], color=GREY, linewidth=1.0, linestyle="--", label="linear in n")
        _write_ticks(axis)
        figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return save_figure(figure, folder, "scaling")


def _panel(axis: Any, measured: Measured, model: str, label: str, drawn: Sequence[str]) -> None:
    """Draw curves over n; where n has fewer data sets, means are of other data, so they are hollow and stand apart."""
    sizes, few = measured.sizes, measured.few
    methods = [name for name in drawn if any(key[0] == model and key[2] == name for key in measured.values)]
    for place, method in enumerate(methods):
        curve = np.stack(measured.curve(model, method))
        apart = np.isin(curve[0], list(few))
        curve[0] *= np.exp(_APART * (place - len(methods) / 2))
        look = LOOKS[method]
        style = {"color": look.colour, "marker": look.mark, "markersize": 5, "linewidth": 1.2, "capsize": 2}
        axis.errorbar(*curve[:, ~apart], label=method, linestyle=look.line, **style)
        if apart.any():
            axis.errorbar(*curve[:, apart], linestyle="", markerfacecolor="white", **style)
    axis.set(xscale="log", yscale="log", xlabel="number of examples n", ylabel=label)
    axis.set_xticks(sizes, [f"{n}\n({few[n]} data sets)" if n in few else str(n) for n in sizes])
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
        printed = sum(METHODS[name].printed for name in methods)
        axis.axhline(len(methods) - printed - 0.5, color=GREY, linewidth=0.8)  # the paper's above, ours below
        ticks = [tick for tick in (1, 1.2, 1.5, 2, 3, 4, 6, 8, 12, 20, 50, 100) if tick <= axis.get_xlim()[1]]
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
        axis.set_title(f"n = {n} (above the line: the paper's methods; below: ours)")
        figure.legend(*axis.get_legend_handles_labels(), loc="outside right upper", title="model")
        return save_figure(figure, folder, "ratios")
