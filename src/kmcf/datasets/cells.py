"""The cells of a table: numbers, dates, or nothing."""

from __future__ import annotations

from datetime import UTC, datetime

MISSING = frozenset({"", "na", "n/a", "nan", "nat", "null", "none"})
"""Cells that stand for a missing number or date, in upper or lower case."""


def read_number(cell: str) -> float:
    """Return the number in a cell, NaN if it is missing.

    Examples
    --------
    >>> read_number(" 1.5 "), read_number("NA")
    (1.5, nan)
    """
    text = cell.strip()
    if is_missing(text):
        return float("nan")
    try:
        if "_" in text:  # Python would read 1_000
            raise ValueError
        return float(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a number") from None


def is_date(cell: str) -> bool:
    """Return whether a cell holds a date rather than a number."""
    try:
        float(cell)
    except ValueError:
        try:
            datetime.fromisoformat(cell.strip())
        except ValueError:
            return False
        return True
    return False


def is_missing(cell: str) -> bool:
    """Return whether a cell stands for nothing."""
    return cell.strip().lower() in MISSING


def read_date(cell: str) -> float:
    """Return a date and time (ISO 8601; UTC where it does not say) as seconds since 1970.

    Examples
    --------
    >>> read_date("1970-01-01T00:01:00.5"), write_date(60.5)
    (60.5, '1970-01-01T00:01:00.500000+00:00')
    """
    if is_missing(cell):
        return float("nan")
    try:
        moment = datetime.fromisoformat(cell.strip())
    except ValueError:
        raise ValueError(f"{cell.strip()[:40]!r} is not a date") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def write_date(seconds: float) -> str:
    """Return seconds since 1970 as a date and time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()
