"""Filter steps per second on JAX arrays over batch sizes, compared with NumPy, and the price of single precision."""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its functions without types.

from __future__ import annotations

import datetime
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kmcf._version import __version__
from kmcf.bayes_rule.core import CompressedCore, herd_features
from kmcf.compiled.algebra import DeviceAlgebra, algebra_for
from kmcf.compiled.engine import CompiledFilter
from kmcf.compiled.on_examples import similarities_of_mean
from kmcf.compiled.step import predict
from kmcf.datasets import paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf.filter.clock import Drive
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import rmse

PARTICLES, PICKS = 1024, 64


@dataclass(frozen=True)
class JaxRow:
    """Speed for one number of examples, precision and batch size."""

    n: int
    ranks: tuple[int, int]
    dtype: str
    batch: int
    algebra: str
    compile_seconds: float
    steps_per_second: float
    """Filter steps of all sequences together, compiled loop only; the fastest of the repetitions."""
    milliseconds_per_step: float
    """Of the whole batch; for a batch of one the latency of a filter."""
    through_filter: float
    """Filter steps per second of ``flt.filter(...).mean``: reading the input, the loop, the means on the host."""
    numpy_steps_per_second: float
    """One filter after the other, with NumPy."""


@dataclass(frozen=True)
class PrecisionRow:
    """What single precision costs, given the same particles at every step."""

    n: int
    median_difference: float
    """Of posterior means, in posterior standard deviations."""
    largest_difference: float
    error_double: float
    """Root mean squared error of free runs."""
    error_single: float


@dataclass(frozen=True)
class FirstRow:
    """The first call of a filter with default settings, in which it is compiled, and a later one."""

    n: int
    ranks: tuple[int, int]
    particles: int
    batch: int
    first_seconds: float
    later_seconds: float


@dataclass(frozen=True)
class PartRow:
    """Time of one part of a step, for a whole batch."""

    part: str
    batch: int
    milliseconds: float


def environment(command: str) -> dict[str, Any]:
    """Return what was measured, on which device, with which versions."""
    return {
        "command": command,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "device": jax.devices()[0].device_kind,
        "devices": len(jax.devices()),
        "platform": jax.devices()[0].platform,
        "host": platform.processor() or platform.machine(),
        "versions": {
            "kmcf": __version__,
            "jax": jax.__version__,
            "jaxlib": version("jaxlib"),
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "particles": PARTICLES,
        "picks": PICKS,
        "model": "1a",
    }


def measure_speed(
    sizes: Sequence[int],
    batches: Sequence[int],
    *,
    steps: int = 50,
    dtypes: Sequence[str] = ("float64", "float32"),
    report: Callable[[str], object] = print,
) -> list[JaxRow]:
    """Measure the compiled loop for several numbers of examples, batch sizes and precisions."""
    rows = []
    for n in sizes:
        rate = _numpy_rate(n, min(steps, 30))
        for dtype in dtypes:
            flt = fitted(n, dtype)
            for batch in batches:
                row = _measure_one(flt, n, dtype, batch, steps, rate)
                report(
                    f"n = {n}, {dtype}, batch {batch}: {row.steps_per_second:,.0f} filter steps/s "
                    f"({row.milliseconds_per_step:.3f} ms per step of all; compiled in {row.compile_seconds:.1f} s)"
                )
                rows.append(row)
    return rows


def measure_algebras(
    n: int, batches: Sequence[int], *, steps: int = 50, report: Callable[[str], object] = print
) -> list[JaxRow]:
    """Measure every implementation of herding that the platform has, in double precision."""
    kinds = ("plain", "fused") if algebra_for(jax.devices()[0].platform).loop == "fused" else ("plain",)
    flt = fitted(n, "float64")
    rows = []
    for loop in kinds:
        engine = compiled(flt).with_algebra(DeviceAlgebra(loop))
        for batch in batches:
            seconds, per_call = _time_engine(engine, batch, steps)
            rows.append(
                JaxRow(
                    n, flt.ranks_, "float64", batch, f"{loop} herding", seconds,
                    batch * steps / per_call, 1e3 * per_call / steps, np.nan, np.nan,
                )
            )  # fmt: skip
            report(f"{rows[-1].algebra}, batch {batch}: {rows[-1].milliseconds_per_step:.3f} ms per step")
    return rows


def measure_parts(n: int, batch: int, report: Callable[[str], object] = print) -> list[PartRow]:
    """Time the parts of a step one by one, each compiled alone (so their sum exceeds the fused whole)."""
    engine = compiled(fitted(n, "float64"))
    settings, model = engine.settings, engine.model
    core, algebra = model.core, settings.algebra
    assert isinstance(core, CompressedCore)
    p, q = core.tensors.ranks
    rng = np.random.default_rng(0)
    states = jax.jit(jax.vmap(lambda stream: engine.initial(model, stream)))(jnp.arange(batch))
    states = states._replace(time=states.time + 1)
    a, z, c = (jnp.asarray(rng.normal(size=(batch, k))) for k in (p, q, p))
    square = jnp.asarray(rng.normal(size=(batch, q, q)))
    square = square + square.transpose(0, 2, 1)
    parts: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "transition": (lambda state: predict(state, Drive(), settings), (states,)),
        "kernel mean": (lambda x: similarities_of_mean(core, x, settings), (states.particles,)),
        "prior solve": (lambda c: algebra.solve_factorised(core.prior_lower, c), (c,)),
        "C": (core.tensors.correction_matrix, (a,)),
        "solve": (lambda C, r: algebra.solve_regularised_square(C, core.delta, r), (square, z)),
        "mean features": (core.tensors.mean_features, (a, z)),
        "herding": (lambda f: herd_features(core, f, settings.n_resample, algebra), (c,)),
    }
    rows = []
    for name, (function, arguments) in parts.items():
        call = jax.jit(jax.vmap(function))
        jax.block_until_ready(call(*arguments))
        rows.append(PartRow(name, batch, 1e3 * fastest(partial(call, *arguments), 5)))
        report(f"{name}, batch {batch}: {rows[-1].milliseconds:.3f} ms")
    return rows


