"""The parameters of a transition that are learnt: their names, bounds and scales, and the transitions they make."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from kmcf.numerics.arrays import FloatArray
from kmcf.transitions.base import Transition

REACH = 10.0
"""Without bounds, a positive parameter is sought within this factor of its value."""
LOGARITHMIC = 4.0
"""Positive bounds whose ratio is at least this are searched on a logarithmic scale."""
MOST = 8
"""So many parameters at most: each needs several runs of the filter."""
Make = Callable[..., Any]


@dataclass(frozen=True)
class Range:
    """One number that is learnt, between bounds; the search sees it between 0 and 1."""

    name: str
    low: float
    high: float
    start: float

    @property
    def logarithmic(self) -> bool:
        """Whether ratios count, not differences."""
        return self.low > 0 and self.high / self.low >= LOGARITHMIC

    def value(self, unit: float) -> float:
        """Return the number at a place between 0 and 1.

        Examples
        --------
        >>> Range("scale", 0.01, 1.0, 0.1).value(0.5), Range("drift", -1.0, 1.0, 0.0).value(0.75)
        (0.1, 0.5)
        """
        if self.logarithmic:
            return self.low * (self.high / self.low) ** unit
        return self.low + unit * (self.high - self.low)

    def unit(self, value: float) -> float:
        """Return the place of a number, between 0 and 1."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Parameters:
    """What is learnt, and the transition that it makes."""

    ranges: tuple[Range, ...]
    make: Make
    """Takes the numbers by name."""

    @property
    def start(self) -> FloatArray:
        """Where the search starts, between 0 and 1."""
        return np.array([one.unit(one.start) for one in self.ranges])

    def values(self, place: FloatArray) -> dict[str, float]:
        """Return the numbers at a place in the unit cube, by name."""
        return {one.name: float(one.value(float(u))) for one, u in zip(self.ranges, place, strict=True)}

    def transition(self, place: FloatArray) -> Any:
        """Return the transition at a place in the unit cube."""
        return self.make(**self.values(place))


def read_parameters(flt: Any, parameters: Any, make: Make | None, start: Mapping[str, float] | None) -> Parameters:
    """Read what is to be learnt.

    Parameters
    ----------
    flt : filter
        Whose transition has these parameters, unless ``make`` does.
    parameters : str, sequence of str, or mapping
        Names, or names with bounds (low, high); None for bounds around the present value.
    make : callable, optional
        Returns a transition from numbers by name.
    start : mapping, optional
        Where to start; otherwise the present values, or the middle of the bounds.
    """
    bounds = _named(parameters)
    start = dict(start or {})
    if make is None:
        known = ready_made(flt.transition)
        bounds = _elements(bounds, known)
        present = {name: _present(known, name) for name in bounds}
        build: Make = _Setting(known)
    else:
        if not callable(make):
            raise TypeError(f"make={make!r} cannot be called; it must return a transition, given the numbers by name.")
        present, build = {}, make
    unknown = sorted(set(start) - set(bounds))
    if unknown:
        raise ValueError(f"start names {unknown[0]!r}, which is not among the parameters {', '.join(bounds)}.")
    if len(bounds) > MOST:
        raise ValueError(f"{len(bounds)} parameters are too many for a search by runs of the filter; take {MOST}.")
    return Parameters(tuple(_range(name, given, start.get(name, present.get(name))) for name, given in bounds.items()),
                      build)  # fmt: skip


def ready_made(transition: Any) -> Transition:
    """Return a transition that says what its parameters are."""
    if not isinstance(transition, Transition):
        raise TypeError(
            "your own transition does not say what its parameters are: pass make=..., which returns a transition for "
            "given numbers, as make=lambda scale: (lambda states, control, rng: ...), with bounds by name."
        )
    return transition


