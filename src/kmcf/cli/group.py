"""What all commands share: errors as one sentence with an exit code, notes on stderr, ``--debug``."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kmcf.numerics.interrupts import was_interrupted
from kmcf.support.plain_text import printable

BAD_INPUT, UNEXPECTED, INTERRUPTED, BROKEN_PIPE = 1, 3, 130, 141
"""Exit codes, besides 0 (all went well) and 2 (a command or option that does not exist)."""
EXPECTED = (ValueError, TypeError, RuntimeError, ImportError, OSError, MemoryError, FloatingPointError)
_DEBUG = "kmcf.debug"
_UsageError: Any = typer.BadParameter.__base__  # Typer may bring its own Click, or use the installed one
_ClickError: Any = _UsageError.__base__


def _note_debug(context: typer.Context, debug: bool) -> bool:
    if debug:
        context.meta[_DEBUG] = True
    return debug


Debug = Annotated[
    bool,
    typer.Option("--debug", callback=_note_debug, is_eager=True, help="Show the traceback of an error."),
]


class Commands(TyperGroup):
    """A group of commands whose errors are sentences."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except (typer.Exit, typer.Abort, _ClickError):
                raise
            except (KeyboardInterrupt, Exception) as error:
                if ctx.meta.get(_DEBUG):
                    raise
                code, sentence = exit_code_and_sentence(error)
                tell(f"kmcf {ctx.invoked_subcommand}: {sentence}", colour="red")
                if code == BROKEN_PIPE:
                    _forget_output()
                raise typer.Exit(code) from None


def unwrapped(command: Callable[..., Any]) -> str:
    """Return a command's docstring with a line per paragraph, since help is wrapped to the terminal's width.

    Examples
    --------
    >>> def command():
    ...     '''Do this
    ...     and that.'''
    >>> unwrapped(command)
    'Do this and that.'
    """
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(text if text.startswith(" ") else " ".join(text.split()) for text in paragraphs)


def exit_code_and_sentence(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the sentence for an error.

    Examples
    --------
    >>> exit_code_and_sentence(ValueError("the file is empty."))
    (1, 'the file is empty.')
    >>> exit_code_and_sentence(MemoryError())
    (1, 'there is not enough memory.')
    >>> exit_code_and_sentence(KeyError("a"))[0]
    3
    """
    notes = "".join(f" {note}" for note in getattr(error, "__notes__", ()))
    if was_interrupted(error):
        return INTERRUPTED, f"stopped by Ctrl-C.{notes}"
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE, f"stopped, because nobody reads the output any more.{notes}"
    if isinstance(error, OSError) and error.strerror:
        return BAD_INPUT, f"{error.filename or 'the output'}: {error.strerror}."
    said = "there is not enough memory." if isinstance(error, MemoryError) and not str(error) else error
    text = " ".join(f"{said}{notes}".split())
    if isinstance(error, EXPECTED) and text:
        return BAD_INPUT, text
    return UNEXPECTED, f"unexpected {type(error).__name__}: {text}; please report it, with what --debug shows."


def tell(text: str, *, colour: str | None = None) -> None:
    """Write a line for people to stderr, coloured on a terminal only."""
    with suppress(BrokenPipeError):
        typer.secho(printable(text), err=True, fg=colour)


def note(text: str) -> None:
    """Write a note to stderr."""
    tell(f"note: {text}", colour="yellow")


def counted(number: int, noun: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "gap"), counted(2, "gap")
    ('1 gap', '2 gaps')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def tell_alarms(reasons: Mapping[str, int], total: int) -> None:
    """Say how many estimates raised an alarm and why, if any did; the empty reason stands for none."""
    found = {reason: count for reason, count in reasons.items() if reason}
    if found:
        why = ", ".join(f"{reason} {count}" for reason, count in sorted(found.items(), key=lambda item: -item[1]))
        note(f"{sum(found.values())} of {counted(total, 'estimate')} should not be believed (alarm): {why}.")


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    note(" ".join(str(message).split()))


def _forget_output() -> None:
    """Discard what is still in buffers, so that Python does not complain about it on exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
