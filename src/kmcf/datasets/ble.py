"""Bluetooth signal strengths along nine walked paths, shipped with the package (CC0)."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from importlib import resources

import numpy as np

from kmcf.arrays import FloatArray
from kmcf.datasets.recording import Recording

NO_SIGNAL = -100.0
STRONGEST = 0.0
_SUFFIX = "_all_sensors.mbd.gz"


def ble_tracks(window: float = 1.0) -> list[Recording]:
    """Load the nine tracks: positions (x, y) in metres, and the mean strength of each of twelve receivers per window.

    A receiver that heard nothing in a window gets −100 dBm. Impossible strengths (above 0 dBm; two of 16 018) are
    dropped.

    Parameters
    ----------
    window : float
        Length of the windows in seconds.

    Examples
    --------
    >>> tracks = ble_tracks()
    >>> len(tracks), tracks[0].states.shape[1], tracks[0].observations.shape[1]
    (9, 2, 12)
    """
    if not window > 0:
        raise ValueError(f"window = {window!r}; it must be a positive number of seconds.")
    folder = resources.files("kmcf.datasets") / "ble_tetam"
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(_SUFFIX)), key=lambda entry: entry.name)
    packets = {
        file.name.removesuffix(_SUFFIX): _packets(gzip.decompress(file.read_bytes()).decode().splitlines(), file.name)
        for file in files
    }
    receivers = sorted({receiver for _, names in packets.values() for receiver in names})
    return [_windowed(name, *rows, receivers, window) for name, rows in packets.items()]


def _packets(lines: Iterable[str], source: str) -> tuple[FloatArray, list[str]]:
    """Read packets: a table of time, strength, x, y, and the receivers."""
    numbers, receivers = [], []
    for count, line in enumerate(lines, start=1):
        fields = line.split(",")
        try:
            row = [float(fields[0]), float(fields[3]), float(fields[4]), float(fields[5])]
        except (IndexError, ValueError):
            raise ValueError(f"{source}, line {count}: not a packet: {line[:60]!r}.") from None
        if row[1] < STRONGEST:
            numbers.append(row)
            receivers.append(fields[1])
    return np.array(numbers), receivers


def _windowed(name: str, table: FloatArray, receivers: list[str], all_receivers: list[str], window: float) -> Recording:
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
    units = {"time": "s", "states": "m", "observations": "dBm"}
    return Recording(name, np.array(times), np.array(states), np.array(observations), units=units)
