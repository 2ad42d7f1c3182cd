"""Which transitions can be told the time that passed, and telling it to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def takes_elapsed(transition: Any) -> bool:
    """Say whether a transition has a parameter ``elapsed``; a class may also say so by an attribute of this name.

    Examples
    --------
    >>> takes_elapsed(lambda states, control, rng: states)
    False
    >>> takes_elapsed(lambda states, control, rng, *, elapsed: states)
    True
    """
    declared = getattr(transition, "takes_elapsed", None)
    return bool(_parameter(transition)) if declared is None else bool(declared)


def needs_elapsed(transition: Any) -> bool:
    """Say whether a transition cannot do without ``elapsed``."""
    parameter = _parameter(transition)
    return parameter is not None and parameter.default is inspect.Parameter.empty


def knows_step(transition: Any) -> bool:
    """Say whether a transition was told how long a step takes, by its user or by a recording with times.

    Examples
    --------
    >>> from kmcf.transitions import GaussianRandomWalk
    >>> knows_step(GaussianRandomWalk()), knows_step(GaussianRandomWalk(step=0.5))
    (False, True)
    """
    parts = getattr(transition, "transitions", None)
    if parts is not None:
        return all(knows_step(part) for part in parts)
    return hasattr(transition, "step_") or getattr(transition, "step", 0.0) not in (None, 1.0)


def moved(transition: Callable[..., Any], *arguments: Any) -> Any:
    """Call a transition with its arguments, the last of which is the time that passed: None if it is not known.

    Examples
    --------
    >>> moved(lambda states, control, rng, elapsed=1.0: states + elapsed, 5.0, None, None, 0.5)
    5.5
    >>> moved(lambda states, control, rng: states, 5.0, None, None, 0.5)
    5.0
    """
    *given, elapsed = arguments
    if elapsed is None or not takes_elapsed(transition):
        return transition(*given)
    return transition(*given, elapsed=elapsed)


def _parameter(transition: Any) -> inspect.Parameter | None:
    """Return the parameter ``elapsed`` of a callable, if it has one that can be passed by name."""
    try:
        found = inspect.signature(transition).parameters.get("elapsed")
    except (TypeError, ValueError):  # builtins may have no signature
        return None
    return None if found is not None and found.kind is inspect.Parameter.POSITIONAL_ONLY else found
