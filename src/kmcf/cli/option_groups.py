"""Commands that take groups of options: a parameter that is a dataclass of options stands for all of its fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from kmcf.cli.config import Config
from kmcf.cli.group import Debug

SHARED = {"config": (Config, None), "debug": (Debug, False)}
"""Options of every command, which act before it runs, with their defaults."""


def with_option_groups(command: Callable[..., None], *, shared: bool = True) -> Callable[..., None]:
    """Return a command for Typer: with one option per field of its dataclasses, and with those that all commands share.

    Parameters
    ----------
    command : callable
        Its parameters are annotated for Typer, or are dataclasses whose fields are.
    shared : bool
        Whether to add the options of every command, ``--config`` and ``--debug``.

    Examples
    --------
    >>> from kmcf.cli.options import TransitionOptions
    >>> def show(motion: TransitionOptions, seed: int = 0) -> None:
    ...     print(motion.transition, motion.trim, seed)
    >>> list(inspect.signature(with_option_groups(show)).parameters)
    ['transition', 'transition_set', 'trim', 'recovery', 'seed', 'config', 'debug']
    >>> with_option_groups(show)(transition="jump", transition_set=None, trim=0.1, recovery=None, seed=3)
    jump 0.1 3
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    options: dict[str, tuple[Any, Any]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        options |= _fields_of(groups[name]) if name in groups else {name: (hints[name], parameter.default)}
    options |= SHARED if shared else {}

    @wraps(command)
    def run(**words: Any) -> None:
        own = {name: value for name, value in words.items() if name not in SHARED}
        for name, group in groups.items():
            own[name] = group(**{field.name: own.pop(field.name) for field in fields(group)})
        command(**own)

    run.__annotations__ = {name: annotation for name, (annotation, _) in options.items()}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
            for name, (annotation, default) in options.items()
        ]
    )
    return run


def _fields_of(group: Any) -> dict[str, tuple[Any, Any]]:
    hints = get_type_hints(group, include_extras=True)
    return {
        field.name: (hints[field.name], inspect.Parameter.empty if field.default is MISSING else field.default)
        for field in fields(group)
    }