def measure_first(n: int, particles: int | None = None, *, batch: int = 4096, steps: int = 50) -> FirstRow:
    """Time the first call of ``flt.filter`` with default settings, and a later one."""
    model = paper_model("1a")
    train = model.simulate(n, random_state=(0, n))
    flt = KernelMonteCarloFilter(model.transition, initial=model.initial, n_particles=particles, random_state=0)
    flt.fit(jnp.asarray(train.states), jnp.asarray(train.observations))
    observations = jnp.asarray(batch_of_observations(batch, steps))
    with quiet():
        first, later = (fastest(lambda: flt.filter(observations).mean, 1) for _ in range(2))
    return FirstRow(n, flt.ranks_, flt.n_particles_, batch, first, later)


def measure_precision(n: int, steps: int = 200) -> PrecisionRow:
    """Compare single with double precision: given the same particles at every step, and in free runs."""
    model = paper_model("1a")
    test = model.simulate(steps, random_state=(1, n))
    free = {dtype: fitted(n, dtype).filter(test.observations) for dtype in ("float64", "float32")}
    particles = np.random.default_rng(0).normal(size=(steps, PARTICLES, 1)) + free["float64"].mean[:, None, :]
    injected = {
        dtype: fitted(n, dtype, transition=lambda states, control, key: control).filter(test.observations, particles)
        for dtype in free
    }
    double, single = injected["float64"], injected["float32"]
    sd = np.sqrt(np.maximum(double.covariance[:, 0, 0], 1e-12))
    difference = (np.abs(single.mean - double.mean)[:, 0] / sd)[1:]
    errors = [rmse(run.mean, test.states) for run in free.values()]
    return PrecisionRow(n, float(np.median(difference)), float(difference.max()), errors[0], errors[1])


def fitted(n: int, dtype: str | None, transition: Any = None) -> KernelMonteCarloFilter:
    """Return a filter fitted to n examples of model 1a; with ``dtype`` None, on NumPy arrays."""
    model = paper_model("1a")
    train = model.simulate(n, random_state=(0, n))
    flt = KernelMonteCarloFilter(
        transition or model.transition,
        initial=model.initial,
        engine="compressed",
        n_particles=PARTICLES,
        n_resample=PICKS,
        random_state=0,
    )
    if dtype is None:
        return flt.fit(train.states, train.observations)
    return flt.fit(jnp.asarray(train.states, dtype), jnp.asarray(train.observations, dtype))


def compiled(flt: KernelMonteCarloFilter) -> CompiledFilter:
    """Return the compiled part of a filter."""
    engine = flt.backend_
    assert isinstance(engine, CompiledFilter)
    return engine


def _measure_one(flt: KernelMonteCarloFilter, n: int, dtype: str, batch: int, steps: int, numpy_rate: float) -> JaxRow:
    engine = compiled(flt)
    seconds, per_call = _time_engine(engine, batch, steps)
    observations = jnp.asarray(batch_of_observations(batch, steps), dtype)
    with quiet():
        flt.filter(observations)
        through = fastest(lambda: flt.filter(observations).mean, 3)
    algebra = engine.settings.algebra
    name = f"{algebra.loop} herding" if isinstance(algebra, DeviceAlgebra) else ""
    return JaxRow(
        n, flt.ranks_, dtype, batch, name, seconds, batch * steps / per_call, 1e3 * per_call / steps,
        batch * steps / through, numpy_rate,
    )  # fmt: skip


def _time_engine(engine: CompiledFilter, batch: int, steps: int) -> tuple[float, float]:
    """Return the seconds that compiling takes and those of one call over all steps."""
    model, scan, initial, _, _ = engine.runner.compiled_for(None)
    states = initial(model, np.arange(batch, dtype=np.uint32))
    observations = jnp.asarray(batch_of_observations(batch, steps), engine.settings.dtype)
    begin = time.perf_counter()
    loop = scan.lower(model, states, observations, Drive()).compile()
    seconds = time.perf_counter() - begin
    jax.block_until_ready(loop(model, states, observations, Drive()))
    return seconds, fastest(lambda: loop(model, states, observations, Drive()), 5)


def batch_of_observations(batch: int, steps: int) -> Any:
    """Return many different sequences: pieces of one long simulation."""
    long = paper_model("1a").simulate(20_000 + steps, random_state=7).observations
    begins = np.random.default_rng(0).integers(20_000, size=batch)
    return long[begins[:, None] + np.arange(steps)[None, :]]


def fastest(call: Callable[[], Any], repetitions: int) -> float:
    """Return how many seconds a call takes, until its result is there: the least of several."""
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        result = call()
        jax.block_until_ready(result)  # what is on the host is ready
        times.append(time.perf_counter() - begin)
    return min(times)


def _numpy_rate(n: int, steps: int) -> float:
    flt = fitted(n, None)
    observations = batch_of_observations(1, steps)[0]
    belief = flt.step(flt.start(), observations[0])
    begin = time.perf_counter()
    for y in observations:
        belief = flt.step(belief, y)
    return steps / (time.perf_counter() - begin)
