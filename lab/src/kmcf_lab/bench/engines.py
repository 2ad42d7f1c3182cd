"""Time per step of every engine, interleaved on one thread, and how much their answers differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.baselines import KNNParticleFilter
from kmcf.datasets import StateSpaceModel, Trajectory, paper_model
from kmcf.filter import Belief, KernelMonteCarloFilter, SequentialFilter
from kmcf.kernels import Kernel, Learned
from kmcf.kernels.defaults import default_observation_kernel
from kmcf.numerics.arrays import FloatArray
from kmcf_lab.quiet import quiet

EPSILON, DELTA = 1e-3, 1e-4
PARTICLES = 1000
KNN = "kNN-PF, 5000 particles"
WARM_UP = 3
ENGINE_VARIANTS: dict[str, dict[str, Any]] = {
    "literal": {"engine": "literal"},
    "exact": {"engine": "exact"},
    "lowrank": {"engine": "lowrank"},
    "compressed": {"engine": "compressed"},
    "auto": {"engine": "auto"},
    "auto, tolerance auto": {"engine": "auto", "tolerance": "auto"},
    "subsample of 100": {"engine": "auto", "n_examples": 100},
}
CURVE_VARIANTS: dict[str, dict[str, Any]] = {
    "literal": {"engine": "literal"},
    **{f"tolerance {tolerance:g}": {"tolerance": tolerance} for tolerance in (1e-8, 1e-4, 1e-3, 1e-2)},
    "tolerance auto": {"tolerance": "auto"},
    **{f"rank {rank} of observations": {"rank": (None, rank)} for rank in (10, 20, 50, 100, 200, 400)},
}
CUBIC = ("literal", "exact")
LARGEST_CUBIC, LARGEST_QUADRATIC = 2000, 20_000


@dataclass(frozen=True)
class EngineRow:
    """One engine on one model with n examples."""

    model: str
    n: int
    method: str
    engine: str
    ranks: tuple[int, int] | None
    milliseconds: float
    """Median time per step."""
    speed_up: float
    """Literal's time over this one's; NaN where literal was not run."""
    median_difference: float
    """Median over steps of |posterior mean − literal's|, given the literal run's particles."""
    largest_difference: float
    difference_in_sd: float
    """The median difference in units of the posterior standard deviation."""
    agreement: float
    """Share of the steps of a free run before the first herded point that differs from literal's."""
    shares: dict[str, float]
    """Shares of the step spent in kernel evaluation, solving, herding, the transition and the rest."""


def measure_engines(
    models: Sequence[str],
    sizes: Sequence[int],
    *,
    steps: int,
    variants: dict[str, dict[str, Any]] | None = None,
    learnt: bool = False,
    seed: int = 0,
    report: Callable[[str], None] = print,
) -> list[EngineRow]:
    """Measure every engine that is feasible at each size.

    Parameters
    ----------
    models : sequence of str
        Names of the paper's models.
    sizes : sequence of int
        Numbers of examples n.
    steps : int
        Steps measured per size.
    variants : dict, optional
        Settings of the filter by name; None: the engines.
    learnt : bool
        Use a learnt observation kernel instead of the plain one.
    seed : int
        Makes data and draws repeatable.
    report : callable
        Called with what is being measured.
    """
    rows: list[EngineRow] = []
    with threadpool_limits(limits=1):
        for name in models:
            for n in sizes:
                report(f"model {name}, n = {n}")
                chosen = ENGINE_VARIANTS if variants is None else variants
                rows += _measure(paper_model(name), n, steps, chosen, seed, learnt=learnt)
    return rows


def _measure(
    model: StateSpaceModel, n: int, steps: int, variants: dict[str, dict[str, Any]], seed: int, *, learnt: bool
) -> list[EngineRow]:
    train, test = model.simulate(n, random_state=(seed, 0)), model.simulate(steps + WARM_UP, random_state=(seed, 1))
    kernel = Learned() if learnt else default_observation_kernel(train.observations)
    kernel.fit(train.observations, train.states)
    filters = {
        name: _fitted(model, train, kernel, settings, seed) for name, settings in variants.items() if _feasible(name, n)
    }
    times = _interleaved(filters, model, train, test, seed)
    differences = _differences(filters, test)
    medians = {name: float(np.median(values[WARM_UP:])) for name, values in times.items()}
    rows = []
    for name, milliseconds in medians.items():
        flt = filters.get(name)
        gap, sd, agreement = differences.get(name, (np.array([np.nan]), np.nan, np.nan))
        rows.append(
            EngineRow(
                model.name,
                n,
                name,
                "-" if flt is None else flt.engine_,
                None if flt is None else flt.ranks_,
                milliseconds,
                medians.get("literal", np.nan) / milliseconds,
                float(np.median(gap)),
                float(np.max(gap)),
                float(np.median(gap) / sd),
                agreement,
                {} if flt is None else _shares(flt, test),
            )
        )
    return rows


