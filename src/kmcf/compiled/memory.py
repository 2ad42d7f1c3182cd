"""How much memory a filter takes on the device, and how large a batch may be."""

from __future__ import annotations

from typing import Any

import jax

from kmcf.compiled.records import Model, StepSettings

USUAL_BYTES = 2 * 2**30
"""Assumed if a device does not report how much memory it has (a CPU)."""
SHARE = 0.6
"""Share of the free memory to plan with."""
MOST_STEPS = 4096
"""Longest piece of a sequence run at once."""


def bytes_per_sequence(model: Model, settings: StepSettings, steps: int, observation_bytes: int) -> int:
    """Estimate the memory of one filter over some steps: what a step works with, and what all steps leave behind."""
    working, kept = settings.support.numbers(model, settings)
    return int(settings.dtype.itemsize * (working + 2 * steps * kept) + 2 * steps * observation_bytes)


def free_bytes(device: Any) -> int:
    """Return how much memory to plan with on a device."""
    statistics = device.memory_stats() or {}
    if "bytes_limit" not in statistics:
        return USUAL_BYTES
    # Hosts that share a mesh must arrive at the same plan, so they use only numbers that are the same on all of them.
    used = statistics.get("bytes_in_use", 0) if jax.process_count() == 1 else 0
    return int(SHARE * (statistics["bytes_limit"] - used))


def plan(sequences: int, steps: int, devices: int, per_sequence: Any, available: int) -> tuple[int, int]:
    """Return how many sequences and how many steps to run at once, so that every device has room.

    Parameters
    ----------
    sequences, steps : int
        What there is to do.
    devices : int
        How many devices share the sequences.
    per_sequence : callable
        From a number of steps to the bytes of one sequence.
    available : int
        Bytes per device.

    Examples
    --------
    >>> plan(100, 10, 1, lambda steps: 100 * steps, 20_000)
    (20, 10)
    """
    piece = min(steps, MOST_STEPS)
    while piece > 1 and per_sequence(piece) > available:
        piece = (piece + 1) // 2
    most = available // max(per_sequence(piece), 1)
    if most < 1:
        raise MemoryError(
            f"one filter takes {per_sequence(piece) / 2**30:.2f} GiB on the device, which has "
            f"{available / 2**30:.2f} GiB free: use fewer particles (n_particles) or a coarser tolerance."
        )
    pieces = -(-sequences // (most * devices))
    width = -(-sequences // pieces)
    return -(-width // devices) * devices, piece
