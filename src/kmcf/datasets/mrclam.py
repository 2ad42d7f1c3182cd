"""MRCLAM folders (UTIAS multi-robot data): robots among barcoded posts, seen by range and bearing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kmcf.datasets.recording import MOTION, Recording
from kmcf.datasets.text import Damage, existing, in_order, read_table, warn_of_damage
from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.numerics.circles import wrapped_difference
from kmcf.numerics.poses import interpolated, odometry_controls

ROBOTS = (1, 2, 3, 4, 5)
_UNKNOWN = -1


class _Settings(NamedTuple):
    step: float
    control: str
    max_gap: float
    command_lasts: float
    first_subject: int
    delay: float
    aligned: bool


class _Robot(NamedTuple):
    """What was read of one robot."""

    number: int
    truth: FloatArray
    commands: FloatArray
    seen: FloatArray
    """time, subject, range, bearing"""
    malformed: int


def mrclam(
    path: str | os.PathLike[str],
    *,
    step: float = 1.0,
    control: str = "odometry",
    robots: Sequence[int] = ROBOTS,
    other_robots: bool = False,
    max_gap: float = 0.5,
    command_lasts: float = 1.1,
    command_delay: float = 0.0,
    aligned: bool = False,
    strict: bool = False,
) -> list[Recording]:
    """Load the robots of one MRCLAM folder at regular time steps.

    Steps are windows of ``step`` seconds from the first to the last odometry message (or to the end of the ground
    truth, if that is earlier). The state of a step is the pose in the middle of its window, interpolated, with headings
    along the shorter arc. The observation is the set of measurements in the window, rows (subject, range, bearing); a
    step without any is missing (None). Subjects are the numbers of landmarks, looked up by barcode.

    Parameters
    ----------
    path : str or path
        Folder with Barcodes.dat and RobotK_Groundtruth.dat, RobotK_Odometry.dat, RobotK_Measurement.dat, each plain or
        gzipped.
    step : float
        Seconds.
    control : {"odometry", "velocity"}
        "odometry": the velocity commands integrated from state to state, as a motion (rotation, translation, rotation).
        "velocity": their mean, (v, ω, step).
    robots : sequence of int
        Which robots to load.
    other_robots : bool
        Also keep measurements of the other robots (subjects 1 to 5).
    max_gap : float
        Seconds. The pose is unknown (NaN) inside longer gaps of the ground truth.
    command_lasts : float
        Seconds for which a velocity command holds if no other follows. ``counts["clock gaps"]`` counts the longer gaps
        of ground truth and commands.
    command_delay : float
        Seconds by which robots follow their commands. Of dataset 6, 0.2 s explains the recorded turns best.
    aligned : bool
        Carry each measurement, which is made at any time of its window, to the middle of the window along the motion
        commanded: range and bearing are then those that the pose in the middle would see. A robot that turns by half a
        radian per second otherwise sees its landmarks a quarter of a radian off.
    strict : bool
        Make a malformed line an error. Otherwise such lines are left out and counted, with a warning.

    Returns
    -------
    list of Recording
        One per robot. ``counts["unknown barcodes"]`` are measurements of barcodes that the folder does not know.

    Examples
    --------
    >>> robots = mrclam("MRCLAM_Dataset6", step=1.0)  # doctest: +SKIP
    >>> robots[2].states.shape, robots[2].observations[0]  # doctest: +SKIP
    """
    if not command_delay >= 0:
        raise ValueError(f"command_delay = {command_delay!r}; it must be a number of seconds, at least 0.")
    for name, value in {"step": step, "max_gap": max_gap, "command_lasts": command_lasts}.items():
        if not value > 0:
            raise ValueError(f"{name} = {value!r}; it must be a positive number of seconds.")
    if control not in ("odometry", "velocity"):
        raise ValueError(f"control = {control!r}; it must be 'odometry' or 'velocity'.")
    folder = Path(path)
    damages: list[Damage] = []

    def table(name: str, columns: int) -> FloatArray:
        file = existing(folder / name)
        damages.append(Damage(str(file), strict))
        return read_table(file, columns, damages[-1])

    first_subject = 1 if other_robots else max(ROBOTS) + 1
    subjects = {int(barcode): int(subject) for subject, barcode in table("Barcodes.dat", 2)}
    recordings = []
    for robot in robots:
        before = sum(len(damage.places) for damage in damages)
        truth = in_order(table(f"Robot{robot}_Groundtruth.dat", 4))
        commands = in_order(table(f"Robot{robot}_Odometry.dat", 3))
        seen = table(f"Robot{robot}_Measurement.dat", 4)
        if len(truth) < 2 or len(commands) < 2:
            raise ValueError(
                f"robot {robot} in {folder} has {len(truth)} readable poses and {len(commands)} readable commands; "
                "two of each are needed."
            )
        malformed = sum(len(damage.places) for damage in damages) - before
        data = _Robot(robot, truth, commands, _identified(seen, subjects), malformed)
        settings = _Settings(step, control, max_gap, command_lasts, first_subject, command_delay, aligned)
        recordings.append(_recording(data, settings))
    warn_of_damage(damages)
    return recordings


def mrclam_landmarks(path: str | os.PathLike[str], *, strict: bool = False) -> dict[int, tuple[float, float]]:
    r"""Load the positions (x, y) of the landmarks of an MRCLAM folder, in metres, by subject number.

    Parameters
    ----------
    path : str or path
        The folder, with Landmark_Groundtruth.dat.
    strict : bool
        Make a malformed line an error. Otherwise such lines are left out, with a warning.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "Landmark_Groundtruth.dat").write_text("6 1.88 -5.57 0.0001 0.0001\n")
    >>> mrclam_landmarks(folder)
    {6: (1.88, -5.57)}
    """
    file = existing(Path(path) / "Landmark_Groundtruth.dat")
    damage = Damage(str(file), strict)
    rows = read_table(file, 5, damage)
    warn_of_damage([damage])
    return {int(row[0]): (float(row[1]), float(row[2])) for row in rows}


def _recording(data: _Robot, settings: _Settings) -> Recording:
    start, step, max_gap = data.commands[0, 0], settings.step, settings.max_gap
    count = int(np.ceil((min(data.commands[-1, 0], data.truth[-1, 0]) - start) / step))
    if count < 1:
        raise ValueError(f"the ground truth of robot {data.number} ends before its odometry begins.")
    middles = start + step * (np.arange(count) + 0.5)
    states = interpolated(data.truth[:, 0], data.truth[:, 1:], middles)
    states[_unknown(data.truth[:, 0], middles, max_gap)] = np.nan
    commands = np.column_stack([data.commands[:, 0] + settings.delay, data.commands[:, 1:]])
    controls, units, names = _controls(commands, middles, settings)
    seen = data.seen[data.seen[:, 1] >= settings.first_subject]
    if settings.aligned:
        seen = _aligned(seen, commands, middles, settings)
    gaps = np.sum(np.diff(data.truth[:, 0]) > max_gap) + np.sum(np.diff(data.commands[:, 0]) > settings.command_lasts)
    return Recording(
        f"robot {data.number}",
        middles - middles[0],
        states,
        _sets(seen, start, step, count),
        controls,
        units={"time": "s", "states": "m, m, rad", "observations": "number, m, rad", "controls": units},
        names={"states": ("x", "y", "heading"), "observations": ("subject", "range", "bearing"), "controls": names},
        angles=(2,),
        counts={
            "malformed lines": data.malformed,
            "unknown barcodes": int(np.sum(data.seen[:, 1] == _UNKNOWN)),
            "clock gaps": int(gaps),
        },
    )


def _controls(
    commands: FloatArray, middles: FloatArray, settings: _Settings
) -> tuple[FloatArray, str, tuple[str, ...]]:
    """Return the controls between the middles of the windows, their units and names."""
    driven = _driven(commands, middles, settings.command_lasts)
    if settings.control == "odometry":
        return odometry_controls(driven[:, :3]), "rad, m, rad", MOTION
    means = np.diff(driven[:, 3:], axis=0, prepend=driven[:1, 3:]) / settings.step
    return np.column_stack([means, np.full(len(middles), settings.step)]), "m/s, rad/s, s", ("v", "w", "time")


def _aligned(seen: FloatArray, commands: FloatArray, middles: FloatArray, settings: _Settings) -> FloatArray:
    """Carry measurements along the motion commanded from when they were made to the middle of their window."""
    windows = np.floor((seen[:, 0] - middles[0]) / settings.step + 0.5).astype(int)
    kept = (windows >= 0) & (windows < len(middles))
    seen, ends = seen[kept], middles[windows[kept]]
    moments = np.union1d(seen[:, 0], ends)
    poses = _driven(commands, moments, settings.command_lasts)[:, :3]
    then, now = poses[np.searchsorted(moments, seen[:, 0])], poses[np.searchsorted(moments, ends)]
    direction = then[:, 2] + seen[:, 3]
    away = then[:, :2] + seen[:, 2:3] * np.stack([np.cos(direction), np.sin(direction)], axis=1) - now[:, :2]
    bearing = wrapped_difference(np.arctan2(away[:, 1], away[:, 0]) - now[:, 2])
    return np.column_stack([seen[:, :2], np.linalg.norm(away, axis=1), bearing])


def _unknown(times: FloatArray, wanted: FloatArray, max_gap: float) -> BoolArray:
    """Return where the nearest recorded times on both sides are too far apart, or one side is missing."""
    later = np.searchsorted(times, wanted)
    outside = (later == len(times)) & (wanted > times[-1] + max_gap) | (later == 0) & (wanted < times[0] - max_gap)
    inside = (later > 0) & (later < len(times))
    gap = times[np.clip(later, 1, len(times) - 1)] - times[np.clip(later, 1, len(times) - 1) - 1]
    return np.asarray(outside | (inside & (gap > max_gap)))


def _driven(commands: FloatArray, wanted: FloatArray, lasts: float) -> FloatArray:
    """Integrate the commands exactly (arcs); return pose, distance and angle driven so far at each wanted time."""
    cuts = np.union1d(commands[:, 0], wanted)
    current = np.maximum(np.searchsorted(commands[:, 0], cuts[:-1], side="right") - 1, 0)
    ends = commands[current, 0] + lasts
    lasting = np.clip(np.minimum(cuts[1:], ends) - np.maximum(cuts[:-1], commands[current, 0]), 0.0, None)
    way, turn = commands[current, 1] * lasting, commands[current, 2] * lasting
    heading = np.concatenate([[0.0], np.cumsum(turn)])
    chord, direction = way * np.sinc(0.5 * turn / np.pi), heading[:-1] + 0.5 * turn
    steps = np.stack([chord * np.cos(direction), chord * np.sin(direction), turn, way, turn], axis=1)
    path = np.concatenate([np.zeros((1, 5)), np.cumsum(steps, axis=0)])
    return path[np.searchsorted(cuts, wanted)]


def _identified(seen: FloatArray, subjects: dict[int, int]) -> FloatArray:
    """Replace barcodes by subjects."""
    identity = [subjects.get(int(barcode), _UNKNOWN) for barcode in seen[:, 1]]
    return np.column_stack([seen[:, 0], identity, seen[:, 2:]]).reshape(-1, 4)


def _sets(seen: FloatArray, start: float, step: float, count: int) -> list[FloatArray | None]:
    """Group measurements by window; None for a window without any."""
    windows = np.floor((seen[:, 0] - start) / step).astype(int)
    sets = [seen[windows == k, 1:] for k in range(count)]
    return [members if len(members) else None for members in sets]
