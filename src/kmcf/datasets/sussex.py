"""Panoramic images along an outdoor route, with the position of the robot that took them (Sussex, ALIFE 2019)."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.datasets.pictures import decoded, warn_of_unreadable
from kmcf.datasets.recording import Recording
from kmcf.datasets.text import Damage, existing, finite_numbers, in_order, numbered_lines, read_table, warn_of_damage
from kmcf.numerics.arrays import BoolArray, FloatArray

RUNS = {
    "training": ("training.csv", "images_training.zip", "training_path_scaled.csv", 0.0),
    "infomax": ("testing_infomax.csv", "images_test_infomax.zip", "testing_path_infomax_scaled.csv", 0.0),
    "infomax_binary": (
        "testing_infomax_binary.csv",
        "images_test_infomax_binary.zip",
        "testing_path_infomax_binary_scaled.csv",
        -5.0,
    ),
}
"""Files of each run: times of images, images, positions; and seconds to add to an image's time to find its position."""


def sussex_route(
    path: str | os.PathLike[str],
    run: str = "training",
    *,
    offset: float | None = None,
    max_gap: float = 0.5,
    strict: bool = False,
) -> Recording:
    """Load one run: positions (x, y) in metres, panoramic images (25, 120, 3) of 3 degrees per column.

    Positions come from a camera with a clock of its own and are interpolated; where they are not known the state is
    NaN. In the test runs the robot chose a turn at each image, which is the control of the next step, in radians.

    Parameters
    ----------
    path : str or path
        Folder with the csv files, and the images in zip files or in folders of the same name without ".zip".
    run : {"training", "infomax", "infomax_binary"}
        Which run.
    offset : float, optional
        Seconds to add to an image's time to find its position. None: 0, for "infomax_binary" −5, where images and
        positions agree best.
    max_gap : float
        Seconds: positions further apart are not interpolated.
    strict : bool
        Make a malformed line an error. Otherwise such lines are left out and counted, with a warning.

    Examples
    --------
    >>> route = sussex_route("sussex_route_vision", "training")  # doctest: +SKIP
    >>> route.observations.shape  # doctest: +SKIP
    """
    if run not in RUNS:
        raise ValueError(f"run = {run!r}; it must be one of {', '.join(RUNS)}.")
    folder = Path(path)
    times_file, images_file, track_file, usual = RUNS[run]
    damages = [Damage(str(folder / times_file), strict), Damage(str(folder / track_file), strict)]
    times, turns, files = _schedule(existing(folder / times_file), damages[0])
    track = in_order(read_table(existing(folder / track_file), 3, damages[1], separator=","))
    if not times or len(track) < 2:
        raise ValueError(
            f"the run {run!r} in {folder} has {len(times)} readable images and {len(track)} readable positions."
        )
    wanted = np.array(times) + (usual if offset is None else offset)
    images, unreadable = _images(folder / images_file, files)
    controls = None
    if turns:
        controls = np.deg2rad([0.0, *turns[:-1]])[:, None]
    return Recording(
        run,
        np.array(times) - times[0],
        _positions(track, wanted, max_gap),
        images,
        controls,
        units={"time": "s", "states": "m", "observations": "pixels"} | ({"controls": "rad"} if turns else {}),
        names={"states": ("x", "y")} | ({"controls": ("turn",)} if turns else {}),
        counts={
            "malformed lines": warn_of_damage(damages),
            "unreadable images": warn_of_unreadable(unreadable, str(folder / images_file)),
            "clock gaps": int(np.sum(np.diff(track[:, 0]) / 1000.0 > max_gap)),
        },
    )


def _schedule(file: Path, damage: Damage) -> tuple[list[float], list[float], list[str]]:
    """Read when each image was taken, the turn chosen there (if any), and the image's name."""
    times, turns, files = [], [], []
    for number, line in numbered_lines(file, damage):
        fields = [field.strip() for field in line.split(",")]
        if number == 1 or not line.strip():
            continue
        try:
            if len(fields) not in (2, 4) or not fields[-1]:
                raise ValueError("wrong number of fields")
            values = finite_numbers([fields[0], *(field.removesuffix(" deg") for field in fields[1:-2])])
        except ValueError:
            damage.skip(number, f"not a time and an image: {line[:60]!r}")
            continue
        times.append(values[0])
        turns += values[1:2]
        files.append(fields[-1].rpartition("/")[2])
    return times, turns, files


def _positions(track: FloatArray, wanted: FloatArray, max_gap: float) -> FloatArray:
    """Interpolate positions (ms, cm, cm) to metres at times in seconds; NaN outside the track and inside gaps."""
    times = track[:, 0] / 1000.0
    positions = np.stack([np.interp(wanted, times, column) / 100.0 for column in track[:, 1:].T], axis=1)
    later = np.clip(np.searchsorted(times, wanted), 1, len(times) - 1)
    unknown: BoolArray = (wanted < times[0]) | (wanted > times[-1]) | (times[later] - times[later - 1] > max_gap)
    positions[unknown] = np.nan
    return positions


def _images(archive: Path, files: list[str]) -> tuple[list[Any], list[str]]:
    """Read the images; those that cannot be read are None, and listed."""
    images: list[Any] = []
    if archive.is_file():
        with zipfile.ZipFile(archive) as packed:
            inside = {name.rpartition("/")[2]: name for name in packed.namelist()}
            images = [decoded(packed.read(inside[file])) if file in inside else None for file in files]
    elif archive.with_suffix("").is_dir():
        plain = archive.with_suffix("")
        images = [decoded((plain / file).read_bytes()) if (plain / file).is_file() else None for file in files]
    else:
        raise FileNotFoundError(f"there is neither an archive {archive} nor a folder {archive.stem}.")
    return images, [file for file, image in zip(files, images, strict=True) if image is None]
