"""The COLD database: camera images named by time and pose, and the odometry of the robot that took them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.datasets.pictures import decoded, looks_whole, warn_of_unreadable
from kmcf.datasets.recording import MOTION, Recording
from kmcf.datasets.text import Damage, existing, finite_numbers, in_order, numbered_lines, warn_of_damage
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.poses import interpolated, odometry_controls

_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_NAME = re.compile(rf"t{_NUMBER}_x{_NUMBER}_y{_NUMBER}_a{_NUMBER}\.(?:jpe?g|png)", re.IGNORECASE)
_PICTURES = (".jpeg", ".jpg", ".png")
ODOMETRY = "odom_scans/odom.tdf"


def cold(
    path: str | os.PathLike[str],
    *,
    camera: str = "std_cam",
    odometry: str | os.PathLike[str] | None = None,
    images: str = "files",
    max_gap: float = 1.0,
    strict: bool = False,
) -> Recording:
    """Load one sequence of the COLD database (COsy Localization Database; Pronobis and Caputo, IJRR 2009).

    A sequence is a folder with the images in ``std_cam`` or ``omni_cam``, named
    ``t<time>_x<x>_y<y>_a<heading>.jpeg``, and the odometry in ``odom_scans/odom.tdf``. States are the poses (x, y,
    heading) in the names. Controls are the motions that the odometry measured between images, (rotation, translation,
    rotation); without an odometry file there are none.

    Parameters
    ----------
    path : str or path
        Folder of the sequence, or of its images.
    camera : {"std_cam", "omni_cam"}
        Folder of the images within the sequence.
    odometry : str or path, optional
        The odometry file. None: ``odom_scans/odom.tdf`` of the sequence, if there is one.
    images : {"files", "pixels"}
        "files": observations are the paths of the images, which :class:`~kmcf.kernels.SpatialPyramid` reads itself.
        "pixels": arrays (height, width, 3). Either way an image that cannot be read is a missing observation (None),
        counted, and a warning says so; for "files" only the beginning and end of the file are checked.
    max_gap : float
        Seconds: longer gaps between odometry messages, and images further than this from any message, are counted as
        "clock gaps". Odometry poses are interpolated all the same, since no motion is lost in a gap.
    strict : bool
        Make malformed lines and names errors. Otherwise they are left out and counted, with a warning.

    Examples
    --------
    >>> sequence = cold("saarbrucken/seq1_cloudy1")  # doctest: +SKIP
    >>> sequence.states.shape, sequence.observations[0]  # doctest: +SKIP
    """
    if images not in ("files", "pixels"):
        raise ValueError(f"images = {images!r}; it must be 'files' or 'pixels'.")
    sequence = Path(path)
    folder = sequence / camera if (sequence / camera).is_dir() else sequence
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}.")
    damage = Damage(str(folder), strict)
    stamps, files = _named_images(folder, damage)
    if not files:
        raise ValueError(f"{folder} holds no image named t<time>_x<x>_y<y>_a<heading>.jpeg.")
    observations, unreadable = _observations(files, images)
    damages, controls, gaps = [damage], None, 0
    source = _odometry_file(sequence if folder != sequence else sequence.parent, odometry)
    if source is not None:
        damages.append(Damage(str(source), strict))
        controls, gaps = _controls(source, stamps[:, 0], max_gap, damages[-1])
    return Recording(
        folder.parent.name if folder.name == camera else folder.name,
        stamps[:, 0] - stamps[0, 0],
        stamps[:, 1:],
        observations,
        controls,
        units={"time": "s", "states": "m, m, rad", "observations": "pixels", "controls": "rad, m, rad"},
        names={"states": ("x", "y", "heading"), "controls": MOTION},
        angles=(2,),
        counts={
            "malformed lines": warn_of_damage(damages),
            "unreadable images": warn_of_unreadable(unreadable, str(folder)),
            "clock gaps": gaps,
        },
    )


def _named_images(folder: Path, damage: Damage) -> tuple[FloatArray, list[Path]]:
    """Return times and poses of the images in order of time, and the files."""
    rows: list[tuple[list[float], Path]] = []
    pictures = sorted(file for file in folder.iterdir() if file.suffix.lower() in _PICTURES)
    for number, file in enumerate(pictures, start=1):
        match = _NAME.fullmatch(file.name)
        if match is None:
            damage.skip(number, f"the name {file.name!r} is not t<time>_x<x>_y<y>_a<heading>.jpeg")
        else:
            rows.append((finite_numbers(match.groups()), file))
    rows.sort(key=lambda row: row[0][0])
    return np.array([row[0] for row in rows]).reshape(-1, 4), [row[1] for row in rows]


def _observations(files: list[Path], images: str) -> tuple[list[Any], list[str]]:
    """Return paths or pixels, None for what cannot be read; and the names of the unreadable files."""
    found: list[Any] = []
    for file in files:
        content = file.read_bytes()
        found.append(decoded(content) if images == "pixels" else (file if looks_whole(content) else None))
    return found, [file.name for file, image in zip(files, found, strict=True) if image is None]


def _odometry_file(sequence: Path, given: str | os.PathLike[str] | None) -> Path | None:
    if given is not None:
        return existing(Path(given))
    try:
        return existing(sequence / ODOMETRY)
    except FileNotFoundError:
        return None


def _controls(file: Path, times: FloatArray, max_gap: float, damage: Damage) -> tuple[FloatArray, int]:
    """Read odometry rows and return the motions between the images, and the number of gaps.

    Of the fields of a row, counted from 0, 3 and 4 are seconds and microseconds, 8, 9 and 11 are x, y and heading.
    """
    rows = []
    for number, line in numbered_lines(file, damage):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        try:
            seconds, micro, *pose = finite_numbers([fields[column] for column in (3, 4, 8, 9, 11)])
        except (IndexError, ValueError):
            damage.skip(number, f"not a row of odometry: {line[:60]!r}")
            continue
        rows.append([seconds + 1e-6 * micro, *pose])
    track = in_order(np.array(rows).reshape(-1, 4))
    if len(track) < 2:
        raise ValueError(f"{file} has {len(track)} readable rows of odometry; at least two are needed.")
    far = np.minimum(np.abs(times - track[0, 0]), np.abs(times - track[-1, 0]))
    outside = ((times < track[0, 0]) | (times > track[-1, 0])) & (far > max_gap)
    gaps = int(np.sum(np.diff(track[:, 0]) > max_gap)) + int(np.sum(outside))
    return odometry_controls(interpolated(track[:, 0], track[:, 1:], times)), gaps
