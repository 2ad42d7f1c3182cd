"""The figures of Section 5."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kmcf_lab.cells import Result
from kmcf_lab.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW, canvas, save_figure
from kmcf_lab.tables import chosen, column, rows_of
from kmcf_lab.theory.benefit import FEW
from kmcf_lab.theory.bound import CIRCLE_TRANSITIONS, LINE_TRANSITIONS
from kmcf_lab.theory.designs import DESIGNS
from kmcf_lab.theory.filter_checks import CONSISTENCY
from kmcf_lab.theory.hull import TARGETS
from kmcf_lab.theory.rate_checks import half_line_distance
from kmcf_lab.theory.slopes import Curve, curve

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


def draw_benefit(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw what resampling and copying do to the expected error, over Σw² and over the transition."""
    rows = rows_of(results, "benefit")
    with canvas(1, 2, (11.5, 4.6)) as (figure, (axes,)):
        left, right = axes
        for k, sd in enumerate((0.001, 0.01, 0.1)):
            some = chosen(rows, transition_sd=sd)
            ratio = column(some, "herded") / column(some, "without")
            left.plot(
                column(some, "sum_of_squares"), ratio, _MARKS[k], color=_COLOURS[k], markersize=4, label=f"{sd:g}"
            )
        left.axhline(1.0, color=GREY, linewidth=1.0)
        left.axvline(0.02, color=GREY, linestyle="--", linewidth=1.0, label="$2/n$")
        left.set(xscale="log", yscale="log", xlabel=r"sum of squared weights $\sum_i w_i^2$")
        left.set(ylabel="expected squared error, with ÷ without", title="does resampling help?")
        left.legend(title="sd of transition")
        accurate = chosen(rows, ridge=1e-6, place="uniform")
        names = {"without": "no resampling", "herded": "100 picks", "copied": f"{FEW} picks, copied to 100"}
        for k, (name, label) in enumerate({**names, "once": f"{FEW} picks, not copied"}.items()):
            measured = curve([row for row in accurate if row["transition_sd"] > 0], "transition_sd", name)
            _errorbar(right, measured, label, k)
        right.set(xscale="log", yscale="log", xlabel="standard deviation of the transition (P has 0.1)")
        right.set(ylabel=r"expected squared error on $m_Q$", title=r"accurate $\hat m_P$ with large $\sum_i w_i^2$")
        right.legend()
        return save_figure(figure, folder, "benefit")


