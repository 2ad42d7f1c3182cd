"""Search spaces of kernels: the multipliers of the median heuristic inside them."""

from __future__ import annotations

from numbers import Real
from typing import Any

from kmcf.kernels import Kernel
from kmcf.search_space import LogNormal, Parameter


def kernel_space(name: str, kernel: Any) -> dict[str, Parameter]:
    """Return the multipliers in a kernel that are in use, under the names that ``set_params`` knows.

    Parameters
    ----------
    name : str
        The filter's name for the kernel.
    kernel : object
        The kernel, or anything else, which has none.

    Examples
    --------
    >>> from kmcf.kernels import AsinhScaled, Gaussian
    >>> kernel_space("observation_kernel", AsinhScaled(Gaussian(multiplier=0.7)))
    {'observation_kernel__kernel__multiplier': LogNormal(center=0.7, sd=0.5, low=0.0, high=inf)}
    >>> kernel_space("state_kernel", Gaussian(bandwidth=2.0))
    {}
    """
    if not isinstance(kernel, Kernel):
        return {}
    parameters = kernel.get_params(deep=True)
    bandwidths = {key.removesuffix("multiplier") + "bandwidth": key for key in parameters if key.endswith("multiplier")}
    return {
        f"{name}__{multiplier}": LogNormal(float(parameters[multiplier]), sd=0.5)
        for bandwidth, multiplier in bandwidths.items()
        if parameters.get(bandwidth) is None and isinstance(parameters[multiplier], Real)
    }
