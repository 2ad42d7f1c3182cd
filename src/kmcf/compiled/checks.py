"""What the JAX path requires of arrays, settings, kernels and functions, before compiling and of what they return."""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its classes without types.

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kmcf.kernels import ExampleKernel
from kmcf.kernels.placed import PlacingKernel


def precision_of(flt: Any, *arrays: Any) -> Any:
    """Check that a filter's settings can be compiled; return the precision of the arrays it is fitted on."""
    check_settings(flt)
    return precision(*arrays)


def precision(*arrays: Any) -> Any:
    """Return the precision to compute in: that of the JAX arrays given to fit, float64 unless they are all float32.

    Without JAX's 64-bit mode every array is silently float32, so the mode must be on, even to compute in float32.
    """
    if jnp.zeros(0, float).dtype != np.float64:  # unlike jax.config, this also sees a local jax.enable_x64
        raise RuntimeError(
            "JAX is in its 32-bit mode, in which float64 arrays silently become float32. Switch to 64 bits when your "
            'program starts, jax.config.update("jax_enable_x64", True), or set JAX_ENABLE_X64=1; then float64 arrays '
            "are filtered in double precision, and float32 arrays, if you pass any, in single precision."
        )
    kinds = {jnp.dtype(array.dtype) for array in arrays if isinstance(array, jax.Array)}
    single = all(kind == jnp.float32 for kind in kinds)
    return np.dtype(np.float32) if single else np.dtype(np.float64)


ENGINES = {"kbr": "compressed", "importance": "lowrank"}
"""The engine on JAX arrays, by rule."""


def check_settings(flt: Any) -> None:
    """Check that the filter's settings are ones that the JAX path can compute."""
    if flt.relocate:
        raise ValueError(
            "relocate=True is computed by NumPy only: in compiled code, every step would pay for the second correction "
            "that a lost filter makes. Pass NumPy arrays to fit, or a transition made by "
            "kmcf.transitions.with_recovery."
        )
    if isinstance(flt.observation_kernel, PlacingKernel):
        raise ValueError(
            f"{type(flt.observation_kernel).__name__} is computed by NumPy only, and looks for poses elsewhere where "
            "none fits. Pass NumPy arrays to fit."
        )
    if getattr(flt, "support", "particles") == "particles":
        return
    engine = ENGINES[flt.rule]
    if flt.engine not in ("auto", engine):
        raise ValueError(
            f"engine={flt.engine!r} is computed by NumPy only: JAX arrays use engine={engine!r} (or 'auto') for "
            f"rule={flt.rule!r}. Pass NumPy arrays to fit, or another engine."
        )
    if flt.resampling != "herding" or flt.resample_threshold in ("bound", np.inf):
        raise ValueError(
            f"resampling={flt.resampling!r} with resample_threshold={flt.resample_threshold!r} is computed by NumPy "
            "only: with JAX arrays the filter always resamples by herding. Pass NumPy arrays to fit."
        )


def check_kernel(name: str, kernel: ExampleKernel, shape: tuple[int, ...], dtype: Any) -> None:
    """Check that a kernel can be evaluated inside compiled code."""
    try:
        values = jax.eval_shape(kernel.against, jax.ShapeDtypeStruct((2, *shape), dtype))
    except Exception as error:
        raise TypeError(
            f"the {name} {kernel.kernel!r} cannot be compiled by JAX ({type(error).__name__}: {_first_line(error)}). "
            "On the JAX path a kernel may use only functions of the library that its arrays come from: write a "
            "callable with jax.numpy, use kmcf.kernels.Gaussian or another kernel on vectors, or pass NumPy arrays to "
            "fit."
        ) from error
    if not isinstance(values, jax.ShapeDtypeStruct):
        raise TypeError(f"the {name} {kernel.kernel!r} returned {type(values).__name__}, not a JAX array.")


@contextmanager
def tracing(source: str) -> Iterator[None]:
    """Turn errors of a function that is not written for JAX into one that says what to do."""
    try:
        yield
    except (jax.errors.JAXTypeError, AttributeError, TypeError) as error:
        raise TypeError(
            f"your {source} cannot be compiled by JAX ({type(error).__name__}: {_first_line(error)}). With JAX arrays "
            "it gets a random key in place of a NumPy Generator and must use jax.numpy and jax.random, for instance "
            "0.9 * states + jax.random.normal(key, states.shape, states.dtype); or pass NumPy arrays to fit."
        ) from error
    except Exception as error:
        error.add_note(f"raised by your {source}")
        raise


def check_results(results: Any, *, size: int, before: int, valid: Any = True) -> None:
    """Raise what the same steps would raise on NumPy, where numbers are checked as they arise.

    Parameters
    ----------
    results : StepResult
        Of one step, or of a batch, (B, T).
    size : int
        Number of particles.
    before : int
        How many steps had been made before.
    valid : array of bool
        Which steps of a batch are no padding.
    """
    diverged = np.where(valid, results.diverged, 0)
    if diverged.any():
        place = tuple(np.argwhere(diverged)[0])  # the first sequence in which it happens, and there the first step
        time = before + 1 + (int(place[-1]) if place else 0)
        source = "initial(size, key)" if time == 1 else f"transition(states, control, key) at step {time}"
        raise ValueError(f"{source} returned NaN or infinity for {int(diverged[place])} of {size} states.")
    if np.any(np.where(valid, results.broken, False)):
        raise FloatingPointError(
            "the posterior weights are not finite; check that the kernels and the transition return finite values, "
            "or raise epsilon and delta."
        )


def is_traced(value: Any) -> bool:
    """Say whether a function is being compiled, so that some array of a pytree has no value yet."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(value))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
