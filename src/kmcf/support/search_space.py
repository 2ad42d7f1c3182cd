"""What a tuner may change in a filter: hyper-parameters with their defaults and ranges.

A filter declares its own search space; :func:`kmcf.tune` draws from it. Nothing here knows how trials are judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class LogNormal:
    """A positive number, drawn log-normally around a centre.

    Parameters
    ----------
    center : float
        Median of the draws and value of the first trial: the untuned default.
    sd : float
        Standard deviation of the logarithm.
    low, high : float
        Draws are clipped to this range.

    Examples
    --------
    >>> LogNormal(0.01, sd=1.0, high=0.02).at(1.0)
    0.02
    """

    center: float
    sd: float = 0.5
    low: float = 0.0
    high: float = math.inf

    def __post_init__(self) -> None:
        if not (self.center > 0 and self.sd > 0 and self.low <= self.center <= self.high):
            raise ValueError(f"{self}: a positive centre within [low, high] and a positive sd are needed.")

    def at(self, deviations: float) -> float:
        """Return the value this many standard deviations (of the logarithm) above the centre, clipped to the range."""
        return float(np.clip(self.center * math.exp(self.sd * deviations), self.low, self.high))

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a value."""
        return self.at(rng.standard_normal())


@dataclass(frozen=True)
class Integer:
    """A whole number ≥ ``low``, drawn log-normally around a centre and rounded.

    Parameters
    ----------
    center : int
        Median of the draws and value of the first trial: the untuned default.
    sd : float
        Standard deviation of the logarithm.
    low, high : int
        Draws are clipped to this range.

    Examples
    --------
    >>> Integer(100, sd=0.5).at(1.0)
    165
    """

    center: int
    sd: float = 0.5
    low: int = 1
    high: int = 2**31

    def __post_init__(self) -> None:
        if not (self.center > 0 and self.sd > 0 and self.low <= self.center <= self.high):
            raise ValueError(f"{self}: a positive centre within [low, high] and a positive sd are needed.")

    def at(self, deviations: float) -> int:
        """Return the value this many standard deviations (of the logarithm) above the centre, rounded and clipped."""
        return int(np.clip(round(self.center * math.exp(self.sd * deviations)), self.low, self.high))

    def draw(self, rng: np.random.Generator) -> int:
        """Draw a value."""
        return self.at(rng.standard_normal())


@dataclass(frozen=True)
class Category:
    """One of several options; the first is the untuned default.

    Parameters
    ----------
    options : tuple
        The options.

    Examples
    --------
    >>> Category(("kbr", "importance")).center
    'kbr'
    """

    options: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.options:
            raise ValueError("a category needs at least one option.")

    @property
    def center(self) -> Any:
        """The untuned default."""
        return self.options[0]

    def draw(self, rng: np.random.Generator) -> Any:
        """Draw an option."""
        return self.options[int(rng.integers(len(self.options)))]


Parameter = LogNormal | Integer | Category
SearchSpace = Mapping[str, Parameter]
"""Parameter names as for ``set_params`` (nested ones as ``state_kernel__multiplier``), and the values they may take."""


@dataclass(frozen=True)
class Variants:
    """The variants of a filter, with all that it would otherwise decide from the examples made explicit.

    Attributes
    ----------
    name : str
        The setting in which the variants differ.
    filters : mapping
        The variants by name, fitted or not. The first is the untuned default.
    """

    name: str
    filters: Mapping[str, Any]
