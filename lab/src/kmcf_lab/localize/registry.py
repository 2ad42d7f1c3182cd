"""All localization problems, by name."""

from __future__ import annotations

from kmcf_lab.localize.landmarks import MRCLAM
from kmcf_lab.localize.laser import FREIBURG, INTEL
from kmcf_lab.localize.problem import Problem
from kmcf_lab.localize.radio import BLE
from kmcf_lab.localize.spikes import SPIKES, SPIKES_RANDOM_WALK
from kmcf_lab.localize.vision import BUILDING, COLD
from kmcf_lab.localize.wifi import WIFINE, WIFINE_SPLICED

PROBLEMS: dict[str, Problem] = {
    one.name: one
    for one in (BLE, MRCLAM, INTEL, FREIBURG, BUILDING, COLD, WIFINE, WIFINE_SPLICED, SPIKES, SPIKES_RANDOM_WALK)
}


def problem_named(name: str) -> Problem:
    """Return the problem of this name.

    Examples
    --------
    >>> problem_named("ble").measure.primary
    'mean'
    """
    if name not in PROBLEMS:
        raise ValueError(f"there is no localization problem {name!r}; choose one of {', '.join(PROBLEMS)}.")
    return PROBLEMS[name]
