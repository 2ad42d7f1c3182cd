"""Optional dependencies: imported where they are used, with an error that says what to install."""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def require(module: str, extra: str) -> Any:
    """Import an optional module; the error of a missing one names the extra that installs it.

    Examples
    --------
    >>> require("json", "none").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise ImportError(f"this needs {name}; install it with: pip install 'kmcf[{extra}]'") from error


@contextmanager
def progress_bar(
    total: int, description: str, *, show: bool, unit: str = "step", delay: float = 0.0
) -> Iterator[Callable[[], object]]:
    """Yield a function to call after each of ``total`` steps; it advances a progress bar if one is wanted.

    The bar appears after ``delay`` seconds.

    Examples
    --------
    >>> with progress_bar(2, "nothing to see", show=False) as advance:
    ...     advance()
    """
    if not show:
        yield lambda: None
        return
    with require("tqdm", "progress").tqdm(total=total, desc=description, unit=unit, delay=delay) as bar:
        yield bar.update
