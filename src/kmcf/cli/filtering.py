"""The statements by which commands read files for a model, and by which they filter them."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kmcf.cli import options
from kmcf.cli.group import note
from kmcf.cli.models import LoadedModel, load_model
from kmcf.cli.script import Code, Script, call
from kmcf.cli.sensors import check_sensor_widths, tell_silent
from kmcf.cli.showing import can_show_progress
from kmcf.cli.table_files import TableFiles, tell_gaps
from kmcf.cli.windows import add_windows

if TYPE_CHECKING:
    from kmcf.datasets import Recording


class Smoothing(NamedTuple):
    """How to smooth."""

    lag: int | None = None
    """By observations up to so many steps later; None: by all."""

    @classmethod
    def asked(cls, smooth: bool, lag: int | None) -> Smoothing | None:
        """Read the options ``--smooth`` and ``--lag``."""
        if smooth and lag is not None:
            raise ValueError("--smooth uses all observations and --lag those of a few steps more: choose one of them.")
        return cls(lag) if smooth or lag is not None else None


def add_filtering(
    script: Script,
    model: LoadedModel,
    tables: TableFiles,
    *,
    roles: tuple[str, ...],
    progress: bool,
    keep: bool | None = False,
    smoothing: Smoothing | None = None,
) -> Code:
    """Add the statements that read ``recordings`` and filter them as ``runs``, by a model that is called ``flt``.

    Parameters
    ----------
    script : Script
        Loads the model.
    model : LoadedModel
        The model.
    tables : TableFiles
        What is read.
    roles : tuple of str
        Whose columns are compared with those of the model: "state", "observation".
    progress : bool
        Show a progress bar.
    keep : bool or None
        Keep the beliefs; None: if they fit into memory.
    smoothing : Smoothing, optional
        Smooth, and how.

    Returns
    -------
    Code
        The call that filters, also where ``runs`` are smoothed.
    """
    add_reading(script, model, tables, roles=roles)
    seen = "by_sensor()" if tables.sensors else "observations"
    given = [Code(f"[recording.{role} for recording in recordings]") for role in (seen, "controls")]
    shown: dict[str, Any] = {"progress": True} if progress else {}
    if uses_times(model, tables):
        shown["times"] = Code("[recording.time for recording in recordings]")
    filtering = call("flt.filter_many", *given, **shown, keep_beliefs=keep)
    late: dict[str, Any] = {} if smoothing is None or smoothing.lag is None else {"lag": smoothing.lag}
    script.add(f"runs = {filtering if smoothing is None else call('flt.smooth_many', *given, **shown, **late)}")
    return filtering


def add_reading(script: Script, model: LoadedModel, tables: TableFiles, *, roles: tuple[str, ...]) -> None:
    """Add the statements that read ``recordings``, in the model's window, and compare them with the model."""
    source = tables.files[0].name

    def check(names: dict[str, Any]) -> None:
        recordings = names["recordings"]
        tell_gaps(recordings, tables.gaps)
        if tables.sensors:
            tell_silent(recordings)
            widths = {name: len(columns) for name, columns in recordings[0].sensors.items()}
            check_sensor_widths(model, widths, source)
        for role in roles if not tables.sensors else (role for role in roles if role != "observation"):
            model.check_width(role, recordings[0].names[f"{role}s"], source)
        for recording in recordings:
            _check_controls(recording, source)

    model.check_times(tables.time, source)
    script.add(tables.reading(), check=check)
    add_windows(script, tables.window)


def start_reading(
    name: str,
    model: Path,
    files: list[Path],
    columns: options.ColumnOptions,
    *,
    states: bool = False,
    sensors: bool = False,
    **more: Any,
) -> tuple[Script, LoadedModel, TableFiles]:
    """Start a script that loads a model as ``flt`` and reads files for it as ``recordings``.

    Parameters
    ----------
    name : str
        The command.
    model, files
        The model, and the files.
    columns : ColumnOptions
        What their columns are, where they are not those of the model.
    states : bool
        Read the states, too.
    sensors : bool
        Whether models of several sensors are taken.
    **more
        Further roles of columns.
    """
    from kmcf.datasets.column_files import column_names

    script = Script(name)
    loaded = load_model(script, model, columns.window)
    tables = loaded.tables(files, **more, **asdict(columns))
    if tables.sensors and not sensors:
        raise ValueError(f"{name} takes a model of one sensor; {model} has several.")
    tables = tables if states else replace(tables, state=())
    tables = tables.fitting(column_names(files[0], columns.encoding), files[0].name)
    add_reading(script, loaded, tables, roles=("state", "observation") if states else ("observation",))
    return script, loaded, tables


def driven(model: LoadedModel, tables: TableFiles) -> dict[str, Any]:
    """Return the arguments that hold the controls and times of ``recordings``, and whether progress is shown."""
    given: dict[str, Any] = {}
    if tables.control:
        given["controls"] = Code("[recording.controls for recording in recordings]")
    if uses_times(model, tables):
        given["times"] = Code("[recording.time for recording in recordings]")
    if can_show_progress():
        given["progress"] = True
    return given


def uses_times(model: LoadedModel, tables: TableFiles) -> bool:
    """Say whether the filter is told the times of a file; if it could not make anything of them, say so."""
    if tables.time is None or model.timed:
        return tables.time is not None
    if model.filter.transition is not None:
        note(f"{model.name} was fitted without times, so every row counts as one step, however late it comes.")
    return False


def _check_controls(recording: Recording, source: str) -> None:
    """Refuse moves whose control is missing; nothing drives the move to the first row."""
    import numpy as np

    if recording.controls is None:
        return
    missing = np.isnan(recording.controls[1:])
    unknown = np.flatnonzero(missing.any(axis=1))
    if len(unknown):
        column = recording.names["controls"][int(np.flatnonzero(missing[unknown[0]])[0])]
        raise ValueError(
            f"{column!r} is empty: row {unknown[0] + 2} of the sequence {recording.name!r} in {source} has no control."
        )
