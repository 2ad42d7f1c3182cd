"""Draw the pictures of docs/diagnosing.md and write its table: six ways in which a filter fails, beside one that works.

    python docs/figures/failures.py

A person walks through a made-up room with six radio receivers. Everything is simulated from fixed seeds.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import kmcf
from kmcf.filter import score_runs
from kmcf.kernels import Gaussian
from kmcf.transitions import GaussianRandomWalk

DOCS = Path(__file__).parent.parent
CORNERS = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 6.0], [0.0, 6.0], [5.0, 0.0], [5.0, 6.0]])
WALL = np.array([[0.0, 3.0], [3.0, 3.0], [6.0, 3.0], [10.0, 3.0]])
STEP = 0.5
NOISE = 3.0
LOOK = 30
Array = NDArray[np.float64]


def strengths(places: Array, receivers: Array, rng: np.random.Generator) -> Array:
    """Return what receivers hear from transmitters at some places, in dB."""
    distance = np.linalg.norm(places[:, None] - receivers, axis=2)
    return -40.0 - 20.0 * np.log10(np.maximum(distance, 0.5)) + NOISE * rng.normal(size=distance.shape)


def walk(steps: int = 120) -> Array:
    """Return a walk once around the room, a little off the wall."""
    turn = np.linspace(0.0, 2.0 * np.pi, steps, endpoint=False)
    return np.column_stack([5.0 - 3.6 * np.cos(turn), 3.0 - 1.9 * np.sin(turn)])


@dataclass(frozen=True)
class Case:
    """One way to fail: what differs from the good filter."""

    name: str
    title: str
    n: int = 600
    keep: Callable[[Array], Any] = lambda places: np.full(len(places), True)
    receivers: Array = field(default_factory=lambda: CORNERS)
    scale: float = STEP
    kernel: Any = field(default_factory=Gaussian)
    shown: str = "ess"
    """What of the run is drawn beside the map; "": no picture."""
    spoil: Callable[[Array], Array] = lambda seen: seen


def moved_receivers(seen: Array) -> Array:
    """Return observations of which two receivers are 12 dB off in the second half."""
    spoilt = seen.copy()
    spoilt[len(seen) // 2 :, :2] += 12.0
    return spoilt


CASES = [
    Case("good", "a filter that works"),
    Case("uncovered", "no examples in a part of the room", keep=lambda p: p[:, 0] < 6.0),
    Case("changed-sensor", "two receivers 12 dB off from step 60", shown="observation_distance", spoil=moved_receivers),
    Case("slow-motion", "motion noise 0.05 m instead of 0.5 m", scale=STEP / 10.0, shown=""),
    Case("wild-motion", "motion noise 5 m instead of 0.5 m", scale=STEP * 10.0, shown="prediction_score"),
    Case("narrow-kernel", "observation kernel 2 dB wide", kernel=Gaussian(2.0), shown="observation_coverage"),
    Case("ambiguous", "receivers on one line: two places look alike", receivers=WALL, shown="belief"),
    Case("few-examples", "12 examples", n=12),
]


def filtered(case: Case) -> tuple[Any, Any, Array]:
    """Fit and run the filter of a case; return it, its run and the true walk."""
    rng = np.random.default_rng(0)
    places = rng.uniform([0.0, 0.0], [10.0, 6.0], size=(case.n, 2))
    places = places[case.keep(places)]
    truth = walk()
    flt = kmcf.KernelMonteCarloFilter(
        GaussianRandomWalk(case.scale), observation_kernel=case.kernel, random_state=0
    ).fit(places, strengths(places, case.receivers, rng))
    seen = case.spoil(strengths(truth, case.receivers, np.random.default_rng(1)))
    return flt, flt.filter(seen), truth


def drawn_belief(axes: Any, belief: Any, place: Array) -> None:
    """Draw the examples that carry a belief, larger the more they weigh, and where the person is."""
    axes.scatter(*belief.states.T, s=3000 * np.maximum(belief.weights, 0.0), alpha=0.4, label="weights")
    axes.plot(*place, "k*", ms=12, label="truth")
    axes.plot(*belief.mean(), "rx", ms=9, label="mean")
    axes.set(xlim=(-0.3, 10.3), ylim=(-0.3, 6.3), aspect="equal", title=f"the belief at step {LOOK + 1}")
    axes.legend(fontsize=7, loc="upper left", labelspacing=0.8)


def drawn_strip(axes: Any, case: Case, run: Any, usual: Any) -> None:
    """Draw the number that tells, beside that of the good filter."""
    steps = np.arange(1, len(run.mean) + 1)
    if case.name != "good":
        axes.plot(steps, getattr(usual, case.shown), color="0.65", lw=1.2, label="good filter")
    axes.plot(steps, getattr(run, case.shown), color="tab:blue", lw=1.2, label="this filter")
    if case.shown == "ess":
        axes.set(yscale="log")
    axes.set(title=f"run.{case.shown}", xlabel="step")
    axes.legend(fontsize=7)


def drawn(case: Case, flt: Any, run: Any, truth: Array, usual: Any) -> None:
    """Draw the map with truth, estimate and alarms, and beside it the number that tells."""
    figure, (room, strip) = plt.subplots(1, 2, figsize=(9.0, 3.2), width_ratios=[1.3, 1.0], layout="constrained")
    room.scatter(*flt.states_.T, s=6, color="0.75", label="examples")
    room.plot(*truth.T, color="black", lw=1, label="truth")
    room.plot(*run.mean.T, color="tab:blue", lw=1.2, marker=".", ms=3, label="estimate")
    room.scatter(*run.mean[run.alarm].T, s=22, facecolors="none", edgecolors="tab:red", label="alarm", zorder=3)
    room.set(xlim=(-0.3, 10.3), ylim=(-0.3, 6.3), aspect="equal", title=case.title, xlabel="x in m", ylabel="y in m")
    figure.legend(*room.get_legend_handles_labels(), fontsize=8, loc="outside lower left", ncols=4)
    if case.shown == "belief":
        drawn_belief(strip, run[LOOK], truth[LOOK])
    else:
        drawn_strip(strip, case, run, usual)
    figure.savefig(DOCS / "images" / "diagnosing" / f"{case.name}.png", dpi=80)
    plt.close(figure)


def row(case: Case, run: Any, truth: Array) -> str:
    """Return what the diagnostics say about a run, as a row of the page's table."""
    scores = score_runs([run], [truth])
    reasons = sorted({str(reason) for reason in run.alarm_reason if reason})
    numbers = (
        f"{scores.mean_error:.2f} m", f"{100 * scores.inside:.0f} %", f"{np.median(run.ess):.0f}",
        f"{np.median(run.coverage):.2f}", f"{np.mean(run.prediction_score):.3f}", f"{int(run.rejected.sum())}",
        f"{int(run.alarm.sum())}" + (f" ({', '.join(reasons)})" if reasons else ""),
    )  # fmt: skip
    return f"| {case.title} | " + " | ".join(numbers) + " |"


def main() -> None:
    """Draw all pictures and put the table into the page."""
    results = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the page describes: rejected steps, few examples
        for case in CASES:
            results[case.name] = filtered(case)
            flt, run, truth = results[case.name]
            if case.shown:
                drawn(case, flt, run, truth, results["good"][1])
    head = (
        "| | mean error | inside 95 % | ess | coverage | score | rejected | alarms in 120 steps |\n"
        + "|---" * 8
        + "|\n"
    )
    table = head + "\n".join(row(case, *results[case.name][1:]) for case in CASES)
    print(table)
    page = DOCS / "diagnosing.md"
    text = re.sub(
        r"(?s)<!-- failures -->.*?<!-- end -->", f"<!-- failures -->\n{table}\n<!-- end -->", page.read_text()
    )
    page.write_text(text)


if __name__ == "__main__":
    main()
