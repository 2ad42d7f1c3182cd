"""The filter on JAX arrays: one compiled step, scanned over time and batched over sequences."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kmcf.compiled.belief import DeviceBelief
from kmcf.compiled.checks import ENGINES, precision_of
from kmcf.compiled.compiling import keep_compiled
from kmcf.compiled.engine import CompiledFilter
from kmcf.compiled.patterns import with_patterns
from kmcf.compiled.smoothed import backward_keys, smoothed_together
from kmcf.filter.backend import Backend
from kmcf.filter.motion import Transition
from kmcf.transitions.elapsed import takes_elapsed
from kmcf.trust.alarm import Watch
from kmcf.trust.rehearsal import Mover

__all__ = [
    "ENGINES",
    "CompiledFilter",
    "DeviceBelief",
    "backward_keys",
    "compiled_backend",
    "keep_compiled",
    "mover",
    "on_device",
    "on_host",
    "precision_of",
    "remembered",
    "smoothed_together",
]


def compiled_backend(flt: Any, precision: Any, watch: Watch | None = None) -> Backend:
    """Return the backend of a fitted filter.

    Parameters
    ----------
    flt : KernelMonteCarloFilter
        Fitted on JAX arrays.
    precision : dtype
        That of the arrays, as :func:`precision_of` returned it.
    watch : Watch, optional
        What raises alarms.
    """
    return with_patterns(flt, precision, watch)


def remembered(backend: CompiledFilter) -> dict[Any, Any]:
    """Return what smoothing keeps with a backend, from one call to the next."""
    return backend.backward


def on_device(states: Any, observations: Any, precision: Any) -> tuple[Any, Any]:
    """Return examples as JAX arrays, so that a filter fitted on them is compiled."""
    return jnp.asarray(states, precision), jnp.asarray(observations, precision)


def mover(transition: Any, precision: Any) -> Mover:
    """Return a transition written for JAX as a function of NumPy states and a NumPy generator, without control."""

    def move(states: Any, rng: np.random.Generator) -> Any:
        key = jax.random.key(int(rng.integers(2**31)))
        moved = np.asarray(transition(jax.numpy.asarray(states, precision), None, key), np.float64)
        if moved.shape != np.shape(states) or not np.isfinite(moved).all():
            raise ValueError(f"transition(states, control, key) returned {moved.shape} for {np.shape(states)}.")
        return moved

    return move


def on_host(transition: Any, precision: Any) -> Transition:
    """Return a transition written for JAX as one of NumPy states and a NumPy generator, with control and time.

    In place of the generator it also takes a key.
    """

    def move(states: Any, control: Any, rng: Any, **timed: Any) -> Any:
        key = rng if isinstance(rng, jax.Array) else jax.random.key(int(rng.integers(2**31)))
        driven = None if control is None else jnp.asarray(control, precision)
        return np.asarray(transition(jnp.asarray(states, precision), driven, key, **timed), np.float64)

    move.takes_elapsed = takes_elapsed(transition)  # type: ignore[attr-defined]
    if hasattr(transition, "log_density"):
        move.log_density = transition.log_density  # type: ignore[attr-defined]
    return move
