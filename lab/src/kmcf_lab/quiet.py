"""Warnings that the results themselves report, silenced."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from kmcf.support.alerts import HighRankWarning, RejectedStepWarning, SkippedDataWarning


@contextmanager
def quiet() -> Iterator[None]:
    """Silence what the tables say anyway: rejected steps, high ranks, skipped lines.

    Examples
    --------
    >>> with quiet():
    ...     warnings.warn("nothing similar", RejectedStepWarning)
    """
    with warnings.catch_warnings():
        for expected in (RejectedStepWarning, HighRankWarning, SkippedDataWarning):
            warnings.simplefilter("ignore", expected)
        yield
