"""What a step of each engine would cost, from what can be known before it is fitted."""

from __future__ import annotations

import numpy as np

from kmcf.bayes_rule.fitted import RuleSettings
from kmcf.kernels import ExampleKernel
from kmcf.numerics.objects import evenly_spaced

SAMPLED, PAIRED = 100, 1000
LARGEST_TENSOR = 64_000_000
"""The compressed engine is chosen only if p q² / 2 stays below this (512 MB)."""
LARGEST_GRAM = 5000
"""The exact engine is chosen only up to this many examples (two 200 MB matrices)."""


def neighbours(state_kernel: ExampleKernel, negligible: float) -> int:
    """Estimate how many examples a concentrated prior leaves: twice those near a typical example, for its spread."""
    n = state_kernel.size
    some = evenly_spaced(n, SAMPLED)
    near = state_kernel.columns(some) > negligible * float(state_kernel.diagonal().max())
    return min(n, int(2.0 * np.median(near.sum(axis=0))))


def cheapest(n: int, p: int, q: int, settings: RuleSettings, near: int | None = None) -> str:
    """Return the name of the engine with the least work per step.

    Examples
    --------
    >>> from kmcf.herding.herding import Herd
    >>> herd = Herd(100)
    >>> settings = RuleSettings("auto", "kbr", 1e-3, 1e-4, (1e-8, 1e-8), (None, None), 1000, herd, herd)
    >>> cheapest(1000, 40, 40, settings), cheapest(150, 150, 150, settings)
    ('compressed', 'exact')
    """
    work = nanoseconds_per_step(n, p, q, settings.n_particles, n if near is None else near)
    allowed = ["lowrank"]
    if settings.rank == (None, None) and n <= LARGEST_GRAM:
        allowed.append("exact")
    if settings.rule == "kbr" and settings.always_resampler is not None and p * q * q / 2 <= LARGEST_TENSOR:
        allowed.append("compressed")
    return min(allowed, key=lambda engine: work[engine])


def nanoseconds_per_step(n: int, p: int, q: int, m: int, near: int) -> dict[str, float]:
    """Estimate the time of one step with n examples, p and q features and m particles on one ordinary core.

    The exact engine solves for the ``near`` examples that the prior does not exclude, if they are at most q / 2. The
    estimate counts 3 ns per kernel value, 0.5 ns per number streamed through memory, 0.025 ns per operation of a
    matrix product, and 0.2 ms for herding and everything else that does not depend on the engine.
    """
    kernel, streamed, product, rest = 3.0, 0.5, 0.025, 2e5
    solve = product * q**3 * 4.0 / 3.0
    everywhere, local = product * n * q * q + solve, product * near * near * (2 * q + 5 * near)
    return {
        "exact": rest + kernel * n * (m + 1) + streamed * n * (n + 3 * q) + (local if 2 * near <= q else everywhere),
        "lowrank": rest + kernel * (m * p + q) + streamed * n * (2 * p + 4 * q) + product * n * q * q + solve,
        "compressed": rest + kernel * (m * p + q) + streamed * (p * q * q + p * p * q) / 2 + solve,
    }


def local_nanoseconds(near: int, m: int) -> float:
    """Estimate the time of a step of the local engine with m particles and ``near`` examples around them.

    About two thirds of the examples near enough for λ are left for the weights.
    """
    kernel, product, overhead = 3.0, 0.025, 1e6
    active = 2.0 * near / 3.0
    return overhead + kernel * (near * (m + near) + 2.0 * active**2) + product * (near**3 + 8.0 * active**3)


def fewest_features(kernel: ExampleKernel) -> int:
    """Estimate the effective rank (tr G)² / ‖G‖² of a kernel matrix, which no accurate factor falls below.

    Examples
    --------
    >>> from kmcf.kernels import Constant, Gaussian
    >>> states = np.arange(50.0)[:, None]
    >>> fewest_features(Constant().on_examples(states)), fewest_features(Gaussian(1e-3).on_examples(states))
    (1, 50)
    """
    n = kernel.size
    some = np.sort(np.random.default_rng(0).choice(n, min(n, PAIRED), replace=False))
    part = kernel.subset(some).matrix()
    squares = part**2
    trace, own = float(np.trace(part)), float(np.trace(squares))
    if trace <= 0.0:
        return 1
    scale = n / len(some)
    apart = (float(squares.sum()) - own) * (n - 1) / max(len(some) - 1, 1) * scale
    return max(1, round((scale * trace) ** 2 / (scale * own + apart)))


def tolerances_for(
    settings: RuleSettings, state_kernel: ExampleKernel, observation_kernel: ExampleKernel
) -> tuple[float, float]:
    """Return the tolerances for states and observations.

    Where the user sets none, they follow the regularisers: directions of G_X that the factor misses have eigenvalues
    of at most n times the residual and drown in nε, and those of C in √δ (rule "kbr") or δ ("importance"). The factors
    0.5 and 0.05 are empirical (``docs/engines.md``): posterior means move by less than 1 % of the posterior standard
    deviation.
    """
    if settings.tolerance is not None:
        return settings.tolerance
    largest = [max(float(kernel.diagonal().max()), 1e-300) for kernel in (state_kernel, observation_kernel)]
    scale = settings.delta**0.5 if settings.rule == "kbr" else settings.delta
    return 0.5 * settings.epsilon / largest[0], 0.05 * scale / largest[1]
