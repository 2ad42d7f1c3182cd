"""Compiling takes seconds, on some devices more: saying so, and keeping what was compiled for the next process."""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its functions without types.

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jax

from kmcf.support.alerts import SlowCompilationWarning

PATIENCE = 10.0
"""Seconds of compiling after which the user is told."""


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