def _named(parameters: Any) -> dict[str, Any]:
    if isinstance(parameters, str):
        parameters = [parameters]
    if isinstance(parameters, Mapping):
        found = dict(parameters)
    elif isinstance(parameters, Sequence):
        found = dict.fromkeys(parameters)
    else:
        raise TypeError(f"parameters={parameters!r}; give names, or a dictionary of names and bounds (low, high).")
    if not found:
        raise ValueError("no parameter was named, so there is nothing to learn.")
    wrong = [name for name in found if not isinstance(name, str)]
    if wrong:
        raise TypeError(f"{wrong[0]!r} is not the name of a parameter.")
    return found


def _elements(bounds: dict[str, Any], transition: Transition) -> dict[str, Any]:
    """Replace parameters that are vectors by their elements, ``scale[0]``, ``scale[1]``, ..."""
    found: dict[str, Any] = {}
    for name, given in bounds.items():
        value = None if name.endswith("]") else np.asarray(_numbers(transition, name))
        if value is None or value.ndim == 0:
            found[name] = given
        else:
            found |= {f"{name}[{','.join(map(str, place))}]": given for place in np.ndindex(value.shape)}
    return found


def _split(name: str) -> tuple[str, tuple[int, ...]]:
    """Return the name of a parameter and the element that is meant.

    Examples
    --------
    >>> _split("scale[1]"), _split("alpha1")
    (('scale', (1,)), ('alpha1', ()))
    """
    match = re.fullmatch(r"(.+)\[(\d+(?:,\d+)*)\]", name)
    return (name, ()) if match is None else (match[1], tuple(int(part) for part in match[2].split(",")))


def _owner(transition: Transition, name: str) -> tuple[Transition, str]:
    *parts, last = name.split("__")
    for part in parts:
        inner = transition.parameters().get(part)
        if not isinstance(inner, Transition):
            raise ValueError(f"{type(transition).__name__} has no part {part!r} that is a transition.")
        transition = inner
    return transition, last


def _numbers(transition: Transition, name: str) -> Any:
    """Return a parameter in use."""
    owner, last = _owner(transition, name)
    known = owner.parameters()
    if last not in known:
        raise ValueError(f"{type(owner).__name__} has no parameter {last!r}; it has {', '.join(known)}.")
    return known[last]


def _present(transition: Transition, name: str) -> float:
    whole, place = _split(name)
    value = _numbers(transition, whole)
    try:
        return float(np.asarray(value, dtype=np.float64)[place])
    except IndexError:
        raise ValueError(f"{whole} has the shape {np.shape(value)}, so there is no {name}.") from None
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}, not a number, so it cannot be learnt.") from None


@dataclass(frozen=True)
class _Setting:
    """Makes a ready-made transition with other numbers."""

    transition: Transition

    def __call__(self, **values: float) -> Transition:
        changed: dict[str, Any] = {}
        for name, value in values.items():
            whole, place = _split(name)
            if place:
                array = changed.get(whole)
                array = np.array(_numbers(self.transition, whole), dtype=np.float64) if array is None else array
                array[place] = value
                changed[whole] = array
            else:
                changed[whole] = value
        made: Transition = clone(self.transition).set_params(**changed)
        return made


def _range(name: str, given: Any, value: float | None) -> Range:
    """Read the bounds of one parameter."""
    if given is None:
        if value is None or not value > 0:
            shown = "unknown" if value is None else f"{value:g}"
            raise ValueError(f"{name} is {shown}: say between which bounds to look, as {{{name!r}: (low, high)}}.")
        given = (value / REACH, value * REACH)
    try:
        low, high = (float(bound) for bound in given)
    except (TypeError, ValueError):
        raise ValueError(f"the bounds of {name} are {given!r}; give two numbers (low, high).") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"the bounds of {name} are ({low:g}, {high:g}); they must be finite, the first the smaller.")
    if value is None:
        value = Range(name, low, high, low).value(0.5)
    return Range(name, low, high, float(np.clip(value, low, high)))
