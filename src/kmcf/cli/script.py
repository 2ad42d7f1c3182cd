"""A command as a Python program: ``--python`` prints it, otherwise the command runs the very same statements.

Programs consist of text written here, in the source of this package, and of values typed by the user. The latter get
into a program by :func:`as_code` alone, which accepts plain values only, so that no file name and no setting can ever
become code.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

LONGEST_LINE = 100
"""Calls that are longer than this are written with one argument per line."""


class Code(str):
    """Python code, as opposed to a text that is a value."""


def as_code(value: Any) -> str:
    """Return the code for a plain value.

    Examples
    --------
    >>> as_code([Path("a.csv"), 1e-3, float("inf")]), as_code(Code("states"))
    ("['a.csv', 0.001, float('inf')]", 'states')
    """
    if isinstance(value, Code):
        return str(value)
    if isinstance(value, StrEnum):
        return repr(value.value)
    if isinstance(value, Path):
        return repr(str(value))
    if isinstance(value, float):
        return repr(float(value)) if isfinite(value) else f"float({str(value)!r})"
    if isinstance(value, list):
        return f"[{', '.join(map(as_code, value))}]"
    if isinstance(value, tuple):
        return f"({''.join(f'{as_code(part)}, ' for part in value).rstrip()})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{as_code(name)}: {as_code(part)}' for name, part in value.items())}}}"
    if value is None or type(value) in (str, int, bool):
        return repr(value)
    raise ValueError(f"{value!r} is neither a number nor a text, nor a list of them.")


def call(function: str, *arguments: Any, **named: Any) -> Code:
    """Return the code of a call, on one line if it is short.

    Parameters
    ----------
    function : str
        What is called.
    *arguments, **named
        Plain values, or code. The names are the program's, not the user's.

    Examples
    --------
    >>> call("kmcf.load", "model.kmcf", transition=Code("walk"))
    "kmcf.load('model.kmcf', transition=walk)"
    """
    parts = [*map(as_code, arguments), *(f"{name}={as_code(value)}" for name, value in named.items())]
    line = f"{function}({', '.join(parts)})"
    if len(line) <= LONGEST_LINE:
        return Code(line)
    return Code(f"{function}(\n" + "".join(f"    {part},\n" for part in parts) + ")")


class _Statement(NamedTuple):
    """A part of a program; see :meth:`Script.add`."""

    code: str
    needs: tuple[str, ...] = ()
    check: Callable[[dict[str, Any]], None] | None = None


class Script:
    """Statements that a command prints or runs.

    Parameters
    ----------
    command : str
        What it is called, for tracebacks.

    Examples
    --------
    >>> script = Script("kmcf add")
    >>> script.add(f"total = {call('math.fsum', [1, 2.5])}", needs=("math",))
    >>> script.run()["total"]
    3.5
    >>> print(script.text("print(total)"))
    import math
    <BLANKLINE>
    import kmcf
    <BLANKLINE>
    total = math.fsum([1, 2.5])
    print(total)
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._statements = [_Statement("import kmcf")]
        self._done = 0
        self._names: dict[str, Any] = {}

    def add(
        self, *code: str, needs: tuple[str, ...] = (), check: Callable[[dict[str, Any]], None] | None = None
    ) -> None:
        """Append statements.

        Parameters
        ----------
        *code : str
            The statements.
        needs : tuple of str
            Modules that they use, besides ``kmcf``.
        check : callable, optional
            Given all names after a command has run the statements, to complain or to note something; it changes
            nothing, so a script can do without it.
        """
        self._statements.append(_Statement("\n".join(code), needs, check))

    def add_folder(self, folder: Path) -> None:
        """Append the statement that makes a folder, unless it is the one we are in."""
        if folder != Path():
            self.add(f"{call('pathlib.Path', folder)}.mkdir(parents=True, exist_ok=True)", needs=("pathlib",))

    def run(self) -> dict[str, Any]:
        """Run what was added since the last time, and return all names so far."""
        for number, statement in enumerate(self._statements[self._done :], start=self._done):
            self._done = number + 1
            code = "".join(f"{line}\n" for line in (*_imports(statement.needs), statement.code))
            place = f"<{self._command}, statement {number}>"
            linecache.cache[place] = len(code), None, code.splitlines(keepends=True), place  # for --debug
            exec(compile(code, place, "exec"), self._names)
            if statement.check is not None:
                statement.check(self._names)
        return self._names

    def text(self, *ending: str) -> str:
        """Return the program.

        Parameters
        ----------
        *ending : str
            Statements that print the result, which the command shows in its own way.
        """
        needs = {name for statement in self._statements for name in statement.needs}
        own = {name for name in needs if name in sys.stdlib_module_names}
        head = [line for group in (own, needs - own) if group for line in (*_imports(sorted(group)), "")]
        first, *rest = (statement.code for statement in self._statements)
        return "\n".join([*head, first, "", *rest, *ending])


def _imports(names: Iterable[str]) -> list[str]:
    return [f"import {name}" for name in names]
