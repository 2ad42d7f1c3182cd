"""Spikes and position from NWB files and from objects like pynapple's."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from kmcf.datasets.recording import Recording
from kmcf.datasets.spikes import spikes_to_counts
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.support.extras import require


def from_pynapple(spikes: Any, position: Any, bin: float = 0.25, least_speed: float | None = None) -> Recording:
    """Turn a group of spike trains and a tracked position into a recording.

    Nothing is imported: all that counts is that the objects look like pynapple's ``TsGroup`` and ``Tsd`` or
    ``TsdFrame``.

    Parameters
    ----------
    spikes : TsGroup, or mapping of units to objects with times ``t``, or to arrays of times
        The spike trains.
    position : Tsd or TsdFrame
        Anything with times ``t`` and values ``d`` (or ``values``).
    bin, least_speed : float
        As in :func:`spikes_to_counts`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> position = SimpleNamespace(t=np.arange(0.0, 1.25, 0.25), d=np.arange(5.0))
    >>> from_pynapple({0: SimpleNamespace(t=[0.1]), 7: SimpleNamespace(t=[0.2, 0.6])}, position, 0.5).observations
    array([[1., 1.],
           [0., 1.]])
    """
    if not (hasattr(spikes, "keys") and hasattr(spikes, "__getitem__")):
        raise TypeError(f"spikes is a {type(spikes).__name__}; it must be a TsGroup or a mapping of units to trains.")
    values = getattr(position, "d", getattr(position, "values", None))
    if not hasattr(position, "t") or values is None:
        raise TypeError(f"position is a {type(position).__name__}; it must have times t and values d, as a Tsd has.")
    units = list(spikes.keys())
    trains = [np.asarray(getattr(spikes[unit], "t", spikes[unit]), dtype=np.float64).ravel() for unit in units]
    return _joined(units, trains, np.asarray(position.t), np.asarray(values), bin, least_speed, "pynapple")


def read_nwb(
    path: str | os.PathLike[str],
    position: str | None = None,
    bin: float = 0.25,
    least_speed: float | None = None,
) -> Recording:
    """Read the units and a tracked position of an NWB file (``pip install 'kmcf[nwb]'``).

    Parameters
    ----------
    path : str or path
        The file. Units are read from ``/units``.
    position : str, optional
        Where in the file the position is, such as ``processing/behavior/Position/SpatialSeries``. None: the only
        ``SpatialSeries`` of the file; if there are several, the error lists them.
    bin, least_speed : float
        As in :func:`spikes_to_counts`.

    Examples
    --------
    >>> recording = read_nwb("sub-01_ses-01.nwb", bin=0.1)  # doctest: +SKIP
    >>> recording.observations.shape  # doctest: +SKIP
    """
    h5py = require("h5py", "nwb")
    with h5py.File(path, "r") as file:
        if "units" not in file or "spike_times" not in file["units"]:
            raise ValueError(f"{os.fspath(path)} has no units/spike_times: no sorted spikes.")
        where = _position_in(file, position, h5py)
        series = file[where]
        values = np.asarray(series["data"], dtype=np.float64) * float(series["data"].attrs.get("conversion", 1.0))
        times, unit_of_length = _times(series, len(values)), str(series["data"].attrs.get("unit", ""))
        units, trains = _units(file["units"])
    name = os.path.splitext(os.path.basename(os.fspath(path)))[0]
    return _joined(units, trains, times, values, bin, least_speed, name, unit_of_length)


def _position_in(file: Any, wanted: str | None, h5py: Any) -> str:
    found: list[str] = []

    def visit(name: str, node: Any) -> None:
        if isinstance(node, h5py.Group) and _text(node.attrs.get("neurodata_type", "")) == "SpatialSeries":
            found.append(name)

    if wanted is not None:
        if wanted not in file or "data" not in file[wanted]:
            raise ValueError(f"the file has no series {wanted!r}.")
        return wanted
    file.visititems(visit)
    if len(found) != 1:
        listed = f": {', '.join(found)}; name one with position=" if found else ""
        raise ValueError(f"the file has {len(found)} SpatialSeries{listed}.")
    return found[0]


def _times(series: Any, count: int) -> FloatArray:
    if "timestamps" in series:
        return np.asarray(series["timestamps"], dtype=np.float64)
    start = series["starting_time"]
    return np.asarray(float(start[()]) + np.arange(count) / float(start.attrs["rate"]))


def _units(table: Any) -> tuple[list[Any], list[FloatArray]]:
    """Return the units' numbers and their spike times, which NWB keeps in one array with an index of ends."""
    ends: IntArray = np.asarray(table["spike_times_index"], dtype=np.intp)
    times = np.asarray(table["spike_times"], dtype=np.float64)
    units = list(np.asarray(table["id"])) if "id" in table else list(range(len(ends)))
    return units, np.split(times, ends)[: len(ends)]


def _joined(
    units: list[Any],
    trains: list[FloatArray],
    times: FloatArray,
    values: FloatArray,
    bin: float,
    least_speed: float | None,
    name: str,
    unit_of_length: str = "",
) -> Recording:
    if not units:
        raise ValueError("there are no units.")
    labels = np.repeat(np.asarray(units), [len(train) for train in trains])
    return spikes_to_counts(
        np.concatenate(trains), labels, times, values, bin, least_speed, name=name, unit_of_length=unit_of_length
    )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
