"""What earlier runs of a study measured, one line each in a file beside its results; what has become slower since."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kmcf._version import __version__

FILE = "history.jsonl"
TIMES = ("seconds", "milliseconds")
LEAST_NOISE = 0.25
"""Times on an ordinary machine differ by so much from run to run; more, where earlier runs differ by more."""
Key = tuple[tuple[str, Any], ...]


class Slower(NamedTuple):
    """A time that grew by more than the noise."""

    what: str
    before: float
    now: float


def remember(rows: Sequence[Mapping[str, Any]], path: Path) -> list[Slower]:
    """Append the rows of a study to its history; return what became slower than in the last run by more than noise.

    Parameters
    ----------
    rows : sequence of mappings
        What was measured: names and numbers by which a row is recognised, and times.
    path : path
        The file with the rows; the history lies in the same folder.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bench_fit.json"
    >>> remember([{"n": 100, "seconds": 1.0}], path), remember([{"n": 100, "seconds": 3.0}], path)
    ([], [Slower(what='n 100: seconds', before=1.0, now=3.0)])
    """
    file = path.parent / FILE
    earlier = [_times(entry["rows"]) for entry in _entries(file) if entry["study"] == path.stem]
    now = _times(rows)
    entry = {"study": path.stem, "when": datetime.now(UTC).isoformat(timespec="seconds"), "version": __version__}
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as history:
        history.write(json.dumps({**entry, "rows": [_kept(row) for row in rows]}) + "\n")
    return [slower for key, value in now.items() if (slower := _compared(key, value, earlier)) is not None]


def _compared(key: tuple[Key, str], now: float, earlier: Sequence[Mapping[tuple[Key, str], float]]) -> Slower | None:
    known = [times[key] for times in earlier if key in times]
    if not known or known[-1] <= 0.0:
        return None
    spread = float(np.std(np.log([value for value in known if value > 0.0])))
    if now <= known[-1] * (1.0 + max(LEAST_NOISE, 2.0 * spread)):
        return None
    row, name = key
    return Slower(f"{', '.join(f'{field} {value}' for field, value in row)}: {name}", known[-1], now)


def _times(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[Key, str], float]:
    return {
        (_key(row), name): float(value)
        for row in rows
        for name, value in row.items()
        if _is_time(name) and isinstance(value, int | float) and np.isfinite(value)
    }


def _key(row: Mapping[str, Any]) -> Key:
    return tuple((name, value) for name, value in row.items() if isinstance(value, str | int) and not _is_time(name))


def _kept(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what recognises a row, and its times; infinite ones are no JSON."""
    numbers = {name: value for name, value in row.items() if _is_time(name)}
    return dict(_key(row)) | {name: value for name, value in numbers.items() if value is None or np.isfinite(value)}


def _is_time(name: str) -> bool:
    return any(word in name for word in TIMES)


def _entries(file: Path) -> list[dict[str, Any]]:
    """Read the history; a line that was cut off is passed over."""
    if not file.is_file():
        return []
    entries = []
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and {"study", "rows"} <= set(entry):
            entries.append(entry)
    return entries
