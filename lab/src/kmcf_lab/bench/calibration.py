"""How often intervals contain the truth, and how wide they are: the filter as fitted, calibrated, and other methods.

Ranks are those of simulation-based calibration: where the true state stands among the quantiles of its belief. If
beliefs are right, each of twenty ranks is as frequent as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.baselines import GPParticleFilter, KNNParticleFilter, ParticleFilter
from kmcf.datasets import paper_model
from kmcf.datasets.synthetic import Trajectory
from kmcf.filter import Belief, KernelMonteCarloFilter, SequentialFilter, score_runs
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf_lab.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, canvas, save_figure
from kmcf_lab.quiet import quiet

LENGTH = 200
PARTICLES = 1000
RANKS = 20
LEVELS: FloatArray = np.arange(1, RANKS // 2) / (RANKS // 2)
"""Levels of the central intervals whose bounds, with the median, part the line into twenty ranks."""
OTHERS_AT = 300
"""Number of examples at which the other methods that learn are compared."""
HIGHEST = 4.0
METHODS = ("KMCF", "KMCF, calibrated", "kNN-PF", "GP-PF", "oracle")
COLOURS = dict(zip(METHODS, (ORANGE, BLUE, GREEN, PURPLE, GREY), strict=True))


@dataclass(frozen=True)
class CalibrationCell:
    """One method on one data set."""

    model: str
    n: int
    data_set: int
    method: str
    inside: float
    """Share of true states inside 95 % intervals."""
    width: float
    """Mean width of these, divided by the oracle's."""
    crps: float
    interval_score: float
    rmse: float
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class CalibrationRow:
    """One method over all data sets of a model and a size."""

    model: str
    n: int
    method: str
    data_sets: int
    inside: float
    spread: float
    """Standard deviation of the share over data sets."""
    width: float
    crps: float
    """Divided by the oracle's."""
    interval_score: float
    """Divided by the oracle's."""
    ranks: tuple[int, ...]


def measure_calibration(
    models: Sequence[str],
    sizes: Sequence[int],
    *,
    repetitions: int,
    report: Callable[[str], None] = print,
) -> list[CalibrationCell]:
    """Filter new sequences of the paper's models by every method, untuned, and compare with the true states.

    Where 300 examples are among the sizes, methods other than the filter and the oracle are measured there only.
    """
    cells = []
    for name in models:
        for n in sizes:
            report(f"model {name}, n = {n}")
            chosen = METHODS if n == OTHERS_AT or OTHERS_AT not in sizes else (*METHODS[:2], METHODS[-1])
            for data_set in range(repetitions):
                cells += _data_set(name, n, data_set, chosen)
    return cells


def _data_set(name: str, n: int, data_set: int, methods: Sequence[str]) -> list[CalibrationCell]:
    model = paper_model(name)
    train, test = model.simulate(n, random_state=(data_set, 0)), _test(name, data_set)
    found = {"oracle": _oracle(name, data_set)}
    with quiet():
        for method in [one for one in methods if one in _MAKERS]:
            flt = _MAKERS[method](model.transition, initial=model.initial, random_state=data_set).fit(*train[:2])
            found[method] = _judged(flt, test)
            if method == "KMCF":
                found["KMCF, calibrated"] = _judged(
                    flt.calibrate(*train[:2], controls=train.controls, smooth=False), test
                )
    width = found["oracle"]["width"]
    return [
        CalibrationCell(name, n, data_set, method, **{**found[method], "width": found[method]["width"] / width})
        for method in methods
    ]


_MAKERS: dict[str, Callable[..., SequentialFilter]] = {
    "KMCF": KernelMonteCarloFilter,
    "kNN-PF": partial(KNNParticleFilter, n_particles=PARTICLES),
    "GP-PF": partial(GPParticleFilter, n_particles=PARTICLES),
}


def _test(name: str, data_set: int) -> Trajectory:
    return paper_model(name).simulate(LENGTH, random_state=(data_set, 1))


@lru_cache(maxsize=256)
def _oracle(name: str, data_set: int) -> dict[str, Any]:
    """Judge the filter that knows the observation model; it does not depend on the examples."""
    model = paper_model(name)
    known: dict[str, Any] = {"initial": model.initial, "n_particles": PARTICLES, "random_state": data_set}
    return _judged(ParticleFilter(model.transition, model.log_likelihood, **known).fit(), _test(name, data_set))


