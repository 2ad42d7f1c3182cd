"""The filter on JAX arrays: one compiled step, scanned over time and batched over sequences."""

from typing import Any

import jax.numpy as jnp

from kmcf.compiled.belief import DeviceBelief
from kmcf.compiled.checks import precision_of
from kmcf.compiled.engine import CompiledFilter
from kmcf.compiled.patterns import with_patterns
from kmcf.filter.backend import Backend

__all__ = ["CompiledFilter", "DeviceBelief", "compiled_backend", "on_device", "precision_of"]


def compiled_backend(flt: Any, precision: Any) -> Backend:
    """Return the backend of a fitted filter.

    Parameters
    ----------
    flt : KernelMonteCarloFilter
        Fitted on JAX arrays.
    precision : dtype
        That of the arrays, as :func:`precision_of` returned it.
    """
    return with_patterns(flt, precision)


def on_device(states: Any, observations: Any, precision: Any) -> tuple[Any, Any]:
    """Return examples as JAX arrays, so that a filter fitted on them is compiled."""
    return jnp.asarray(states, precision), jnp.asarray(observations, precision)
