"""The calibration of a filter: what its intervals, ellipses and probabilities are corrected by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kmcf.trust.conformal import LEVELS, LeftOutErrors, Stretch


@dataclass(frozen=True)
class Calibration:
    """Factors learnt from left-out steps: for corrected beliefs, for predictions and, if they could be, smoothed ones.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> X, Y, _ = model.simulate(100, random_state=0)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
    >>> known = flt.fit(X, Y).calibrate(X, Y).calibration_
    >>> known.count, known.left_out, known.factor(0.95).shape
    (100, True, (1,))
    """

    corrected: Stretch
    """For beliefs after a correction."""
    predicted: Stretch
    """For predictions: initial beliefs, forecasts, missing and rejected observations."""
    left_out: bool
    """Whether the filter's own examples were left out in turn; otherwise it was given others."""
    smoothed: Stretch | None = None
    """For smoothed beliefs, whichever observations are missing; None where the filter cannot be smoothed, or was
    calibrated without."""

    @classmethod
    def learn(
        cls,
        corrected: LeftOutErrors,
        predicted: LeftOutErrors,
        smoothed: LeftOutErrors | None = None,
        *,
        left_out: bool,
    ) -> Self:
        """Learn all sets of factors."""
        later = None if smoothed is None else Stretch.learn(smoothed)
        return cls(Stretch.learn(corrected), Stretch.learn(predicted), left_out, later)

    @property
    def count(self) -> int:
        """How many corrected steps the factors come from."""
        return self.corrected.count

    @property
    def effective(self) -> float:
        """How many independent steps these are worth."""
        return self.corrected.effective

    def kind(self, *, corrected: bool) -> Stretch:
        """Return the factors for one kind of belief."""
        return self.corrected if corrected else self.predicted

    def factor(self, level: float = 0.95) -> Any:
        """Return by how much the intervals of corrected beliefs at a level are stretched, (d,)."""
        return np.array([np.interp(level, LEVELS, column) for column in self.corrected.factors.T])

    def stored(self) -> dict[str, Any]:
        """Return what a file keeps."""
        return {
            "corrected": self.corrected.stored(),
            "predicted": self.predicted.stored(),
            "left_out": self.left_out,
            "smoothed": None if self.smoothed is None else self.smoothed.stored(),
        }

    @classmethod
    def restored(cls, stored: Mapping[str, Any], width: int) -> Self:
        """Check and take over what a file kept for states with ``width`` columns."""
        corrected, predicted = (Stretch.restored(stored[name]) for name in ("corrected", "predicted"))
        later = stored.get("smoothed")  # files of before do not have it
        smoothed = None if later is None else Stretch.restored(later)
        if any(one is not None and one.width != width for one in (corrected, predicted, smoothed)):
            raise ValueError(f"the calibration is not for states with {width} columns.")
        return cls(corrected, predicted, bool(stored["left_out"]), smoothed)

    def __repr__(self) -> str:
        how = "left out" if self.left_out else "of other examples"
        return f"Calibration({self.count} steps {how}, worth {self.effective:.0f} independent ones)"
