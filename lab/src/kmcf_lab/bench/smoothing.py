"""What smoothing gains over filtering, and how far both are from oracles that know the model.

The paper's models beside forward–backward on a grid, states that leave the examples, the Bluetooth tracks, and the rat
on its track beside Poisson place fields on a grid. Nothing was tuned for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.datasets import ble_tracks, examples, paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf.kernels import Learned
from kmcf.numerics.arrays import FloatArray
from kmcf.transitions import GaussianRandomWalk
from kmcf_lab.bench.smoothing_oracles import OracleRun, model_oracle, spikes_oracle
from kmcf_lab.localize.motion import fitted_motion
from kmcf_lab.localize.spikes import SPIKES_RANDOM_WALK
from kmcf_lab.quiet import quiet

INFLATION = 2.0
"""As for ``kmcf localize ble``: people stop and turn."""
Summary = Callable[[FloatArray], Any]
"""Turns the distances of one sequence into its error."""
FAR, SWING, PERIOD = 2.0, 6.0, 60
"""Examples end at ±2, while the state swings to ±6 and back."""
AWAY = (("1a", "examples"), ("2a", "examples"), ("1a", "particles"), ("2a", "particles"))
"""Models, and where the posterior lives."""
BLOCKS = 10
"""One long sequence is divided into so many, whose medians differ by chance."""


@dataclass(frozen=True)
class SmoothingRow:
    """Errors on one problem, averaged over its sequences."""

    problem: str
    sequences: int
    filtered: float
    smoothed: float
    difference: float
    """Smoothed less filtered."""
    standard_error: float
    """Of the difference, over sequences (or blocks of the only one)."""
    oracle_filtered: float
    oracle_smoothed: float
    """NaN where no model is known."""
    cost: float
    """Time for smoothing, filtering included, over that of filtering."""
    unsmoothed: float = 0.0
    """Share of the steps that were left as the filter had them."""

    @property
    def gain(self) -> float:
        """By what share smoothing lowers the error."""
        return 1.0 - self.smoothed / self.filtered


class Case(NamedTuple):
    """A fitted filter, a sequence, its true states, and the oracle's estimates."""

    flt: Any
    observations: FloatArray
    controls: FloatArray | None
    truth: FloatArray
    oracle: OracleRun | None


def measure_smoothing(
    models: Sequence[str], n: int, *, steps: int, repetitions: int, tracks: int, spikes: bool = True, away: bool = False
) -> Iterator[SmoothingRow]:
    """Yield a row per problem: the paper's models, states that leave the examples, Bluetooth tracks, and the rat."""
    problems: dict[str, tuple[Iterator[Case], Summary]] = {
        name: (model_cases(name, n, steps, repetitions), root_mean_square) for name in models
    }
    for name, support in AWAY if away else ():
        problems[f"{name}, away, on {support}"] = away_cases(name, support, n, steps, repetitions), root_mean_square
    if tracks:
        problems["BLE tracks"] = ble_cases(tracks), np.mean
    if spikes:
        problems["linear track"] = spikes_cases(), np.median
    with threadpool_limits(limits=1), quiet():
        for problem, (cases, summary) in problems.items():
            yield _row(problem, cases, summary)


def model_cases(name: str, n: int, steps: int, repetitions: int) -> Iterator[Case]:
    """Yield fresh data of one of the paper's models."""
    model = paper_model(name)
    for seed in range(repetitions):
        train, test = (model.simulate(size, random_state=(seed, part)) for part, size in ((10, n), (11, steps)))
        flt = KernelMonteCarloFilter(model.transition, model.initial, random_state=seed, tolerance="auto")
        flt.fit(train.states, train.observations)
        oracle = model_oracle(model, test.observations, test.controls)
        yield Case(flt, test.observations, test.controls, test.states, oracle)


def away_cases(name: str, support: str, n: int, steps: int, repetitions: int) -> Iterator[Case]:
    """Yield examples of a model near zero, and states that swing far beyond them."""
    model = paper_model(name)
    for seed in range(repetitions):
        rng = np.random.default_rng((seed, 12))
        states = rng.uniform(-FAR, FAR, size=(n, 1))
        phase = 2.0 * np.pi * (np.arange(steps) / PERIOD + rng.random())
        truth = (SWING * np.sin(phase) + 0.3 * rng.normal(size=steps))[:, None]
        flt = KernelMonteCarloFilter(
            model.transition, model.initial, support=support, random_state=seed, tolerance="auto"
        )
        flt.fit(states, model.observe(states, rng))
        yield Case(flt, model.observe(truth, rng), None, truth, None)


