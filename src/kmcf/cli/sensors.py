"""Several sensors in tables: which columns are whose, and what is said about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kmcf.cli.group import note

if TYPE_CHECKING:
    from kmcf.datasets import Recording


def sensor_words(words: Sequence[str] | None) -> dict[str, list[str]]:
    """Read ``NAME=COLUMNS`` words; a sensor may be named several times.

    Examples
    --------
    >>> sensor_words(["wifi=rssi_*", "camera=px_1,px_2"])
    {'wifi': ['rssi_*'], 'camera': ['px_1,px_2']}
    """
    found: dict[str, list[str]] = {}
    for word in words or ():
        name, equals, columns = word.partition("=")
        if not equals or not name.strip() or not columns.strip():
            raise ValueError(f"--sensor {word}: it must be NAME=COLUMNS, as in wifi='rssi_*'.")
        found.setdefault(name.strip(), []).append(columns.strip())
    return found


def chosen_sensors(model: Any, words: Sequence[str] | None, observation: Any) -> dict[str, list[str]]:
    """Return the columns of the sensors of a model: those that its file names, or others; nothing if it has one sensor.

    Parameters
    ----------
    model : LoadedModel
        The model.
    words : list of str or None
        What ``--sensor`` was given.
    observation : list of str or None
        What ``--observation`` was given.
    """
    sensors, given = sensors_of(model.filter), sensor_words(words)
    if not sensors:
        if given:
            raise ValueError(f"{model.name} has one sensor: name its columns with --observation.")
        return {}
    listed = ", ".join(sensors)
    if observation:
        raise ValueError(f"{model.name} has the sensors {listed}: name their columns with --sensor NAME=COLUMNS.")
    columns = {**model.columns.get("sensors", {}), **given}
    for name in columns:
        if name not in sensors:
            raise ValueError(f"{model.name} has no sensor {name!r}; it has {listed}.")
    for name in sensors:
        if name not in columns:
            raise ValueError(f"{model.name} does not say which columns {name!r} has: --sensor {name}=COLUMNS.")
    return columns


def sensors_of(flt: Any) -> dict[str, Any]:
    """Return the filters of several sensors, by name; nothing where there is one sensor."""
    return getattr(flt, "sensors_", None) or {}


def check_sensor_widths(model: Any, widths: Mapping[str, int], source: str) -> None:
    """Compare the number of columns of each sensor with what it was fitted to."""
    for name, width in widths.items():
        fitted = sensors_of(model.filter)[name].reader_.shape[0]
        if width != fitted:
            raise ValueError(f"{model.name} knows {fitted} columns of the sensor {name!r}, but {source} gives {width}.")


def tell_silent(recordings: Sequence[Recording]) -> None:
    """Say where a sensor never spoke, since a column may have been misspelt."""
    import numpy as np

    names = list(dict.fromkeys(recording.name for recording in recordings))
    for sensor in recordings[0].sensors:
        spoke = {recording.name for recording in recordings if not np.isnan(recording.by_sensor()[sensor]).all()}
        silent = [name for name in names if name not in spoke]
        if silent:
            shown = ", ".join(repr(name) for name in silent[:3]) + (", ..." if len(silent) > 3 else "")
            note(f"the sensor {sensor!r} says nothing in {shown}.")


def about_sensors(flt: Any, examples: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Say what was fitted to the examples of each sensor."""
    found = {}
    for name, sensor in sensors_of(flt).items():
        found[name] = {
            "examples": len(examples[name][0]),
            "observation": list(columns[name]),
            "observation_kernel": repr(sensor.observation_kernel_),
            "floor": floor_of(sensor),
            "epsilon": sensor.epsilon_,
            "delta": sensor.delta_,
            "engine": sensor.engine_,
            "ranks": list(sensor.ranks_),
        }
    return found


def floor_of(flt: Any) -> list[float | None] | None:
    """Return what empty cells stand for, per column (None: they are missing); None if there is no floor at all.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> floor_of(SimpleNamespace(floor_=[-100.0, float("nan")]))
    [-100.0, None]
    """
    return None if flt.floor_ is None else [None if value != value else float(value) for value in flt.floor_]