def _feasible(name: str, n: int) -> bool:
    if name in CUBIC:
        return n <= LARGEST_CUBIC
    return n <= LARGEST_QUADRATIC or not name.startswith("subsample")


def _fitted(
    model: StateSpaceModel, train: Trajectory, kernel: Kernel, settings: dict[str, Any], seed: int
) -> KernelMonteCarloFilter:
    flt = KernelMonteCarloFilter(
        model.transition,
        initial=model.initial,
        observation_kernel=kernel,
        epsilon=EPSILON,
        delta=DELTA,
        n_particles=PARTICLES,
        random_state=seed,
        **settings,
    )
    with quiet():
        return flt.fit(train.states, train.observations)


def _interleaved(
    filters: dict[str, KernelMonteCarloFilter], model: StateSpaceModel, train: Trajectory, test: Trajectory, seed: int
) -> dict[str, list[float]]:
    """Return milliseconds per step, posterior mean included; every method makes step t before any makes step t + 1."""
    neighbours = KNNParticleFilter(model.transition, model.initial, n_particles=5000, random_state=seed)
    stepped: dict[str, SequentialFilter] = {**filters, KNN: neighbours.fit(train.states, train.observations)}
    times: dict[str, list[float]] = {name: [] for name in stepped}
    beliefs = {name: flt.start() for name, flt in stepped.items()}
    for t, y in enumerate(test.observations):
        control = _control(test, t)
        for name, flt in stepped.items():
            began = perf_counter()
            beliefs[name] = flt.step(beliefs[name], y, control)
            beliefs[name].mean()
            times[name].append(1000.0 * (perf_counter() - began))
    return times


def _differences(
    filters: dict[str, KernelMonteCarloFilter], test: Trajectory
) -> dict[str, tuple[FloatArray, float, float]]:
    """Compare with literal: posterior means given its particles, and herded points in free runs.

    A step from literal's belief moves the same points with the same random numbers in every filter, so that all correct
    the same particles.
    """
    if "literal" not in filters:
        return {}
    literal = filters["literal"]
    belief = literal.start()
    free = {name: flt.start() for name, flt in filters.items()}
    gaps: dict[str, list[float]] = {name: [] for name in filters}
    same: dict[str, list[bool]] = {name: [] for name in filters}
    variances: list[float] = []
    for t, y in enumerate(test.observations):
        control = _control(test, t)
        before, belief = belief, literal.step(belief, y, control)
        variances.append(float(belief.covariance()[0, 0]))
        for name, flt in filters.items():
            gaps[name].append(float(np.abs(flt.step(before, y, control).mean() - belief.mean())[0]))
            free[name] = flt.step(free[name], y, control)
            same[name].append(_same_herded(free[name], belief))
    sd = float(np.sqrt(np.median([v for v in variances if v > 0])))
    return {name: (np.array(gaps[name]), sd, _share_before_first_false(same[name])) for name in filters}


def _same_herded(a: Belief, b: Belief) -> bool:
    if a.resampled is None or b.resampled is None:
        return a.resampled is b.resampled
    return bool(np.array_equal(a.states[a.resampled], b.states[b.resampled]))


def _share_before_first_false(flags: Iterable[bool]) -> float:
    values = list(flags)
    return (values.index(False) if False in values else len(values)) / len(values)


def _shares(flt: KernelMonteCarloFilter, test: Trajectory) -> dict[str, float]:
    """Time the parts of a step by wrapping them, over the whole test sequence."""
    spent = dict.fromkeys(("kernel", "correct", "herding", "transition"), 0.0)

    def timed(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            began = perf_counter()
            result = function(*arguments)
            spent[part] += perf_counter() - began
            return result

        return wrapped

    transition = flt.transition
    wrapped: list[tuple[Any, str, str]] = [
        (flt.state_kernel_, "evaluate", "kernel"),
        (flt.observation_kernel_, "evaluate", "kernel"),
        (flt.rule_, "correct", "correct"),
        (flt.rule_, "herd", "herding"),
    ]
    for owner, method, part in wrapped:
        object.__setattr__(owner, method, timed(part, getattr(owner, method)))  # rules do not change otherwise
    try:
        flt.transition = timed("transition", transition)
        began = perf_counter()
        belief = flt.start()
        for t, y in enumerate(test.observations):
            belief = flt.step(belief, y, _control(test, t))
        total = perf_counter() - began
    finally:
        flt.transition = transition
        for owner, method, _ in wrapped:
            object.__delattr__(owner, method)
    spent["solve"] = spent.pop("correct") - spent["kernel"]
    spent["rest"] = total - sum(spent.values())
    return {part: seconds / total for part, seconds in spent.items()}


def _control(test: Trajectory, t: int) -> Any:
    return None if test.controls is None else test.controls[t]