def _judged(flt: SequentialFilter, test: Trajectory) -> dict[str, Any]:
    run = flt.filter(test.observations, test.controls, keep_beliefs=True)
    scores = score_runs([run], [test.states])
    ranks, rng = np.zeros(RANKS, dtype=np.intp), np.random.default_rng(0)
    for belief, truth in zip(run.beliefs, test.states, strict=True):
        ranks[rank_of(belief, float(truth[0]), rng)] += 1
    return {
        "inside": scores.inside,
        "width": float(np.mean(run.interval[:, 1] - run.interval[:, 0])),
        "crps": scores.crps,
        "interval_score": scores.interval_score,
        "rmse": scores.rmse,
        "ranks": tuple(int(count) for count in ranks),
    }


def rank_of(belief: Belief, truth: float, rng: np.random.Generator) -> int:
    """Return how many of nineteen quantiles lie below the true state: the bounds of intervals, and the median.

    Model 4 sends states to −3 and 3 exactly; of the ranks that quantiles equal to the truth allow, one is drawn.
    """
    quantiles = np.append(belief.intervals(LEVELS).ravel(), belief.quantile(0.5))
    return int(rng.integers(np.sum(quantiles < truth), np.sum(quantiles <= truth), endpoint=True))


def summarise(cells: Sequence[CalibrationCell]) -> list[CalibrationRow]:
    """Average over data sets; scores are divided by the oracle's mean."""
    rows = []
    for model, n, method in dict.fromkeys((cell.model, cell.n, cell.method) for cell in cells):
        own = [cell for cell in cells if (cell.model, cell.n, cell.method) == (model, n, method)]
        oracle = [cell for cell in cells if (cell.model, cell.n, cell.method) == (model, n, "oracle")]
        inside = np.array([cell.inside for cell in own])
        ratios = {
            name: float(np.mean([getattr(c, name) for c in own]) / np.mean([getattr(c, name) for c in oracle]))
            for name in ("crps", "interval_score")
        }
        ranks: IntArray = np.sum([cell.ranks for cell in own], axis=0)
        rows.append(
            CalibrationRow(
                model,
                n,
                method,
                len(own),
                float(inside.mean()),
                float(inside.std(ddof=1)) if len(own) > 1 else float("nan"),
                float(np.mean([cell.width for cell in own])),
                ranks=tuple(int(count) for count in ranks),
                **ratios,
            )
        )
    return rows


def draw_ranks(rows: Sequence[CalibrationRow], folder: Path) -> list[Path]:
    """Draw the rank histograms, a row of panels for each method and a column for each model.

    They are of the number of examples with which most methods were measured.
    """
    n = max({row.n for row in rows}, key=lambda size: (sum(row.n == size for row in rows), size))
    shown = {(row.method, row.model): row for row in rows if row.n == n}
    methods = [method for method in METHODS if any(method == one for one, _ in shown)]
    models = list(dict.fromkeys(model for _, model in shown))
    size = (1.7 * len(models) + 1.2, 1.35 * len(methods) + 0.6)
    with canvas(len(methods), len(models), size, sharex=True, sharey=True) as (figure, axes):
        for i, method in enumerate(methods):
            for j, model in enumerate(models):
                _histogram(axes[i, j], shown.get((method, model)))
                if i == 0:
                    axes[i, j].set_title(model)
            axes[i, 0].set_ylabel(method.replace(", ", ",\n"), fontsize="small")
        figure.supxlabel(f"rank of the true state among 19 quantiles, n = {n}", fontsize="small")
        return save_figure(figure, folder, "ranks")


def _histogram(axis: Any, row: CalibrationRow | None) -> None:
    """Draw how often each rank occurs, relative to how often it should; more than four times is cut off."""
    axis.set(xticks=[0, RANKS // 2, RANKS], ylim=(0, HIGHEST))
    if row is None:
        return
    share = np.array(row.ranks) / sum(row.ranks) * RANKS
    axis.bar(np.arange(RANKS) + 0.5, np.minimum(share, HIGHEST), width=1.0, color=COLOURS[row.method])
    axis.axhline(1.0, color="black", linewidth=0.7)
