"""CARMEN logs: laser scans, odometry, poses."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kmcf.datasets.recording import MOTION, Recording, hold_out
from kmcf.datasets.text import Damage, finite_numbers, numbered_lines, warn_of_damage
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.poses import odometry_controls, relative_motion

SPLITS = {
    "intel": {"test": (106, 192, 5), "validation": (12, 102, 5)},
    "freiburg-079": {"test": (0, 480, 5), "validation": (3080, 3320, 30), "validation 2": (3390, 3630, 30)},
}
"""Passes of two well-known logs that are revisited in the same direction: first step, last step + 1, buffer.

The second validation pass of Freiburg is the one best covered by the rest of the log without the test pass.
"""


class _Scan(NamedTuple):
    time: float
    ranges: list[float]
    pose: list[float]
    odometry: list[float]


class _Odometry(NamedTuple):
    time: float
    pose: list[float]


def carmen_log(
    path: str | os.PathLike[str],
    *,
    odometry: str = "auto",
    max_range: float = 80.0,
    no_return: float = float("nan"),
    strict: bool = False,
) -> Recording:
    r"""Load a CARMEN log (plain or gzipped) with FLASER or ROBOTLASER1 messages, and ODOM messages where there are any.

    States are the poses in the scan messages: SLAM-corrected ones in a corrected log, in a raw log odometry. Steps
    follow the order of the file: where time steps back, the clock is wrong (four times in the Intel log, while the
    robot turns steadily), so such times are raised to the one before. Observations are the ranges, (T, beams) in
    metres, counter-clockwise. Controls are the motions between scans that the odometry measured, (rotation,
    translation, rotation).

    Parameters
    ----------
    path : str or path
        The log.
    odometry : {"auto", "scans", "messages"}
        Where the odometry comes from. "scans": the second pose in each scan message. "messages": the last ODOM message
        before a scan, relative to the pose of the scan before; corrected logs restart their ODOM messages at each
        corrected pose, and repeat that pose in the scan message. Scans without an ODOM message since the last scan get
        the motion zero; ``counts["scans without odometry"]`` says how many. "auto": "scans" if the two poses of scan
        messages ever differ, else "messages" if there are any.
    max_range : float
        Longer ranges mean that no echo came back, and are replaced by ``no_return``. NaN suits
        :class:`~kmcf.kernels.LaserScan`.
    no_return : float
        See ``max_range``.
    strict : bool
        Make a malformed line an error that names it. Otherwise such lines are left out, counted in
        ``counts["malformed lines"]``, and a warning says so.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> log = Path(tempfile.mkdtemp()) / "drive.log"
    >>> scan = "FLASER 3 1.0 2.0 81.0 {0}.0 0.0 0.0 {0}.0 0.0 0.0 {0}.5 robot {0}.5"
    >>> _ = log.write_text("\n".join(scan.format(t) for t in range(3)))
    >>> recording = carmen_log(log)
    >>> recording.states[:, 0].tolist(), recording.observations[0].tolist()
    ([0.0, 1.0, 2.0], [1.0, 2.0, nan])
    """
    if odometry not in ("auto", "scans", "messages"):
        raise ValueError(f"odometry = {odometry!r}; it must be 'auto', 'scans' or 'messages'.")
    file = Path(path)
    damage = Damage(str(file), strict)
    messages = _messages(file, damage)
    scans = [message for message in messages if isinstance(message, _Scan)]
    if not scans:
        raise ValueError(f"{file} has no readable FLASER or ROBOTLASER1 message.")
    if odometry == "auto":
        distinct = any(scan.pose != scan.odometry for scan in scans)
        odometry = "scans" if distinct or len(scans) == len(messages) else "messages"
    if odometry == "scans":
        controls, unmoved = odometry_controls([scan.odometry for scan in scans]), 0
    else:
        controls, unmoved = _rebased_controls(messages)
    ranges = np.array([scan.ranges for scan in scans])
    ranges[ranges > max_range] = no_return
    stamps = np.array([scan.time for scan in scans])
    times = np.maximum.accumulate(stamps)
    return Recording(
        file.name.removesuffix(".gz").removesuffix(".log").removesuffix(".clf"),
        times - times[0],
        np.array([scan.pose for scan in scans]),
        ranges,
        controls,
        units={"time": "s", "states": "m, m, rad", "observations": "m", "controls": "rad, m, rad"},
        names={"states": ("x", "y", "heading"), "controls": MOTION},
        angles=(2,),
        counts={
            "malformed lines": warn_of_damage([damage]),
            "scans without odometry": unmoved,
            "clock steps back": int(np.sum(np.diff(stamps) < 0)),
        },
    )


def carmen_split(recording: Recording, log: str, part: str = "test") -> tuple[list[Recording], Recording]:
    """Split the Intel or the Freiburg 079 log into training parts and a held-out pass (see ``SPLITS``).

    Most of both logs is not revisited in the same direction, so halves would leave most test poses without a nearby
    example.

    Parameters
    ----------
    recording : Recording
        The whole log.
    log : {"intel", "freiburg-079"}
        Which one it is.
    part : {"test", "validation", "validation 2"}
        Which pass to hold out; only Freiburg has the last.

    Examples
    --------
    >>> train, test = carmen_split(carmen_log("intel-corrected.log.gz"), "intel")  # doctest: +SKIP
    """
    known = "; ".join(f"{name}: {', '.join(parts)}" for name, parts in SPLITS.items())
    if log not in SPLITS or part not in SPLITS[log]:
        raise ValueError(f"there is no split {log!r}, {part!r}; the splits are {known}.")
    return hold_out(recording, *SPLITS[log][part])


def _messages(file: Path, damage: Damage) -> list[_Scan | _Odometry]:
    """Read scans and odometry in file order. Scans with a different number of beams from the first count as damage."""
    messages: list[_Scan | _Odometry] = []
    beams = None
    for number, line in numbered_lines(file, damage):
        kind, *fields = line.split() or [""]
        if kind not in _READERS:
            continue
        try:
            message = _READERS[kind](fields)
        except (ValueError, IndexError):
            damage.skip(number, f"not a {kind} message: {line[:40]!r}")
            continue
        if isinstance(message, _Scan):
            beams = beams or len(message.ranges)
            if len(message.ranges) != beams:
                damage.skip(number, f"{len(message.ranges)} beams, where earlier scans have {beams}")
                continue
        messages.append(message)
    return messages


def _read_odometry(fields: list[str]) -> _Odometry:
    """Read ``x y theta tv rv accel time host time``."""
    if len(fields) != 9:
        raise ValueError("an ODOM message has nine fields")
    numbers = finite_numbers(fields[:7])
    return _Odometry(numbers[6], numbers[:3])


def _read_front_laser(fields: list[str]) -> _Scan:
    """Read ``n range.. x y theta odom_x odom_y odom_theta time host time``."""
    count = int(fields[0])
    rest = fields[1 + count :]
    if count < 1 or len(rest) != 9:
        raise ValueError("wrong number of fields")
    numbers = finite_numbers(rest[:7])
    return _Scan(numbers[6], finite_numbers(fields[1 : 1 + count]), numbers[:3], numbers[3:6])


def _read_robot_laser(fields: list[str]) -> _Scan:
    """Read ``seven settings, n range.., [n remission..], laser pose, robot pose, 4 (5) numbers, time host time``."""
    count = int(fields[7])
    rest = fields[8 + count :]
    if count < 1 or not rest:
        raise ValueError("wrong number of fields")
    if len(rest) != 13:
        rest = rest[1 + int(rest[0]) :]  # newer logs have remissions, and one number more at the end
        if len(rest) != 14:
            raise ValueError("wrong number of fields")
    return _Scan(
        finite_numbers(rest[-3:-2])[0],
        finite_numbers(fields[8 : 8 + count]),
        finite_numbers(rest[:3]),
        finite_numbers(rest[3:6]),
    )


_READERS: dict[str, Callable[[list[str]], _Scan | _Odometry]] = {
    "ODOM": _read_odometry,
    "FLASER": _read_front_laser,
    "ROBOTLASER1": _read_robot_laser,
}


def _rebased_controls(messages: list[_Scan | _Odometry]) -> tuple[FloatArray, int]:
    """Return the motions from each scan's pose to the last odometry before the next, and how often there is none."""
    controls: list[FloatArray] = []
    last, latest, unmoved = None, None, 0
    for message in messages:
        if isinstance(message, _Odometry):
            latest = message.pose
            continue
        unmoved += last is not None and latest is None
        controls.append(np.zeros(3) if last is None or latest is None else relative_motion(last, latest))
        last, latest = message.pose, None
    return np.array(controls), unmoved
