"""Model files, and the columns that they were fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kmcf.cli.script import Script, call
from kmcf.cli.sensors import chosen_sensors, sensors_of
from kmcf.cli.table_files import TableFiles
from kmcf.cli.windows import read_window, window_code

if TYPE_CHECKING:
    from kmcf.datasets import Window

ROLES = ("state", "observation", "control")


@dataclass(frozen=True)
class LoadedModel:
    """A fitted filter and what its file says about columns.

    Attributes
    ----------
    filter : filter
        Fitted.
    columns : dict
        Names by role, as ``kmcf.datasets.columns_of`` gives them; empty for files saved without notes.
    name : str
        The file's.
    window : Window or None
        The window of which its observations consist; None: they are taken one by one.
    """

    filter: Any
    columns: dict[str, Any]
    name: str
    window: Window | None = None

    @property
    def states(self) -> list[str]:
        """Names of the state's coordinates."""
        from kmcf.datasets.velocities import velocity_names

        width = self.filter.states_.shape[1]
        named = self.columns.get("state") or []
        named = [*named, *velocity_names(named)] if self.columns.get("velocities") else named
        return list(named) if len(named) == width else [f"state_{j}" for j in range(width)]

    @property
    def timed(self) -> bool:
        """Whether the filter was learnt from times, so that it can make something of them."""
        from kmcf.transitions.elapsed import knows_step

        return self.columns.get("time") is not None and knows_step(self.filter.transition)

    def tables(self, files: Sequence[Path], **chosen: Any) -> TableFiles:
        """Return how to read files for this model: columns as chosen, otherwise those that it was fitted to."""
        chosen.pop("window", None)  # which was looked at when the model was loaded
        sensors = chosen_sensors(self, chosen.pop("sensor", None), chosen.get("observation"))
        columns = {**self.columns, **{name: value for name, value in chosen.items() if value}}
        columns |= {"sensors": sensors, "observation": []} if sensors else {}
        if not sensors and not columns.get("observation"):
            raise ValueError(f"{self.name} does not say which columns are observations; name them with --observation.")
        assumed = frozenset(name for name in self.columns if not chosen.get(name))
        named = {name: value for name, value in columns.items() if value is not None}
        code = None if self.window is None else window_code(self.window)
        return TableFiles(files, **named, window=code, assumed=assumed)

    def check_width(self, role: str, names: Sequence[str], source: str) -> None:
        """Compare the number of columns with what the filter was fitted to."""
        length = 1 if self.window is None else self.window.length
        width = self.filter.states_.shape[1] if role == "state" else self.filter.reader_.shape[0] // length
        if len(names) != width:
            times = "" if length == 1 or role == "state" else f" (times {length}, the length of the window)"
            raise ValueError(
                f"{self.name} was fitted to {width} {role} columns{times}, but {source} gives {len(names)} "
                f"({', '.join(names) or 'none'})."
            )

    def check_times(self, time: str | None, source: str) -> None:
        """Refuse data without times where the model's window counts seconds."""
        if time is None and self.window is not None and self.window.seconds is not None:
            raise ValueError(
                f"{self.name} takes the observations of the last {self.window.seconds:g} s as one, but {source} has no "
                "times; name their column with --time."
            )


def load_model(script: Script, path: Path, window: str | None = None, *, rows: bool = True) -> LoadedModel:
    """Load a model by the first statement of a script, which calls it ``flt``; check that commands can use it.

    Parameters
    ----------
    script : Script
        Gets the statement.
    path : Path
        The model's file.
    window : str, optional
        The window of which its observations consist, as typed; needed where the file does not say it.
    rows : bool
        Whether observations must be rows of numbers, as tables hold them; otherwise arrays of any shape will do.
    """
    from kmcf.store import describe_file

    if not path.exists():
        raise ValueError(f"there is no model file {path}.")
    about = describe_file(path)
    needed = about.get("passed_again") or {}
    if needed:
        raise ValueError(
            f"{path} needs {', '.join(needed)} to be passed again, which only Python can do: "
            f"kmcf.load({str(path)!r}, ...)."
        )
    script.add(f"flt = {call('kmcf.load', path)}")
    flt = script.run()["flt"]
    _check_usable(flt, path, about["class"], rows)
    notes = about["notes"]
    columns = _checked_columns(notes.get("columns", {}), path)
    return LoadedModel(flt, columns, path.name, _window_of(notes.get("window"), window, flt, path))


def _check_usable(flt: Any, path: Path, held: str, rows: bool) -> None:
    import numpy as np

    from kmcf.filter import SequentialFilter

    if not isinstance(flt, SequentialFilter):
        raise ValueError(f"{path} holds a {held}, not a filter.")
    if not hasattr(flt, "seed_"):
        raise ValueError(f"{path} holds a filter that was not fitted.")
    vectors = isinstance(flt.states_, np.ndarray) and flt.states_.ndim == 2
    shapes = [part.reader_.shape for part in (sensors_of(flt) or {"": flt}).values()]
    if not vectors or any(shape is None or (rows and len(shape) != 1) for shape in shapes):
        raise ValueError(
            f"{path} was fitted to states or observations that are not {'rows' if rows else 'arrays'} of numbers; use "
            "it from Python."
        )


def _window_of(notes: Any, words: str | None, flt: Any, path: Path) -> Window | None:
    """Return the window of a model: as its file says, or as typed where it does not."""
    from kmcf.datasets.windowing import Window, described_window

    if sensors_of(flt):
        if words is not None or notes is not None:
            raise ValueError(f"{path} has several sensors, and windows are of one.")
        return None
    typed, width = read_window(words), flt.reader_.shape[0]
    noted = described_window(notes)
    if notes is not None and (noted is None or width % noted.length):
        raise ValueError(f"what {path} says about windows makes no sense; fit the model anew, or use it from Python.")
    if typed is None:
        return noted
    if noted is not None:
        if typed[:2] not in ((noted.length, None), (None, noted.seconds)):
            raise ValueError(f"--window {words}: {path} was fitted with {noted!r}, which is used without being told.")
        return noted
    if typed.length is None or width % typed.length:
        raise ValueError(
            f"--window {words}: {path} was fitted to observations of {width} numbers; say how many observations in a "
            "row make these up."
        )
    return Window(typed.length, fill="repeat" if typed.fill == "repeat" else "nan")


def _checked_columns(columns: Any, path: Path) -> dict[str, Any]:
    """Check notes, which anyone may have written."""
    if not _are_columns(columns):
        raise ValueError(f"what {path} says about columns makes no sense; name them with --observation and --state.")
    known = (*ROLES, "time", "sequence", "step", "sensors", "velocities")
    return {name: value for name, value in columns.items() if name in known}


def _are_columns(columns: Any) -> bool:
    if not isinstance(columns, dict):
        return False
    sensors = columns.get("sensors", {})
    if not isinstance(sensors, dict):
        return False
    lists = [*(columns.get(role, []) for role in ROLES), *sensors.values()]
    return (
        all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in lists)
        and all(isinstance(columns.get(role), str | None) for role in ("time", "sequence"))
        and isinstance(columns.get("step"), int | float | None)
        and isinstance(columns.get("velocities", False), bool)
    )
