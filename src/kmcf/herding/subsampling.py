"""Algorithm 6: a few examples that represent them all, by Kernel Herding on pairs (state, observation)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.kernels import ExampleKernel, Kernel, as_kernel
from kmcf.kernels.defaults import default_observation_kernel, default_state_kernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import as_objects
from kmcf.support.estimators import clone

BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class Subsample:
    """The examples chosen, in the order they were chosen.

    Examples
    --------
    >>> chosen = Subsample(np.array([4, 0]), np.array([0.3, 0.1]))
    >>> chosen.error
    0.1
    """

    indices: IntArray
    """Which examples, (r,)."""
    errors: FloatArray
    """RKHS distance ‖m̄ − m̂‖ between the first 1, 2, …, r of them and all examples, (r,)."""

    @property
    def error(self) -> float:
        """The distance with all r of them."""
        return float(self.errors[-1])


def subsample(
    states: Any,
    observations: Any,
    size: int | None = None,
    *,
    error: float | None = None,
    state_kernel: Any = None,
    observation_kernel: Any = None,
) -> Subsample:
    """Choose examples whose joint embedding is close to that of all examples (Algorithm 6).

    Parameters
    ----------
    states, observations : arrays or lists of n
        The examples.
    size : int, optional
        r, how many to choose (at most, if ``error`` is given too).
    error : float, optional
        Stop once the RKHS distance to all examples is at most this.
    state_kernel, observation_kernel : kernels, optional
        Their product is the kernel on pairs. None: as a filter would choose.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> states = rng.normal(size=(300, 1))
    >>> chosen = subsample(states, states + 0.1 * rng.normal(size=(300, 1)), 30)
    >>> len(chosen.indices), bool(chosen.errors[29] < chosen.errors[4])
    (30, True)
    """
    return choose_examples(
        _on_examples(states, state_kernel, default_state_kernel, "state"),
        _on_examples(observations, observation_kernel, default_observation_kernel, "observation", states),
        size=size,
        error=error,
    )


def _on_examples(
    objects: Any, kernel: Any, default: Callable[[Any], Kernel], name: str, states: Any = None
) -> ExampleKernel:
    given = None if kernel is None else as_kernel(kernel, f"{name}_kernel")
    read = as_objects(objects, f"{name}s", structured=given is not None and given.structured)
    fitted: Kernel = clone(default(read) if given is None else given)
    return fitted.fit(read, states).on_examples(read)


def choose_examples(
    state_kernel: ExampleKernel,
    observation_kernel: ExampleKernel,
    *,
    size: int | None = None,
    error: float | None = None,
) -> Subsample:
    """Run Algorithm 6 on kernels with their examples: O(n²) once for the embedding of all, O(n) per choice."""
    n = state_kernel.size
    if n != observation_kernel.size:
        raise ValueError(f"{n} states but {observation_kernel.size} observations.")
    if size is None and error is None:
        raise ValueError("say how many examples to keep (size=...), or how close to stay to all of them (error=...).")
    if size is not None and not (isinstance(size, int | np.integer) and 1 <= size <= n):
        raise ValueError(f"size = {size!r}; it must lie between 1 and the number of examples, {n}.")
    if error is not None and not error > 0:
        raise ValueError(f"error = {error!r}; it must be positive.")
    mean_values = _mean_values(state_kernel, observation_kernel)
    squared_norm = float(mean_values.mean())
    available = np.zeros(n)  # minus infinity once chosen: no repetitions
    similarity = np.zeros(n)  # Σ_j k(·, chosen_j)
    indices: list[int] = []
    errors: list[float] = []
    mean_total = double_sum = 0.0
    for r in range(1, (n if size is None else size) + 1):
        best = int(np.argmax(mean_values - similarity / r + available))  # Algorithm 6, lines 3 and 5
        column = (state_kernel.columns(np.array([best])) * observation_kernel.columns(np.array([best])))[:, 0]
        mean_total += float(mean_values[best])
        double_sum += 2.0 * float(similarity[best]) + float(column[best])
        similarity += column
        available[best] = -np.inf
        indices.append(best)
        errors.append(float(np.sqrt(max(squared_norm - 2.0 * mean_total / r + double_sum / r**2, 0.0))))
        if error is not None and errors[-1] <= error:
            break
    return Subsample(np.array(indices, dtype=np.intp), np.array(errors))


def _mean_values(state_kernel: ExampleKernel, observation_kernel: ExampleKernel) -> FloatArray:
    """Return the joint embedding of all examples at every example, block by block."""
    n = state_kernel.size
    total = np.zeros(n)
    width = max(1, BLOCK_NUMBERS // n)
    for start in range(0, n, width):
        block = np.arange(start, min(start + width, n))
        total += np.sum(state_kernel.columns(block) * observation_kernel.columns(block), axis=1)
    return total / n
