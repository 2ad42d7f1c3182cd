"""What a filter asks of a transition before it uses it: that it can be called, and that somebody knows its noise."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from kmcf.support.alerts import GuessedMotionWarning, warn_user
from kmcf.support.typed import check_types
from kmcf.transitions.base import Transition
from kmcf.transitions.elapsed import takes_elapsed

MOVES, STARTS = ("states", "control", "rng"), ("size", "rng")
"""What the filter passes to a transition and to an initial distribution."""


def check_transition(transition: Any) -> None:
    """Refuse what cannot move states as ``transition(states, control, rng)``; warn of noise that nobody chose.

    Examples
    --------
    >>> check_transition(lambda states, rng: states)
    Traceback (most recent call last):
    TypeError: your transition is called as transition(states, control, rng), but it takes (states, rng).
    """
    check_callable(transition, "transition", MOVES, "states")
    for part in _parts(transition):
        check_types(type(part).__init__, part.get_params(deep=False), f"{type(part).__name__} has")
        part.check_usable()
        guessed = part.guessed()
        if guessed:
            words = " and ".join(f"{name} = {value:g}" for name, value in guessed.items())
            names = "=..., ".join(guessed)
            warn_user(
                f"the {' and '.join(guessed)} of {type(part).__name__}() was neither given nor learnt, so {words} per "
                f"step is assumed; give {names}=..., or learn it from recorded states: "
                f"{type(part).__name__}().fit(sequences).",
                GuessedMotionWarning,
            )


def check_callable(function: Any, name: str, passed: tuple[str, ...], returned: str) -> None:
    """Check that a user's function can be called with what the filter passes.

    Parameters
    ----------
    function : object
        What the user gave.
    name : str
        The name of the setting.
    passed : tuple of str
        What it will be given, in order.
    returned : str
        What it must return.
    """
    arguments = ", ".join(passed)
    if inspect.isclass(function):
        raise TypeError(
            f"{name} is the class {function.__name__}; pass an object of it, as {function.__name__}(...) makes one."
        )
    if not callable(function):
        raise TypeError(f"{name} must be a function ({arguments}) -> {returned}, not {function!r}.")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # builtins may have no signature
        return
    try:
        signature.bind(*passed, **({"elapsed": 1.0} if name == "transition" and takes_elapsed(function) else {}))
    except TypeError:
        raise TypeError(
            f"your {name} is called as {name}({arguments}), but it takes ({', '.join(signature.parameters)})."
        ) from None


def _parts(transition: Any) -> Iterator[Transition]:
    """Yield a ready-made transition and those that it is made of."""
    if isinstance(transition, Transition):
        yield transition
    for part in getattr(transition, "transitions", None) or ():
        yield from _parts(part)
