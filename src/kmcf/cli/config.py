"""Options from a TOML file: a section per command and, above them, options for every command that has them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

OWN = frozenset({"config", "debug", "help", "python"})
"""Options that make no sense in a file."""


def _read(context: typer.Context, path: Path | None) -> Path | None:
    if path is not None and context.parent is not None:
        commands: Mapping[str, Any] = context.parent.command.commands  # type: ignore[attr-defined]
        context.default_map = options_for(str(context.info_name), path, commands)
    return path


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        callback=_read,
        is_eager=True,
        metavar="FILE",
        help="TOML file with options; the command line takes precedence.",
    ),
]


def options_for(command: str, path: Path, commands: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a file holds for a command, by the names of its parameters.

    Parameters
    ----------
    command : str
        The name of the command.
    path : Path
        The file. All of it is checked, so that a misspelt section or option is an error whichever command runs.
    commands : mapping
        All commands by name.
    """
    found: dict[str, Any] = {}
    knows = {name: _names(one) for name, one in commands.items()}
    everywhere = {word: name for names in knows.values() for word, name in names.items()}
    data = _parsed(path)
    for key, value in data.items():
        if not isinstance(value, dict):
            _check(key, everywhere, f"{path}: no command has the option {key!r}")
            if key in knows[command]:
                found[knows[command][key]] = value
    for section, options in data.items():
        if isinstance(options, dict):
            _check(section, knows, f"{path}: there is no command {section!r}")
            for key, value in options.items():
                _check(key, knows[section], f"{path}: kmcf {section} has no option {key!r}")
                if section == command:
                    found[knows[section][key]] = value
    repeated = {parameter.name for parameter in commands[command].params if _takes_several(parameter)}
    return {
        name: [value] if name in repeated and not isinstance(value, list) else value for name, value in found.items()
    }


def _parsed(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"there is no file {path}.")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not written in TOML: {error}.") from None


def _names(command: Any) -> dict[str, str]:
    """Return the names that options may have in a file, with dashes or underscores, and their parameters."""
    names: dict[str, str] = {}
    for parameter in command.params:
        if parameter.name not in OWN:
            words = [word.lstrip("-") for word in parameter.opts if word.startswith("--")] or [parameter.name]
            names |= {spelling: parameter.name for word in words for spelling in (word, word.replace("-", "_"))}
    return names


def _takes_several(parameter: Any) -> bool:
    return bool(getattr(parameter, "multiple", False)) or parameter.nargs == -1


def _check(key: str, known: Mapping[str, Any], complaint: str) -> None:
    if key not in known:
        close = get_close_matches(key, known, n=1, cutoff=0.4)
        raise ValueError(f"{complaint}; did you mean {close[0]!r}?" if close else f"{complaint}.")
