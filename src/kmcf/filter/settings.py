"""Checks of constructor arguments, made at fit: what was wrong, and what is allowed."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Check that a setting is one of a few words.

    Examples
    --------
    >>> check_choice("rule", "kbr", ("kbr", "importance"))
    """
    if value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} = {value!r}; it must be one of {allowed}.")


def check_positive(
    name: str, value: Any, *, optional: bool = False, zero: bool = False, infinity: bool = False
) -> None:
    """Check that a setting is a positive number (optionally None, zero or infinite).

    Examples
    --------
    >>> check_positive("epsilon", 1e-3)
    """
    if value is None and optional:
        return
    number = isinstance(value, Real) and not isinstance(value, bool)
    if number and (value > 0 or (zero and value == 0)) and (infinity or np.isfinite(value)):
        return
    raise ValueError(f"{name} = {value!r}; it must be a {'non-negative' if zero else 'positive'} number.")


def check_count(name: str, value: Any, *, optional: bool = False) -> None:
    """Check that a setting is a positive integer (optionally None).

    Examples
    --------
    >>> check_count("n_resample", 100)
    """
    if value is None and optional:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} = {value!r}; it must be a positive integer.")
