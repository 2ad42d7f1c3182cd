"""Several weak signals at the edge of the examples, added up: what none of them would say alone.

Where a state leaves the examples, estimates stay at their edge, observations become slightly odd, and few examples
carry the weight. Each of these happens inside, too; together they seldom do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np

from kmcf.numerics.arrays import FloatArray

PARTS = ("edge", "observation_distance", "observation_drift", "ess")
"""The signals that are added up."""
SHARE = 0.1
"""Beyond this share of the largest values, a signal counts by an exponential tail."""
MOST = 5.0
"""No signal counts for more than this: what one of them can say alone has a threshold of its own."""


class Surprise(NamedTuple):
    """How unusual values are, in log units: 0 up to the median, log 5 where a tenth is larger, linear between."""

    middle: float
    start: float
    excess: float

    @classmethod
    def of(cls, values: FloatArray) -> Self | None:
        """Describe what is usual; None if there is nothing to compare with.

        Examples
        --------
        >>> Surprise.of(np.arange(101.0)).of_values(np.array([20.0, 50.0, 90.0, 1000.0])).round(2).tolist()
        [0.0, 0.0, 1.61, 5.0]
        """
        known = values[np.isfinite(values)]
        if not len(known):
            return None
        middle, start = (float(np.quantile(known, level)) for level in (0.5, 1.0 - SHARE))
        above = known[known > start] - start
        return cls(middle, start, float(above.mean()) if len(above) else 0.0)

    def of_values(self, values: FloatArray) -> FloatArray:
        """Return the surprises; what is not known surprises nobody."""
        tiny = np.finfo(np.float64).tiny
        rise = np.log(0.5 / SHARE) * np.clip((values - self.middle) / max(self.start - self.middle, tiny), 0.0, 1.0)
        beyond = np.maximum(values - self.start, 0.0) / max(self.excess, tiny)
        return np.nan_to_num(np.minimum(rise + beyond, MOST), nan=0.0)


def surprises_of(signals: Mapping[str, FloatArray]) -> dict[str, Surprise]:
    """Describe what is usual of each part; nothing where nobody knows where the examples end."""
    if "edge" not in signals or not np.isfinite(signals["edge"]).any():
        return {}
    found = {name: Surprise.of(np.asarray(signals[name])) for name in PARTS}
    return {name: known for name, known in found.items() if known is not None}


def added_up(signals: Mapping[str, FloatArray], usual: Mapping[str, Surprise]) -> FloatArray:
    """Return the sums of the parts' surprises; NaN where it is not known how near the edge is.

    Examples
    --------
    >>> usual = {"edge": Surprise(0.0, 1.0, 1.0), "ess": Surprise(0.0, 1.0, 1.0)}
    >>> added_up({"edge": np.array([1.0, np.nan]), "ess": np.array([1.0, 1.0])}, usual).round(2).tolist()
    [3.22, nan]
    """
    edge = np.asarray(signals["edge"], dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        total = sum(known.of_values(np.asarray(signals[name])) for name, known in usual.items())
    return np.where(np.isfinite(edge), total, np.nan)
