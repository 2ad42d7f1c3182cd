"""Spikes of a rat on a linear track, shipped with the package (MIT)."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

import numpy as np

from kmcf.datasets.recording import Recording
from kmcf.datasets.spikes import spikes_to_counts

FILE = "linear_track.npz"
ARRAYS = ("spike_time", "spike_unit", "position_time", "position")


def linear_track(
    bin: float = 0.25, least_speed: float | None = 20.0, path: str | os.PathLike[str] | None = None
) -> Recording:
    """Load the linear track: position (x, y) in pixels, and the spikes of 31 units per bin.

    Parameters
    ----------
    bin : float
        Length of a bin in seconds.
    least_speed : float, optional
        Keep only bins in which the rat runs faster (pixels per second, averaged over five bins). None: all.
    path : str or path, optional
        An NPZ file of the same format, or a folder that holds ``linear_track.npz``. None: the one in the package.

    Examples
    --------
    >>> track = linear_track()
    >>> track.states.shape, track.observations.shape
    ((1596, 2), (1596, 31))
    """
    given = Path(str(resources.files("kmcf.datasets"))) / "linear_track_nelpy" if path is None else Path(path)
    file = given / FILE if given.is_dir() else given
    with np.load(file, allow_pickle=False) as arrays:
        missing = [name for name in ARRAYS if name not in arrays]
        if missing:
            raise ValueError(f"{file} has no array {', '.join(missing)}; it must have {', '.join(ARRAYS)}.")
        spike_time, spike_unit, position_time, position = (arrays[name] for name in ARRAYS)
    return spikes_to_counts(
        spike_time, spike_unit, position_time, position, bin, least_speed, name="linear track", unit_of_length="px"
    )
