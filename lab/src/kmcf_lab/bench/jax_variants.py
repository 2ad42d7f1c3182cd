"""Steps per second on JAX arrays of what is not the paper's filter: the posterior on particles, and smoothing."""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its functions without types.

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from kmcf.datasets import paper_model
from kmcf.filter import ParticleLikelihoodFilter
from kmcf_lab.bench import jax as study
from kmcf_lab.quiet import quiet

NUMPY_STEPS = 20
PARTICLES, SMOOTHING = "posterior on particles", "smoothing"


@dataclass(frozen=True)
class VariantRow:
    """Speed through the public methods, for one number of examples and batch size."""

    what: str
    """"posterior on particles": ``ParticleLikelihoodFilter.filter``; "smoothing": ``flt.smooth``, both ways."""
    n: int
    particles: int
    dtype: str
    batch: int
    steps: int
    first_seconds: float
    """Of the first call, in which it is compiled."""
    later_seconds: float
    """The fastest of three later calls, until the means are on the host."""
    steps_per_second: float
    """Of all sequences together."""
    numpy_steps_per_second: float
    """One sequence after the other, with NumPy."""


def measure_variants(
    sizes: Sequence[int],
    batches: Sequence[int],
    *,
    steps: int = 50,
    dtype: str = "float64",
    report: Callable[[str], object] = print,
) -> list[VariantRow]:
    """Measure both for several numbers of examples and batch sizes."""
    rows = []
    for n in sizes:
        for what, call in CALLS.items():
            host = call(n, None, study.batch_of_observations(1, min(steps, NUMPY_STEPS)))
            rate = min(steps, NUMPY_STEPS) / study.fastest(host, 2)
            for batch in batches:
                device = call(n, dtype, jnp.asarray(study.batch_of_observations(batch, steps), dtype))
                begin = time.perf_counter()
                device()
                first = time.perf_counter() - begin
                later = study.fastest(device, 3)
                row = VariantRow(
                    what, n, study.PARTICLES, dtype, batch, steps, first, later, batch * steps / later, rate
                )
                report(
                    f"{what}, n = {n}, batch {batch}: {row.steps_per_second:,.0f} steps/s (NumPy {rate:,.0f}); the "
                    f"first call took {first:.1f} s, a later one {later:.2f} s"
                )
                rows.append(row)
    return rows


def _on_particles(n: int, dtype: str | None, observations: Any) -> Callable[[], Any]:
    """Return a call that filters a batch on particles, to the means."""
    model = paper_model("1a")
    train = model.simulate(n, random_state=(0, n))
    flt = ParticleLikelihoodFilter(model.transition, model.initial, n_particles=study.PARTICLES, random_state=0)
    examples = [train.states, train.observations]
    flt.fit(*(part if dtype is None else jnp.asarray(part, dtype) for part in examples))

    def call() -> Any:
        with quiet():
            return flt.filter(observations).mean

    return call


def _smoothed(n: int, dtype: str | None, observations: Any) -> Callable[[], Any]:
    """Return a call that smooths a batch, to the means."""
    flt = study.fitted(n, dtype)

    def call() -> Any:
        with quiet():
            return flt.smooth(observations).mean

    return call


CALLS: dict[str, Callable[[int, str | None, Any], Callable[[], Any]]] = {
    PARTICLES: _on_particles,
    SMOOTHING: _smoothed,
}