def draw_rates(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw the convergence in N for all designs, and in ℓ for targets inside and outside the hull."""
    candidates, picks, hull = (rows_of(results, name) for name in ("candidates", "picks", "hull"))
    with canvas(2, 2, (11.5, 9.2)) as (figure, axes):
        for axis, name, title in zip(
            axes[0],
            ("hull", "herded"),
            ("the point of the hull in the proof, weights ∝ p/q", "herding with many picks"),
            strict=True,
        ):
            for k, design in enumerate(DESIGNS):
                measured = curve(chosen(candidates, design=design), "candidates", name)
                _errorbar(axis, measured, f"{design}{_words(measured)}", k)
            reference = curve(chosen(candidates, design="iid"), "candidates", name)
            line = reference.mean[0] * np.sqrt(reference.x[0] / reference.x)
            axis.plot(reference.x, line, "--", color=GREY, label=r"$N^{-1/2}$")
            axis.set(xlabel="candidates N", ylabel=r"RKHS distance to $m_P$", title=title)
        axes[0, 1].axhline(half_line_distance(), color=GREY, linestyle=":", label="least distance on a half-line")
        left, right = axes[1]
        loss = curve(picks, "picks", "loss")
        _errorbar(left, loss, f"target in the hull{_words(loss)}", 0)
        _errorbar(left, curve(rows_of(results, "floor"), "picks", "error"), "target out of reach: error", 1)
        _errorbar(left, curve(rows_of(results, "floor"), "picks", "floor"), "… its floor, set by few candidates", 2)
        left.plot(loss.x, curve(picks, "picks", "bound").mean, "--", color=GREY, label=r"bound $4(1+\ln\ell)/\ell$")
        left.set(xlabel="picks ℓ", ylabel="squared RKHS loss of herding", title="in the number of picks")
        for k, target in enumerate(TARGETS):
            measured = curve(chosen(hull, target=target), "picks", "excess")
            _errorbar(right, measured, target if target == "cancelling" else f"{target}{_words(measured)}", k)
        sizes = measured.x
        right.plot(sizes, 4 * (1 + np.log(sizes)) / sizes, "--", color=GREY, label=r"bound $4(1+\ln\ell)/\ell$")
        right.set(
            xlabel="picks ℓ", ylabel="squared loss − squared distance from the hull", title="targets of all kinds"
        )
        for axis in axes.flat:
            axis.set(xscale="log", yscale="log")
        axes[0, 1].set_ylim(bottom=1e-7)  # room for the legend below the plateau
        for axis in axes.flat:
            axis.legend(loc="lower left")
        return save_figure(figure, folder, "rates")


def draw_corollaries(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw the errors of Corollaries 1 and 2 over n, for each b."""
    rows = rows_of(results, "corollaries")
    with canvas(1, 2, (11.5, 4.8)) as (figure, (axes,)):
        for axis, name, symbol in zip(axes, ("herded_p", "copied_q"), "PQ", strict=True):
            for k, b in enumerate(sorted({row["b"] for row in rows})):
                measured = curve(chosen(rows, b=b), "n", name)
                goal = b if symbol == "P" else min(b, 0.5)
                _errorbar(axis, measured, f"b = {b:g}{_words(measured)}", k)
                line = measured.mean[-1] * (measured.x / measured.x[-1]) ** -goal
                axis.plot(measured.x, line, "--", color=_COLOURS[k], linewidth=1.0)
            rate = "-b" if symbol == "P" else r"-\min(b, 1/2)"
            axis.set(xscale="log", yscale="log", xlabel=r"n, with $N = \ell = \lceil n^{2b} \rceil$")
            axis.set(ylabel=rf"RKHS error of $\check m_{symbol}$", title=rf"dashed: $n^{{{rate}}}$")
            axis.legend()
        return save_figure(figure, folder, "corollaries")


def draw_consistency(results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw the three distances to the Kalman posterior over n."""
    rows = rows_of(results, "consistency")
    with canvas(1, 1, (6.8, 4.8)) as (figure, axes):
        axis = axes[0, 0]
        for k, (name, words) in enumerate(CONSISTENCY.items()):
            measured = curve(rows, "n", name)
            _errorbar(axis, measured, f"{words}{_words(measured)}", k)
        axis.set(xscale="log", yscale="log", xlabel="number of examples n", ylabel="error (state units, RKHS norm)")
        ends = axis.get_ylim()
        axis.set_xticks(measured.x, [f"{int(n)}" for n in measured.x])
        axis.set_yticks([0.02, 0.05, 0.1, 0.2, 0.5, 1.0], ["0.02", "0.05", "0.1", "0.2", "0.5", "1"])
        axis.minorticks_off()
        axis.set_ylim(0.5 * ends[0], ends[1])
        axis.set_title("model 1a: the filter against the Kalman filter")
        axis.legend(loc="lower left")
        return save_figure(figure, folder, "consistency")


def _errorbar(axis: Any, measured: Curve, label: str, k: int) -> None:
    style = {"color": _COLOURS[k], "marker": _MARKS[k], "markersize": 4, "linewidth": 1.3, "capsize": 2}
    axis.errorbar(measured.x, measured.mean, measured.error, label=label, **style)


def _words(measured: Curve) -> str:
    """Write the slope where the curve falls; nothing if it does not."""
    interval = measured.slope
    if interval.high > -0.05 or not np.isfinite(interval.low):
        return ""
    until = "" if measured.plateau is None else f" up to {measured.x[measured.end - 1]:g}"
    return f": slope {interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]{until}"
