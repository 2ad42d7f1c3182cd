"""Bluetooth signal strengths along nine walked paths, shipped with the package (CC0)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

import numpy as np

from kmcf.datasets.recording import Recording
from kmcf.datasets.text import Damage, finite_numbers, numbered_lines, warn_of_damage
from kmcf.numerics.arrays import FloatArray

NO_SIGNAL = -100.0
STRONGEST = 0.0
_SUFFIX = "_all_sensors.mbd"
_UNITS = {"time": "s", "states": "m", "observations": "dBm"}


def ble_tracks(
    window: float = 1.0, path: str | os.PathLike[str] | None = None, *, strict: bool = False
) -> list[Recording]:
    """Load the nine tracks: positions (x, y) in metres, and the mean strength of each of twelve receivers per window.

    A receiver that heard nothing in a window gets −100 dBm. Impossible strengths (0 dBm and above; two of 16 018) are
    dropped and counted. A window without any packet is left out, so that time may advance by more than one window.

    Parameters
    ----------
    window : float
        Length of the windows in seconds.
    path : str or path, optional
        Folder with files ``*_all_sensors.mbd`` or ``.mbd.gz`` of the same format. None: the tracks in the package.
    strict : bool
        Make a malformed line an error. Otherwise such lines are left out and counted, with a warning.

    Examples
    --------
    >>> tracks = ble_tracks()
    >>> len(tracks), tracks[0].states.shape[1], tracks[0].observations.shape[1]
    (9, 2, 12)
    """
    if not window > 0:
        raise ValueError(f"window = {window!r}; it must be a positive number of seconds.")
    folder = packaged_folder() if path is None else Path(path)
    files = sorted(file for file in folder.glob(f"*{_SUFFIX}*") if file.name.endswith((_SUFFIX, _SUFFIX + ".gz")))
    if not files:
        raise FileNotFoundError(f"{folder} holds no file *{_SUFFIX} or *{_SUFFIX}.gz.")
    damages = {file.name.partition(_SUFFIX)[0]: Damage(str(file), strict) for file in files}
    packets = {
        name: _packets(numbered_lines(file, damage), damage)
        for (name, damage), file in zip(damages.items(), files, strict=True)
    }
    warn_of_damage(damages.values())
    receivers = sorted({receiver for _, heard_by, _ in packets.values() for receiver in heard_by})
    recordings = []
    for name, (table, heard_by, impossible) in packets.items():
        if not len(table):
            raise ValueError(f"{damages[name].file} holds no readable packet.")
        counts = {"malformed lines": len(damages[name].places), "impossible strengths": impossible}
        recordings.append(_windowed(name, table, heard_by, receivers, window, counts))
    return recordings


def ble_receivers() -> dict[str, tuple[float, float, float]]:
    """Return the positions (x, y, height) of the twelve receivers in metres, in the order of the columns of strengths.

    Examples
    --------
    >>> len(ble_receivers())
    12
    """
    first = (packaged_folder() / "tetam.dev").read_text().splitlines()[0]
    devices = json.loads(first.partition(":")[2])
    places = {name: devices[name][0] for name in sorted(devices)}
    return {name: (float(x), float(y), float(height)) for name, (x, y, height) in places.items()}


def packaged_folder() -> Path:
    """Return the folder of the data in the package."""
    return Path(str(resources.files("kmcf.datasets"))) / "ble_tetam"


def _packets(lines: Iterable[tuple[int, str]], damage: Damage) -> tuple[FloatArray, list[str], int]:
    """Read packets: a table of time, strength, x, y; the receivers; and how many strengths were impossible."""
    numbers, receivers, impossible = [], [], 0
    for count, line in lines:
        fields = line.split(",")
        try:
            row = finite_numbers([fields[0], *fields[3:6]])
            receiver = fields[1].strip()
            if len(row) != 4 or not receiver:
                raise ValueError("fields are missing")
        except (IndexError, ValueError):
            damage.skip(count, f"not a packet: {line[:60]!r}")
            continue
        if row[1] < STRONGEST:
            numbers.append(row)
            receivers.append(receiver)
        else:
            impossible += 1
    return np.array(numbers).reshape(-1, 4), receivers, impossible


def _windowed(
    name: str,
    table: FloatArray,
    receivers: list[str],
    all_receivers: list[str],
    window: float,
    counts: dict[str, int],
) -> Recording:
    start = float(table[:, 0].min())
    slots = ((table[:, 0] - start) // window).astype(int)
    columns = np.array([all_receivers.index(receiver) for receiver in receivers])
    times, states, observations = [], [], []
    for slot in np.unique(slots):
        chosen = slots == slot
        heard = np.bincount(columns[chosen], minlength=len(all_receivers))
        sums = np.bincount(columns[chosen], weights=table[chosen, 1], minlength=len(all_receivers))
        observations.append(np.where(heard > 0, sums / np.maximum(heard, 1), NO_SIGNAL))
        states.append(table[chosen, 2:].mean(axis=0))
        times.append(slot * window)
    counts = counts | {"clock gaps": int(np.sum(np.diff(np.unique(slots)) > 1))}
    names = {"states": ("x", "y"), "observations": tuple(all_receivers)}
    return Recording(
        name, np.array(times), np.array(states), np.array(observations), units=dict(_UNITS), names=names, counts=counts
    )