def ble_cases(tracks: int) -> Iterator[Case]:
    """Yield Bluetooth tracks, each with examples from all others."""
    recordings = ble_tracks()
    for track in recordings[:tracks]:
        others = [other for other in recordings if other is not track]
        walk = GaussianRandomWalk(INFLATION * np.asarray(GaussianRandomWalk().fit(others).scale_))
        flt = KernelMonteCarloFilter(walk, observation_kernel=Learned(), random_state=0, tolerance="auto")
        yield Case(flt.fit(*examples(others)), track.observations, None, track.states, None)


def spikes_cases() -> Iterator[Case]:
    """Yield the rat's later running, earlier as examples, settings as for ``kmcf localize spikes-random-walk``."""
    problem = SPIKES_RANDOM_WALK
    settings = problem.settings
    (fold,) = problem.split(problem.load(None, **settings.load), **settings.split)
    motion = fitted_motion(settings, fold)
    flt = KernelMonteCarloFilter(motion, state_kernel=settings.state_kernel, random_state=0, **settings.kmcf)
    scale = np.asarray(motion.parameters()["scale"])
    oracle = spikes_oracle(fold.states, fold.observations, fold.test.observations, scale)
    flt.fit(fold.states, fold.observations)
    yield Case(flt, fold.test.observations, None, fold.test.states, oracle)


def root_mean_square(distances: FloatArray) -> Any:
    """Return √(mean d²)."""
    return np.sqrt(np.mean(distances**2))


def _row(problem: str, cases: Iterator[Case], summary: Summary) -> SmoothingRow:
    errors, differences, times, kept = [], [], [], []
    for case in cases:
        start = time.process_time()
        case.flt.filter(case.observations, case.controls)
        middle = time.process_time()
        run = case.flt.smooth(case.observations, case.controls)
        times.append((middle - start, time.process_time() - middle))
        nothing = np.full_like(case.truth, np.nan)
        oracle = OracleRun(nothing, nothing) if case.oracle is None else case.oracle
        means = (run.filtered.mean, run.mean, oracle.filtered, oracle.smoothed)
        distances = [np.linalg.norm(mean - case.truth, axis=1) for mean in means]
        errors.append([float(summary(each)) for each in distances])
        differences.append([distances[1], distances[0]])
        kept.append(float(run.unsmoothed.mean()))
    one = len(errors) == 1
    parts = [np.array_split(d, BLOCKS) for d in differences[0]] if one else list(zip(*differences, strict=True))
    apart = np.array([float(summary(after) - summary(before)) for after, before in zip(*parts, strict=True)])
    filtering, smoothing = np.sum(times, axis=0)
    mean = np.mean(errors, axis=0)
    return SmoothingRow(
        problem,
        len(errors),
        filtered=float(mean[0]),
        smoothed=float(mean[1]),
        difference=float(mean[1] - mean[0]),
        standard_error=float(apart.std(ddof=1) / np.sqrt(len(apart))),
        oracle_filtered=float(mean[2]),
        oracle_smoothed=float(mean[3]),
        cost=float(smoothing / filtering),
        unsmoothed=float(np.mean(kept)),
    )


def geometric_means(rows: Sequence[SmoothingRow]) -> tuple[float, float]:
    """Return the geometric means of error ÷ oracle, filtered and smoothed, over the rows that have an oracle.

    Examples
    --------
    >>> row = SmoothingRow("1a", 2, 0.9, 0.8, -0.1, 0.01, 0.6, 0.4, 2.0)
    >>> geometric_means([row])
    (1.5, 2.0)
    """
    known = [row for row in rows if np.isfinite(row.oracle_smoothed)]
    filtered = np.log([row.filtered / row.oracle_filtered for row in known])
    smoothed = np.log([row.smoothed / row.oracle_smoothed for row in known])
    return float(np.exp(filtered.mean())), float(np.exp(smoothed.mean()))
