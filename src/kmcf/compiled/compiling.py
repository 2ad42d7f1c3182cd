"""Compiling takes seconds, on some devices more: saying so, and keeping what was compiled for the next process."""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its functions without types.

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from kmcf.compiled.checks import is_traced
from kmcf.support.alerts import SlowCompilationWarning

NO_SEARCH = {"xla_gpu_experimental_enable_fusion_autotuner": False}
PATIENCE = 10.0
"""Seconds of compiling after which the user is told."""


class compiled:  # noqa: N801
    """A function compiled on first use (``jax.jit``), on a GPU without a search that can take minutes.

    XLA's search for the best way to fuse reductions takes up to minutes for sizes that are no power of two, and finds
    nothing faster for these formulas. It can be switched off only where JAX begins to compile: inside the user's own
    compiled code the function is compiled as the user wants it.

    Parameters
    ----------
    function : callable
        A pure function of arrays.

    Examples
    --------
    >>> int(compiled(lambda x: x + 1)(1))
    2
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._outermost = jax.jit(function, compiler_options=_options())
        self._nested = jax.jit(function)

    def __call__(self, *arguments: Any) -> Any:
        """Run the function; compile it first if the shapes are new."""
        if is_traced(arguments):
            return self._nested(*arguments)
        try:
            return self._outermost(*arguments)
        except ValueError:  # JAX refuses options inside the user's compiled code, where arguments may be constants
            if not _inside_compiled_code():
                raise
            return self._nested(*arguments)

    def lower(self, *arguments: Any) -> Any:
        """Translate without running, as functions of ``jax.jit`` can."""
        return self._outermost.lower(*arguments)


def _inside_compiled_code() -> bool:
    """Say whether what is computed now is being compiled; only there are new arrays placeholders."""
    return is_traced(jnp.zeros(()))


@cache
def _options() -> dict[str, Any] | None:
    """Return the options of the compiler, if there is a GPU and it knows them."""
    if jax.devices()[0].platform not in ("gpu", "cuda"):
        return None
    try:
        jax.jit(lambda x: x + 1, compiler_options=NO_SEARCH)(1)
    except Exception:  # another version of JAX, which may not need it
        return None
    return NO_SEARCH


def keep_compiled(folder: str | os.PathLike[str]) -> None:
    """Keep compiled filters in a folder, so that other processes need not compile them again (JAX's own cache).

    A filter is found there again if its settings, ranks and shapes are the same; the examples may be others.

    Parameters
    ----------
    folder : path
        Made if it does not exist. Only you should be able to write to it: what lies there is executed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     keep_compiled(folder)
    ...     jax.config.jax_compilation_cache_dir == folder
    True
    >>> jax.config.update("jax_compilation_cache_dir", None)
    """
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    jax.config.update("jax_compilation_cache_dir", str(path))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


@contextmanager
def announcing(what: str, patience: float | None = None) -> Iterator[None]:
    """Tell the user, from a thread, when the work inside takes longer than it should.

    Parameters
    ----------
    what : str
        What is being compiled.
    patience : float, optional
        Seconds; None: :data:`PATIENCE`.
    """
    seconds = PATIENCE if patience is None else patience

    def tell() -> None:
        warnings.warn(
            f"compiling {what} has taken {seconds:g} s so far; later calls with these shapes will not need it. "
            "kmcf.compiled.keep_compiled(folder) keeps it for other processes, too.",
            SlowCompilationWarning,
            stacklevel=1,
        )

    timer = threading.Timer(seconds, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
