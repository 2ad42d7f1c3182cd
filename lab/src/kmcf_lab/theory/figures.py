"""The figures of Section 5."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kmcf_lab.cells import Result
from kmcf_lab.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW, canvas, save_figure
from kmcf_lab.tables import chosen, column, rows_of
from kmcf_lab.theory.bound import CIRCLE_TRANSITIONS, LINE_TRANSITIONS
from kmcf_lab.theory.checks import CONSISTENCY, curve

_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY)
_MARKS = "os^Dv*"


def draw_bound(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw measured errors over the bound, and the slack over the effective sample size; colours are transitions."""
    rows = rows_of(results, "bound")
    spaces = (("circle", CIRCLE_TRANSITIONS), ("line", LINE_TRANSITIONS))
    with canvas(2, 2, (10.5, 9.0)) as (figure, axes):
        for (left, right), (space, transitions) in zip(axes, spaces, strict=True):
            for k, sd in enumerate(transitions):
                some = chosen(rows, space=space, transition_sd=sd)
                bound, style = column(some, "bound"), {"color": _COLOURS[k], "marker": _MARKS[k], "markersize": 4}
                left.plot(bound, column(some, "measured"), linestyle="", label=f"{sd:g}", **style)
                ess = column(some, "effective_sample_size")
                right.plot(ess, bound / column(some, "expected"), linestyle="", label=f"{sd:g}", **style)
            ends = np.array(left.get_xlim())
            left.plot(ends, ends, "--", color=GREY, linewidth=1.0, label="equal")
            right.axhline(1.0, color=GREY, linestyle="--", linewidth=1.0)
            constant = r"$\|\theta\|$" if space == "circle" else "1"
            left.set(xscale="log", yscale="log", xlabel=f"bound of Theorem 1, with {constant}")
            left.set(ylabel=r"measured $E\|\hat m_Q - m_Q\|^2$", title=f"{space}: the error stays below the bound")
            right.set(xscale="log", xlabel=r"effective sample size $1/\sum w_i^2$")
            right.set(ylabel="bound ÷ exact expectation", title=f"{space}: slack")
            left.legend(title="sd of transition", ncols=2)
        return save_figure(figure, folder, "bound")


def draw_rates(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw the convergence in N and in ℓ."""
    candidates, picks = rows_of(results, "candidates"), rows_of(results, "picks")
    with canvas(1, 2, (11.5, 4.6)) as (figure, axes):
        left, right = axes[0]
        for name, label, colour in (("hull", "importance weights", ORANGE), ("herded", "herding", BLUE)):
            measured = curve(candidates, "candidates", name)
            text = f"{label}: slope {measured.slope.value:.2f} [{measured.slope.low:.2f}, {measured.slope.high:.2f}]"
            left.errorbar(measured.x, measured.mean, measured.error, color=colour, marker="o", markersize=4, label=text)
        reference = curve(candidates, "candidates", "hull")
        line = reference.mean[0] * np.sqrt(reference.x[0] / reference.x)
        left.plot(reference.x, line, "--", color=GREY, label=r"$N^{-1/2}$")
        left.set(xlabel="candidates N", ylabel=r"distance to $m_P$", title="in the number of candidates")
        measured = curve(picks, "picks", "loss")
        text = f"herding: slope {measured.slope.value:.2f} [{measured.slope.low:.2f}, {measured.slope.high:.2f}]"
        right.errorbar(measured.x, measured.mean, measured.error, color=BLUE, marker="o", markersize=4, label=text)
        right.plot(
            measured.x, curve(picks, "picks", "bound").mean, "--", color=GREY, label=r"bound $4(1+\ln\ell)/\ell$"
        )
        right.set(xlabel="picks ℓ", ylabel="squared loss of herding", title="in the number of picks")
        for axis in (left, right):
            axis.set(xscale="log", yscale="log")
            axis.legend()
        return save_figure(figure, folder, "rates")


def draw_consistency(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw the three distances to the Kalman posterior over n."""
    rows = rows_of(results, "consistency")
    with canvas(1, 1, (6.8, 4.8)) as (figure, axes):
        axis = axes[0, 0]
        for k, (name, words) in enumerate(CONSISTENCY.items()):
            measured = curve(rows, "n", name)
            text = f"{words}: slope {measured.slope.value:.2f} [{measured.slope.low:.2f}, {measured.slope.high:.2f}]"
            style = {"color": _COLOURS[k], "marker": _MARKS[k], "markersize": 5, "linewidth": 1.3, "capsize": 2}
            axis.errorbar(measured.x, measured.mean, measured.error, label=text, **style)
        axis.set(xscale="log", yscale="log", xlabel="number of examples n", ylabel="error")
        ends = axis.get_ylim()
        axis.set_xticks(measured.x, [f"{int(n)}" for n in measured.x])
        axis.set_yticks([0.02, 0.05, 0.1, 0.2, 0.5, 1.0], ["0.02", "0.05", "0.1", "0.2", "0.5", "1"])
        axis.minorticks_off()
        axis.set_ylim(0.6 * ends[0], ends[1])
        axis.set_title("model 1a: the filter against the Kalman filter")
        axis.legend(loc="lower left")
        return save_figure(figure, folder, "consistency")
