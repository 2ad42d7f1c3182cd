"""Words that options take: names to choose from, and values that are more than one number."""

from __future__ import annotations

from enum import StrEnum
from typing import Any


class GapTreatment(StrEnum):
    """What to do where time advances by more than one step."""

    KEEP = "keep"
    SPLIT = "split"
    FILL = "fill"
    ERROR = "error"


class RuleName(StrEnum):
    """Rules of inference."""

    KBR = "kbr"
    IMPORTANCE = "importance"


class EngineName(StrEnum):
    """Ways to compute the rule."""

    AUTO = "auto"
    LITERAL = "literal"
    EXACT = "exact"
    LOWRANK = "lowrank"
    COMPRESSED = "compressed"
    LOCAL = "local"


class ResamplingName(StrEnum):
    """Ways to pick points from a belief."""

    HERDING = "herding"
    MULTINOMIAL = "multinomial"
    NONE = "none"


class SupportName(StrEnum):
    """Where beliefs live."""

    EXAMPLES = "examples"
    PARTICLES = "particles"
    BOTH = "both"


def read_floor(text: str) -> Any:
    """Read a floor, or one for each of several sensors.

    Examples
    --------
    >>> read_floor("auto"), read_floor("-100"), read_floor("-100,auto,none")
    ('auto', -100.0, [-100.0, 'auto', None])
    >>> read_floor("wifi=-100; camera=none")
    {'wifi': -100.0, 'camera': None}
    """
    if "=" in text:
        pairs = [part.partition("=") for part in text.split(";")]
        return {name.strip(): read_floor(value) for name, _, value in pairs}
    words = [word.strip().lower() for word in text.split(",")]
    try:
        parts = [word if word == "auto" else None if word in ("", "none") else float(word) for word in words]
    except ValueError:
        raise ValueError(f"--floor {text}: it must be a number, auto, or a list of these and none.") from None
    return parts[0] if len(parts) == 1 else parts


def read_tolerance(text: str) -> float | str:
    """Read a tolerance: a number, or auto.

    Examples
    --------
    >>> read_tolerance("1e-6"), read_tolerance("auto")
    (1e-06, 'auto')
    """
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise ValueError(f"--tolerance {text}: it must be a number or auto.") from None
