"""Kernels as a user gave them, or as they are by default, fitted to the examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmcf.kernels import Kernel, Learned, as_kernel
from kmcf.kernels.base import check_parameters
from kmcf.kernels.defaults import default_state_kernel
from kmcf.numerics.objects import Objects
from kmcf.support.estimators import clone


def given_kernel(kernel: Any, name: str) -> Kernel | None:
    """Read a kernel that a user gave, or None."""
    read = None if kernel is None else as_kernel(kernel, name)
    if read is not None:
        check_parameters(read)
    return read


def fitted_state_kernel(kernel: Any, states: Objects, angles: Sequence[int], multiplier: float) -> Kernel:
    """Fit the kernel on states to states that were read."""
    given = given_kernel(kernel, "state_kernel")
    return clone(default_state_kernel(states, angles, multiplier) if given is None else given).fit(states)


def with_angles(kernel: Kernel, angles: Sequence[int]) -> Kernel:
    """Tell learnt kernels, alone or inside others, which state columns are angles, unless the user did."""
    for part in (kernel, *kernel.get_params(deep=True).values()):
        if isinstance(part, Learned) and part.angles is None and len(angles):
            part.set_params(angles=tuple(int(j) for j in angles))
    return kernel


def fitted_on(kernel: Kernel, observations: Objects, states: Objects, known: Kernel | None) -> Kernel:
    """Fit an observation kernel, unless the one that was fitted before serves."""
    if isinstance(known, Learned) and isinstance(kernel, Learned):
        return kernel.fit_like(known, observations)
    if known is not None and type(known) is type(kernel):
        return known
    return kernel.fit(observations, states)
