"""A world far larger than what the state kernel sees: an example per square metre, and one object that walks."""

from __future__ import annotations

import multiprocessing
import resource
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.filter import KernelMonteCarloFilter
from kmcf.kernels import Gaussian
from kmcf.numerics.arrays import FloatArray

STATE_WIDTH, OBSERVATION_WIDTH = 2.0, 0.5
"""Of the kernels: metres, and units of the signals."""
PRIOR_SHRINKAGE, DELTA = 10.0, 1e-5
"""nε, to be compared with the 25 examples that the state kernel weighs in; and δ."""
PARTICLES, SIGNALS, NOISE, STRIDE = 300, 8, 0.1, 1.0
SETTLED = 10
"""Errors count from this step on, so that an unknown start does not."""


@dataclass(frozen=True)
class WorldRow:
    """What following an object among n examples took. Times are of the processor, on one thread."""

    n: int
    start: str
    """"known" to within a few metres, or anywhere ("unknown")."""
    engine: str
    fit_seconds: float
    first_milliseconds: float
    """The first step, which must look further where the start is unknown."""
    milliseconds_per_step: float
    """Median of the later steps."""
    solved_for: float
    """Examples that carry a posterior, on average."""
    error: float
    """Mean error in metres."""
    peak_gigabytes: float
    """Largest resident memory of the whole process, data and interpreter included."""


def measure_world(n: int, steps: int = 100, seed: int = 0) -> list[WorldRow]:
    """Follow an object from a known and from an unknown start, in a process of its own for the peak memory."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return [WorldRow(**pool.apply(_measure, (n, steps, seed, start))) for start in ("known", "unknown")]


def _measure(n: int, steps: int, seed: int, start: str) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    side = float(np.sqrt(n))
    frequencies, phases = 0.15 * rng.normal(size=(2, SIGNALS)), rng.uniform(0, 2 * np.pi, size=SIGNALS)

    def observe(states: FloatArray) -> FloatArray:
        return np.sin(states @ frequencies + phases) + NOISE * rng.normal(size=(len(states), SIGNALS))

    def around_the_start(size: int, rng: np.random.Generator) -> FloatArray:
        return side / 2 + 3.0 * rng.normal(size=(size, 2))

    states = rng.uniform(0, side, size=(n, 2))
    observations = observe(states)
    path = np.clip(side / 2 + np.cumsum(STRIDE * rng.normal(size=(steps, 2)), axis=0), 0, side)
    seen = observe(path)
    with threadpool_limits(limits=1):
        flt = KernelMonteCarloFilter(
            _walk,
            initial=around_the_start if start == "known" else None,
            state_kernel=Gaussian(STATE_WIDTH),
            observation_kernel=Gaussian(OBSERVATION_WIDTH),
            epsilon=PRIOR_SHRINKAGE / n,
            delta=DELTA,
            tolerance="auto",
            n_particles=PARTICLES,
            random_state=seed,
        )
        began = process_time()
        flt.fit(states, observations)
        fit_seconds = process_time() - began
        belief, times, means, sizes = flt.start(), [], [], []
        for y in seen:
            began = process_time()
            belief = flt.step(belief, y)
            means.append(belief.mean())
            times.append(1000.0 * (process_time() - began))
            sizes.append(len(belief.states))
    errors = np.linalg.norm(np.array(means) - path, axis=1)
    return {
        "n": n,
        "start": start,
        "engine": flt.engine_,
        "fit_seconds": fit_seconds,
        "first_milliseconds": times[0],
        "milliseconds_per_step": float(np.median(times[1:])),
        "solved_for": float(np.mean(sizes[1:])),
        "error": float(errors[min(SETTLED, steps - 1) :].mean()),
        "peak_gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def _walk(states: FloatArray, _control: Any, rng: np.random.Generator) -> FloatArray:
    return states + STRIDE * rng.normal(size=states.shape)
