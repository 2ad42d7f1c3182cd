"""Fitting very many examples: peak memory, and time compared with the matrix products that cannot be avoided."""

from __future__ import annotations

import multiprocessing
import resource
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.bayes_rule import CompressedRule
from kmcf.bayes_rule.tensors import Tensors
from kmcf.datasets import paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf_lab.bench.engines import DELTA, EPSILON, PARTICLES


@dataclass(frozen=True)
class FitRow:
    """What fitting n examples took."""

    n: int
    ranks: tuple[int, int]
    seconds: float
    products_seconds: float
    """Time of the tensors' matrix products alone, on the same features."""
    peak_gigabytes: float
    """Largest resident memory of the whole process, data and interpreter included."""
    milliseconds_per_step: float


def measure_fit(n: int, seed: int = 0) -> FitRow:
    """Fit n examples of model 1a in a separate process, so that the peak memory is that of the fit."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return FitRow(**pool.apply(_measure, (n, seed)))


def _measure(n: int, seed: int) -> dict[str, Any]:
    model = paper_model("1a")
    rng = np.random.default_rng(seed)
    states = model.initial(n, rng)
    observations = model.observe(states, rng)
    with threadpool_limits(limits=1):
        flt = KernelMonteCarloFilter(
            model.transition,
            initial=model.initial,
            engine="compressed",
            epsilon=EPSILON,
            delta=DELTA,
            n_particles=PARTICLES,
            random_state=seed,
        )
        began = perf_counter()
        flt.fit(states, observations)
        seconds = perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rule = flt.rule_
        assert isinstance(rule, CompressedRule)
        values = rule.declared.values(states)
        began = perf_counter()
        Tensors.of(rule.states.rows, rule.observations.rows, values, squares=rule.tensors.squares is not None)
        products = perf_counter() - began
        test = model.simulate(50, random_state=(seed, 1))
        belief = flt.start()
        times = []
        for y in test.observations:
            began = perf_counter()
            belief = flt.step(belief, y)
            belief.mean()
            times.append(perf_counter() - began)
    return {
        "n": n,
        "ranks": flt.ranks_,
        "seconds": seconds,
        "products_seconds": products,
        "peak_gigabytes": peak,
        "milliseconds_per_step": 1000.0 * float(np.median(times)),
    }
