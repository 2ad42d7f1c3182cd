"""Reading text files that may be compressed, damaged or cut off."""

from __future__ import annotations

import gzip
import warnings
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.support.alerts import SkippedDataWarning


@dataclass
class Damage:
    """What could not be read of one file: an error at once if ``strict``, otherwise collected."""

    file: str
    strict: bool = False
    places: list[tuple[int, str]] = field(default_factory=list)

    def skip(self, line: int, reason: str) -> None:
        """Note a line that is left out."""
        if self.strict:
            raise ValueError(f"{self.file}, line {line}: {reason}.")
        self.places.append((line, reason))


def warn_of_damage(damages: Iterable[Damage]) -> int:
    """Warn once about all files; return how many lines were left out."""
    damaged = [damage for damage in damages if damage.places]
    count = sum(len(damage.places) for damage in damaged)
    if count:
        line, reason = damaged[0].places[0]
        others = f", and {len(damaged) - 1} more files" if len(damaged) > 1 else ""
        warnings.warn(
            f"{count} malformed line{'s' * (count > 1)} left out, the first in {damaged[0].file}, line {line}: {reason}"
            f"{others}; strict=True makes this an error.",
            SkippedDataWarning,
            stacklevel=3,
        )
    return count


def existing(path: Path) -> Path:
    """Return the file, or its compressed form; an error if there is neither."""
    for candidate in (path, path.with_name(path.name + ".gz")):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"there is no file {path} (nor {path.name}.gz).")


def numbered_lines(path: Path, damage: Damage) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file, gzipped or not, with their numbers from 1; a cut-off archive is damage."""
    number = 0
    with gzip.open(path, "rt", errors="replace") if path.suffix == ".gz" else path.open(errors="replace") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                yield number, line.rstrip("\n")
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            damage.skip(number + 1, f"the archive is damaged or cut off ({error})")


def finite_numbers(fields: Iterable[str]) -> list[float]:
    """Read numbers; a ValueError if one is not a finite number.

    Examples
    --------
    >>> finite_numbers(["1", "2.5"])
    [1.0, 2.5]
    """
    numbers = [float(field) for field in fields]
    if not np.all(np.isfinite(numbers)):
        raise ValueError("a number is not finite")
    return numbers


def read_table(path: Path, columns: int, damage: Damage, separator: str | None = None) -> FloatArray:
    """Read rows of ``columns`` numbers; empty lines and comments (#) are skipped, other lines count as damage."""
    rows = []
    for number, line in numbered_lines(path, damage):
        fields = line.split(separator)
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            if len(fields) != columns:
                raise ValueError(f"{len(fields)} fields")
            rows.append(finite_numbers(fields))
        except ValueError:
            damage.skip(number, f"not {columns} numbers: {line[:60]!r}")
    return np.array(rows, dtype=np.float64).reshape(-1, columns)


def in_order(table: FloatArray) -> FloatArray:
    """Sort rows by time (the first column) and keep the last of several at the same time.

    Examples
    --------
    >>> in_order(np.array([[2.0, 1.0], [1.0, 1.0], [2.0, 9.0]])).tolist()
    [[1.0, 1.0], [2.0, 9.0]]
    """
    ordered = table[np.argsort(table[:, 0], kind="stable")]
    return ordered[np.append(np.diff(ordered[:, 0]) > 0, True)] if len(ordered) else ordered
