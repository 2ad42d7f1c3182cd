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


def read_rank(text: str) -> Any:
    """Read a rank: a whole number, a share of the trace below 1, or one of these for states and for observations.

    Examples
    --------
    >>> read_rank("20"), read_rank("0.99"), read_rank("10,none")
    (20, 0.99, (10, None))
    """
    words = text.split(",")
    parts = [None if len(words) == 2 and word.strip() == "none" else _count_or_share("rank", word) for word in words]
    if len(parts) > 2:
        raise ValueError(f"--rank {text}: it must be one value, or two for states and observations, as in 10,none.")
    return parts[0] if len(parts) == 1 else tuple(parts)


def read_n_examples(text: str) -> int | float:
    """Read how many examples to keep: a whole number, or a distance from all of them in the RKHS.

    Examples
    --------
    >>> read_n_examples("50"), read_n_examples("0.05")
    (50, 0.05)
    """
    return _count_or_share("n-examples", text)


def read_threshold(text: str) -> float | str:
    """Read when to resample: a number, or bound.

    Examples
    --------
    >>> read_threshold("2"), read_threshold("bound")
    (2.0, 'bound')
    """
    try:
        return text if text == "bound" else float(text)
    except ValueError:
        raise ValueError(f"--resample-threshold {text}: it must be a number or bound.") from None


def _count_or_share(name: str, text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--{name} {text}: it must be a whole number, or a number below 1.") from None


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
