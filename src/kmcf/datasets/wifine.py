"""WiFine: walks through a building of three floors with the WiFi strengths of 436 access points (MIT licence)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from kmcf.datasets.recording import Recording
from kmcf.numerics.arrays import FloatArray

PARTS = ("train", "val")
_ARRAYS = ("rss", "states", "floor", "time", "sequence", "names")


def wifine(path: str | os.PathLike[str], part: str = "train") -> list[Recording]:
    """Load the walks: positions (x, y, z) in metres and strengths in dBm, −100 where an access point was not heard.

    A scan comes about every five seconds, at irregular times.

    Parameters
    ----------
    path : str or path
        Folder with ``train.npz`` and ``val.npz``: arrays ``rss`` (n, 436), ``states`` (n, 3), ``floor``, ``time`` and
        ``sequence`` (n,), and ``names``, one per walk; ``sequence`` says which walk a row belongs to.
    part : {"train", "val"}
        Which walks.

    Examples
    --------
    >>> walks = wifine("wifine", "train")  # doctest: +SKIP
    >>> walks[0].observations.shape  # doctest: +SKIP
    """
    if part not in PARTS:
        raise ValueError(f"part = {part!r}; it must be one of {', '.join(map(repr, PARTS))}.")
    file = Path(path) / f"{part}.npz"
    if not file.exists():
        raise FileNotFoundError(f"{Path(path)} holds no file {part}.npz.")
    arrays = _read(file)
    sequence = arrays["sequence"]
    counts = np.bincount(sequence, minlength=len(arrays["names"]))
    return [_walk(str(name), k, arrays) for k, name in enumerate(arrays["names"]) if counts[k]]


def with_elapsed_times(recording: Recording) -> Recording:
    """Return a recording with velocities beside its positions, and the time since the step before as its control.

    That is what :class:`~kmcf.transitions.ConstantVelocity` with ``step=None`` takes. Velocities are differences to the
    step before, so that a state (position, velocity) tells where the object was a moment ago: signal strengths are
    often some seconds old when they arrive.

    Parameters
    ----------
    recording : Recording
        With at least two steps, at increasing times.

    Examples
    --------
    >>> walk = Recording("walk", np.array([0.0, 2.0, 6.0]), np.array([[0.0], [1.0], [5.0]]), np.zeros((3, 1)))
    >>> moving = with_elapsed_times(walk)
    >>> moving.states.tolist(), moving.controls.ravel().tolist()
    ([[0.0, 0.5], [1.0, 0.5], [5.0, 1.0]], [2.0, 2.0, 4.0])
    """
    if len(recording) < 2:
        raise ValueError(f"{recording!r} has a single step; velocities need two.")
    elapsed = np.diff(recording.time)
    if not np.all(elapsed > 0):
        raise ValueError(f"the times of {recording!r} do not increase.")
    speeds = np.diff(recording.states, axis=0) / elapsed[:, None]
    velocities = np.concatenate([speeds[:1], speeds])
    return replace(
        recording,
        states=np.concatenate([recording.states, velocities], axis=1),
        controls=np.concatenate([elapsed[:1], elapsed])[:, None],
        names={**recording.names, "states": _with_speeds(recording), "controls": ("elapsed",)},
        units={**recording.units, "controls": "s"},
    )


def _with_speeds(recording: Recording) -> tuple[str, ...]:
    known = recording.names.get("states", tuple(f"x{j}" for j in range(recording.states.shape[1])))
    return (*known, *(f"v_{name}" for name in known))


def _read(file: Path) -> Mapping[str, Any]:
    try:
        with np.load(file, allow_pickle=False) as stored:
            missing = [name for name in _ARRAYS if name not in stored]
            arrays = {} if missing else {name: stored[name] for name in _ARRAYS}
    except (BadZipFile, OSError, ValueError) as error:
        raise ValueError(f"{file} cannot be read as an NPZ file: {error}.") from error
    if missing:
        raise ValueError(f"{file} has no array {', '.join(missing)}.")
    n = len(arrays["sequence"])
    for name in _ARRAYS[:-1]:
        if len(arrays[name]) != n:
            raise ValueError(f"{file}: {name} has {len(arrays[name])} rows, but sequence has {n}.")
    if n and not (arrays["sequence"].min() >= 0 and arrays["sequence"].max() < len(arrays["names"])):
        raise ValueError(f"{file}: sequence points beyond the {len(arrays['names'])} names.")
    return arrays


def _walk(name: str, k: int, arrays: Mapping[str, Any]) -> Recording:
    chosen = np.flatnonzero(arrays["sequence"] == k)
    time: FloatArray = np.asarray(arrays["time"][chosen], dtype=np.float64)
    order = np.argsort(time, kind="stable")
    chosen, time = chosen[order], time[order]
    return Recording(
        name,
        time - time[0],
        np.asarray(arrays["states"][chosen], dtype=np.float64),
        np.asarray(arrays["rss"][chosen], dtype=np.float64),
        units={"time": "s", "states": "m", "observations": "dBm"},
        names={"states": ("x", "y", "z")},
    )
