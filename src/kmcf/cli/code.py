"""Python code as text, for ``--python``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any


class Expression(str):
    """Code that is to be printed as it is."""


def literal(value: Any) -> str:
    """Return the code for a value.

    Examples
    --------
    >>> literal([Path("a.csv"), 1e-3]), literal(Expression("states"))
    ("['a.csv', 0.001]", 'states')
    """
    if isinstance(value, Expression):
        return str(value)
    if isinstance(value, StrEnum):
        return repr(value.value)
    if isinstance(value, Path):
        return repr(str(value))
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)


def call(function: str, *arguments: Any, **named: Any) -> Expression:
    """Return the code of a call, on one line if it is short.

    Examples
    --------
    >>> call("kmcf.load", "model.kmcf", transition=Expression("walk"))
    "kmcf.load('model.kmcf', transition=walk)"
    """
    parts = [*map(literal, arguments), *(f"{name}={literal(value)}" for name, value in named.items())]
    line = f"{function}({', '.join(parts)})"
    if len(line) <= 100:
        return Expression(line)
    return Expression(f"{function}(\n" + "".join(f"    {part},\n" for part in parts) + ")")
