"""What a result was computed with."""

from __future__ import annotations

import platform

import numpy as np
import scipy

from kmcf._version import __version__


def versions() -> dict[str, str]:
    """Return the versions of everything that a result depends on, and the machine.

    Examples
    --------
    >>> sorted(versions())
    ['kmcf', 'machine', 'numpy', 'python', 'scipy']
    """
    return {
        "kmcf": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
    }
