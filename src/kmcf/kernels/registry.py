"""Kernels on vectors by name, for use from the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmcf.kernels.circular import Circular
from kmcf.kernels.columns import AsinhScaled
from kmcf.kernels.elementary import Linear, Same
from kmcf.kernels.histograms import ChiSquared, Hellinger, HistogramIntersection
from kmcf.kernels.kernel import Kernel
from kmcf.kernels.learned import Counts, Learned
from kmcf.kernels.placed_scans import PlacedScan
from kmcf.kernels.pose import Pose
from kmcf.kernels.scans import LaserScan
from kmcf.kernels.signals import SignalStrength
from kmcf.kernels.stationary import Gaussian, Laplace, Matern
from kmcf.support.named import made_by_name


def _asinh(bandwidth: Any = None, multiplier: float = 1.0) -> Kernel:
    return AsinhScaled(Gaussian(bandwidth, multiplier))


NAMED: dict[str, Callable[..., Kernel]] = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "matern": Matern,
    "linear": Linear,
    "asinh": _asinh,
    "learnt": Learned,
    "counts": Counts,
    "circular": Circular,
    "pose": Pose,
    "laser-scan": LaserScan,
    "placed-scan": PlacedScan,
    "signal-strength": SignalStrength,
    "same": Same,
    "histogram-intersection": HistogramIntersection,
    "chi-squared": ChiSquared,
    "hellinger": Hellinger,
}
"""Kernels whose parameters are plain values; "asinh" is a Gaussian on robustly scaled vectors."""


def named(name: str, **parameters: Any) -> Kernel:
    """Return a kernel on vectors by its name.

    Parameters
    ----------
    name : str
        One of the keys of ``NAMED``.
    **parameters
        What its class takes.

    Examples
    --------
    >>> named("matern", nu=2.5)
    Matern(nu=2.5)
    >>> named("asinh", multiplier=0.7)
    AsinhScaled(kernel=Gaussian(multiplier=0.7))
    """
    return made_by_name("kernel", NAMED, name, parameters)
