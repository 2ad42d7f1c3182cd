"""How much memory there is: better an error at once than a machine that swaps and dies."""

from __future__ import annotations

import math
import os
from functools import cache


@cache
def physical_bytes() -> float:
    """Return the memory of this machine, infinity where the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def check_fits(size: float, what: str) -> None:
    """Refuse to make something that is larger than all memory.

    Parameters
    ----------
    size : float
        Its bytes.
    what : str
        What it is, for the error message.

    Examples
    --------
    >>> check_fits(8.0, "a number")
    """
    if size > physical_bytes():
        raise MemoryError(
            f"{what} would take {size / 1e9:.0f} GB, but this machine has {physical_bytes() / 1e9:.0f} GB; use "
            "engine='compressed' or 'lowrank', or fewer examples."
        )
