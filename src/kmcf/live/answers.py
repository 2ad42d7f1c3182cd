"""What clients are told about beliefs: estimate, interval, alarm, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcf.filter import Belief
from kmcf.filter.results.belief import alarm_reasons
from kmcf.support.plain_json import without_nan


def answers_for(objects: Sequence[tuple[str, Belief, float | None]]) -> list[dict[str, Any]]:
    """Return the answers about some objects: their names, beliefs, and the times of their last observations.

    Examples
    --------
    >>> belief = Belief(np.array([[0.0], [2.0]]), np.array([0.25, 0.75]), time=3)
    >>> (answer,) = answers_for([("a", belief, None)])
    >>> answer["step"], answer["mean"], answer["alarm"]
    (3, [1.5], False)
    """
    # Intervals first: they form the weights, with which all that follows is cheap.
    intervals = [belief.interval().tolist() for _, belief, _ in objects]
    reasons = alarm_reasons([belief for _, belief, _ in objects])
    return [_answer(*one, *rest) for one, *rest in zip(objects, intervals, reasons, strict=True)]


def _answer(name: str, belief: Belief, clock: float | None, interval: Any, reason: str) -> dict[str, Any]:
    report = belief.report
    told: dict[str, Any] = {
        "object": name,
        "step": belief.time,
        "time": clock,
        "mean": np.ravel(belief.mean()).tolist(),
        "interval": interval,
        "ess": float(belief.ess),
        "coverage": report.coverage,
        "missing": report.missing,
        "rejected": report.rejected,
        "alarm": bool(reason),
        "reason": reason,
    }
    if report.sensors.used or report.sensors.rejected:
        told["sensors"] = {"used": list(report.sensors.used), "rejected": list(report.sensors.rejected)}
    plain: dict[str, Any] = without_nan(told)
    return plain
