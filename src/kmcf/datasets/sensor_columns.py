"""Several sensors in one table or several: which columns are whose, and the examples of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kmcf.datasets.columns import NamedColumns
from kmcf.datasets.recording import Recording
from kmcf.numerics.arrays import FloatArray


def sensor_columns(tables: Sequence[NamedColumns], sensors: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the names of each sensor's columns. A table that has none of them is one where the sensor is silent.

    Parameters
    ----------
    tables : sequence of NamedColumns
        All tables.
    sensors : mapping
        Name of each sensor to names or patterns of columns.

    Examples
    --------
    >>> monday = NamedColumns({"x": np.zeros(2), "rssi_1": np.zeros(2), "rssi_2": np.zeros(2)}, "monday.csv")
    >>> tuesday = NamedColumns({"x": np.zeros(2), "px": np.zeros(2)}, "tuesday.csv")
    >>> sensor_columns([monday, tuesday], {"wifi": "rssi_*", "camera": "px"})
    {'wifi': ['rssi_1', 'rssi_2'], 'camera': ['px']}
    """
    found: dict[str, list[str]] = {}
    known = False
    for name, wanted in sensors.items():
        words = [wanted] if isinstance(wanted, str) else list(wanted)
        having = [table for table in tables if not table.lacks(words)]
        known = known or bool(having)
        found[name] = _agreed(name, words, having) if having else _explicit(name, words, tables)
    if not known:
        listed = ", ".join(repr(name) for name in sensors)
        sources = ", ".join(table.source for table in tables[:3])
        raise ValueError(f"{sources}: there is no column of any sensor ({listed}).")
    return found


def sensor_examples(recordings: Recording | Iterable[Recording]) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the examples of each sensor, as ``fit`` takes them: the steps with a known state at which it spoke.

    Parameters
    ----------
    recordings : Recording or several
        As ``read_tables(..., sensors=...)`` returns them.

    Examples
    --------
    >>> nan = np.nan
    >>> seen = np.array([[1.0, nan], [2.0, 5.0]])
    >>> walk = Recording("walk", np.arange(2.0), np.zeros((2, 1)), seen, sensors={"wifi": (0,), "camera": (1,)})
    >>> {name: observations.tolist() for name, (_, observations) in sensor_examples(walk).items()}
    {'wifi': [[1.0], [2.0]], 'camera': [[5.0]]}
    """
    several = [recordings] if isinstance(recordings, Recording) else list(recordings)
    if not several or not several[0].sensors:
        raise ValueError("there are no recordings of several sensors; read_tables(..., sensors=...) makes them.")
    found = {}
    for name in several[0].sensors:
        states, observations = [], []
        for recording in several:
            said = recording.by_sensor()[name]
            rows = recording.known & ~np.isnan(said).all(axis=1)
            states.append(recording.states[rows])
            observations.append(said[rows])
        found[name] = np.concatenate(states), np.concatenate(observations)
        if not len(found[name][0]):
            raise ValueError(f"the sensor {name!r} has no examples: no row has both a state and any of its columns.")
    return found


def _agreed(name: str, words: list[str], having: Sequence[NamedColumns]) -> list[str]:
    """Return the columns that words refer to, the same in all tables."""
    first, *others = having
    columns = first.chosen(words, f"sensor {name!r}")
    for table in others:
        other = table.chosen(words, f"sensor {name!r}")
        if other != columns:
            raise ValueError(
                f"{table.source} has the columns {', '.join(other)} of the sensor {name!r}, but {first.source} has "
                f"{', '.join(columns)}."
            )
    return columns


def _explicit(name: str, words: list[str], tables: Sequence[NamedColumns]) -> list[str]:
    """Return the columns of a sensor that no table has, if they are named one by one."""
    columns = [part.strip() for word in words for part in word.split(",")]
    if any(set(column) & set("*?[") for column in columns):
        sources = ", ".join(table.source for table in tables[:3])
        raise ValueError(f"{sources}: there is no column {', '.join(columns)} for the sensor {name!r}.")
    return columns
