"""One recorded sequence: what every loader returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kmcf.arrays import FloatArray


@dataclass(frozen=True)
class Recording:
    """States, observations and controls over time.

    Attributes
    ----------
    name : str
        Which recording.
    time : array (T,)
        Seconds from the start.
    states : array (T, d)
        Where the truth was.
    observations : array (T, ...) or list of T objects
        What was observed; None where nothing was.
    controls : array (T, ...) or None
        ``controls[t]`` drove the move to step t.
    units : dict
        Units of "time", "states", "observations", "controls".
    """

    name: str
    time: FloatArray
    states: FloatArray
    observations: Any
    controls: Any = None
    units: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.time)
