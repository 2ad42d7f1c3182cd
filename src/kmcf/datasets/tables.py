"""Recordings from tables: files with one row per step, columns chosen by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.datasets.column_files import read_columns
from kmcf.datasets.columns import NamedColumns
from kmcf.datasets.recording import Recording
from kmcf.datasets.sensor_columns import sensor_columns
from kmcf.datasets.time_gaps import GAPS, check_timeless, usual_step, with_gaps
from kmcf.datasets.velocities import with_velocity_columns
from kmcf.numerics.arrays import FloatArray
from kmcf.support.plain_text import printable

DATES = "s since 1970"
Names = str | Sequence[str]


@dataclass(frozen=True)
class Roles:
    """Which columns hold what."""

    state: Names = ()
    observation: Names = ()
    control: Names = ()
    time: str | None = None
    sequence: str | None = None


def read_tables(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    state: Names = (),
    observation: Names = (),
    control: Names = (),
    time: str | None = None,
    sequence: str | None = None,
    angles: Names = (),
    gaps: str = "keep",
    step: float | None = None,
    encoding: str = "utf-8",
    sensors: Mapping[str, Names] | None = None,
    excluded: Names = (),
    velocities: bool = False,
) -> list[Recording]:
    r"""Read sequences from CSV, Parquet or NPZ files with one row per step.

    Parameters
    ----------
    files : path or list of paths
        CSV (a header line; commas, semicolons or tabs), ``.parquet`` or ``.npz``. Every file starts a new sequence.
    state, observation, control : str or list of str
        Columns by name or pattern (``"beacon_*"``). In an NPZ archive also arrays (n, d), whose columns are called
        ``name_0``, ``name_1``, ... Empty cells are NaN.
    time : str, optional
        Column of times, numbers or dates (ISO 8601). They must increase within a sequence. None: 0, 1, 2, ...
    sequence : str, optional
        Column that says which sequence a row belongs to; None: a file is one sequence.
    angles : str or list of str
        State columns that are angles in radians.
    gaps : {"keep", "split", "fill", "error"}
        What to do where time advances by more than 1.5 steps: nothing, start a new recording, insert rows without an
        observation, or raise an error. The number of gaps is ``recording.counts["gaps"]``.
    step : float, optional
        The usual time from row to row. None: the median.
    encoding : str
        Encoding of CSV files.
    sensors : mapping, optional
        Instead of ``observation``: name of each of several sensors to its columns. In a file that has none of them the
        sensor is silent. ``recording.by_sensor()`` and :func:`sensor_examples` tell the sensors apart.
    excluded : str or list of str
        Columns that a pattern of observations or controls matches and that are not meant, by name or pattern.
    velocities : bool
        Append velocities derived from the state columns: ``x`` gets ``x_velocity``.

    Returns
    -------
    list of Recording
        In order of their first rows.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "walk.csv"
    >>> _ = path.write_text("t,x,s1,s2\n0,1.5,-60,-71\n1,1.7,-62,\n4,,-65,-70\n")
    >>> read_tables(path, state="x", observation="s*", time="t")
    [Recording('walk', 3 steps, 1 unknown state)]
    """
    if gaps not in GAPS:
        raise ValueError(f"gaps = {gaps!r}; it must be {', '.join(GAPS)}.")
    if time is None:
        check_timeless(gaps)
    paths = [Path(files)] if isinstance(files, str | os.PathLike) else [Path(file) for file in files]
    tables: Iterable[NamedColumns] = (read_columns(path, encoding).without(_listed(excluded)) for path in paths)
    whose: dict[str, list[str]] = {}
    if sensors:
        tables = list(tables)
        whose = sensor_columns(tables, sensors)
        observation = [*_listed(observation), *(name for names in whose.values() for name in names)]
        tables = [table.completed(observation) for table in tables]
    roles = Roles(state, observation, control, time, sequence)
    recordings: list[Recording] = []
    for path, table, label in zip(paths, tables, labels_of(paths), strict=True):
        found = _sequences(table, roles, label)
        if recordings:
            _check_alike(recordings[0], found[0], paths[0], path)
        prefix = f"{label}/" if len(paths) > 1 and sequence is not None else ""
        recordings += [replace(recording, name=prefix + recording.name) for recording in found]
    if not recordings:
        raise ValueError("there are no files to read.")
    turning = tuple(_position(name, recordings[0].names["states"]) for name in _listed(angles))
    columns = {name: tuple(_listed(observation).index(column) for column in whose[name]) for name in whose}
    recordings = [replace(recording, angles=turning, sensors=columns) for recording in recordings]
    if time is not None:
        recordings = with_gaps(recordings, gaps, usual_step(recordings) if step is None else step)
    return [with_velocity_columns(recording) for recording in recordings] if velocities else recordings


def recordings_of(
    columns: NamedColumns, roles: Roles, *, name: str, angles: Names = (), gaps: str = "keep"
) -> list[Recording]:
    """Return the sequences in named columns, as :func:`read_tables` does for one file.

    Parameters
    ----------
    columns : NamedColumns
        The columns.
    roles : Roles
        What they hold.
    name : str
        Name of the sequence, if no column says which.
    angles : str or list of str
        State columns that are angles in radians.
    gaps : {"keep", "split", "fill", "error"}
        What to do where time advances by more than 1.5 steps.
    """
    found = _sequences(columns, roles, name)
    turning = tuple(_position(angle, found[0].names["states"]) for angle in _listed(angles))
    found = [replace(recording, angles=turning) for recording in found]
    return found if roles.time is None else with_gaps(found, gaps, usual_step(found))


def columns_of(recordings: Sequence[Recording]) -> dict[str, Any]:
    r"""Return the columns that recordings were read from, as :func:`read_tables` takes them, and the usual time step.

    Saved filters carry this, so that it need not be given again (``kmcf.store.save(flt, path, notes=...)``).

    Parameters
    ----------
    recordings : sequence of Recording
        As :func:`read_tables` returns them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "walk.csv"
    >>> _ = file.write_text("time,x,rssi\n0,1.0,-50\n2,1.5,-52\n")
    >>> columns = columns_of(read_tables(file, state="x", observation="rssi", time="time"))
    >>> columns["state"], columns["observation"], columns["step"]
    (['x'], ['rssi'], 2.0)
    """
    names = recordings[0].names
    step = usual_step(recordings) if names["time"] else float("nan")
    sensors = {name: [names["observations"][j] for j in columns] for name, columns in recordings[0].sensors.items()}
    return {
        **({"sensors": sensors} if sensors else {}),
        "state": list(names.get("positions", names["states"])),
        **({"velocities": True} if "positions" in names else {}),
        "observation": list(names["observations"]),
        "control": list(names["controls"]),
        "time": next(iter(names["time"]), None),
        "sequence": next(iter(names["sequence"]), None),
        "step": step if step > 0 else None,
    }


def labels_of(paths: Sequence[Path]) -> list[str]:
    """Return what to call files: their names, with as much before and behind as it takes to tell them apart.

    Examples
    --------
    >>> labels_of([Path("walk.csv")]), labels_of([Path("monday/walk.csv"), Path("tuesday/walk.csv")])
    (['walk'], ['monday/walk', 'tuesday/walk'])
    """
    different = len({path.resolve() for path in paths})
    deepest = max((len(path.resolve().parts) for path in paths), default=1)
    for folders in range(1, deepest):
        for shown in (Path.with_suffix, lambda path, _: path):
            labels = ["/".join(shown(path.resolve(), "").parts[-folders:]) for path in paths]
            if len(set(labels)) == different:
                return labels
    return [str(path) for path in paths]


def _sequences(columns: NamedColumns, roles: Roles, stem: str) -> list[Recording]:
    """Split the rows of one file into sequences."""
    chosen: dict[str, list[str]] = {}
    for role in ("state", "observation", "control", "time", "sequence"):
        taken = [name for names in chosen.values() for name in names]
        chosen[role] = columns.chosen(_listed(getattr(roles, role)), role, taken)
    for role in ("time", "sequence"):
        if len(chosen[role]) > 1:
            raise ValueError(f"the {role} must be one column, but {getattr(roles, role)!r} names {len(chosen[role])}.")
    both = [name for name in chosen["observation"] if name in chosen["state"]]
    if both:
        raise ValueError(
            f"the column {both[0]!r} is named as state and as observation: the filter would observe the answer; "
            "exclude it (--not)."
        )
    states, observations, controls = (columns.numbers(chosen[role]) for role in ("state", "observation", "control"))
    labels = columns.labels(chosen["sequence"][0]) if chosen["sequence"] else [stem] * len(columns)
    rows_of: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        rows_of.setdefault(label, []).append(row)
    times, dates = columns.times(chosen["time"][0]) if chosen["time"] else (None, False)
    names = {
        "states": tuple(chosen["state"]),
        "observations": tuple(chosen["observation"]),
        "controls": tuple(chosen["control"]),
        "time": tuple(chosen["time"]),
        "sequence": tuple(chosen["sequence"]),
    }
    recordings = []
    for label, rows in rows_of.items():
        time = np.arange(len(rows), dtype=np.float64) if times is None else times[rows]
        if times is not None:
            _check_increasing(time, rows, columns, chosen["time"][0])
        driven = controls[rows] if controls.shape[1] else None
        units = {"time": DATES} if dates else {}
        recordings.append(Recording(label, time, states[rows], observations[rows], driven, units, names))
    return recordings


def _check_increasing(time: FloatArray, rows: list[int], columns: NamedColumns, name: str) -> None:
    unknown = np.flatnonzero(~np.isfinite(time))
    if len(unknown):
        problem = "missing" if np.isnan(time[unknown[0]]) else "infinite"
        raise ValueError(f"{columns.where(rows[unknown[0]], name)}: the time is {problem}.")
    back = np.flatnonzero(np.diff(time) <= 0)
    if len(back):
        late, early = time[back[0]], time[back[0] + 1]
        raise ValueError(
            f"{columns.where(rows[back[0] + 1], name)}: time {early:g} does not come after {late:g}; sort the rows by "
            "time, or name the column that tells sequences apart."
        )


def _check_alike(first: Recording, other: Recording, path: Path, other_path: Path) -> None:
    """Check that names and patterns match the same columns in two files."""
    for role, names in first.names.items():
        if role not in ("time", "sequence") and other.names[role] != names:
            found, expected = ", ".join(other.names[role]), ", ".join(names)
            raise ValueError(printable(f"{other_path.name} has the {role} {found}, but {path.name} has {expected}."))


def _position(name: str, states: Sequence[str]) -> int:
    if name not in states:
        raise ValueError(f"the angle {name!r} is not one of the state columns ({', '.join(states)}).")
    return list(states).index(name)


def _listed(names: Names | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)
