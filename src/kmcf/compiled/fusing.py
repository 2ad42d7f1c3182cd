"""What the fused GPU kernels have in common: warps, and sizes that compile well."""

from __future__ import annotations

from typing import Any


def warps(number: int) -> Any:
    """Return how Triton compiles a kernel for this many warps per program; its language is loaded only then."""
    from jax.experimental.pallas import triton

    return triton.CompilerParams(num_warps=number, num_stages=1)


def power_of_two(number: int) -> int:
    """Return the smallest power of two that is not below a number: the size of a block, or of a padded batch.

    Examples
    --------
    >>> power_of_two(0), power_of_two(5), power_of_two(8)
    (1, 8, 8)
    """
    return 1 << max(number - 1, 0).bit_length()
