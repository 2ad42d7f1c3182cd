"""The worst moments of a run and their causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from sklearn.base import clone

from kmcf.kernels import Kernel
from kmcf.kernels.defaults import default_observation_kernel
from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.numerics.circles import wrapped_difference
from kmcf_lab.cells import Row
from kmcf_lab.localize.problem import LocalizationFold, Measure, Settings

APART = 10.0
"""Two moments that are closer than this, in seconds, are one."""
SAME_DIRECTION = np.pi / 4
AS_SIMILAR = 0.8
"""An example elsewhere is a look-alike if it is at least this share as similar as the best example at the place."""


class Cause(StrEnum):
    """Why an estimate was far off."""

    missing = "nothing observed"
    rejected = "observation not used"
    uncovered = "no example near"
    lookalike = "look-alike place"
    inertia = "wrong belief not yet given up"


@dataclass(frozen=True)
class Circumstances:
    """What explains the error of one step.

    Attributes
    ----------
    error : float
        Metres.
    blind_seconds : float
        Time since the last observation; 0: there is one now.
    rejected : bool
        The observation was not used.
    gap : float
        Metres from the true place to the nearest example (with a heading within 45°).
    similarity_here, similarity_there : float
        Largest similarity of the observation to examples near the true place, and near the estimate.
    mass : float
        Posterior mass near the true place.
    near : float
        Distance up to which a place counts as near, in metres.
    """

    error: float
    blind_seconds: float
    rejected: bool
    gap: float
    similarity_here: float
    similarity_there: float
    mass: float
    near: float

    @property
    def cause(self) -> Cause:
        """The first cause that applies."""
        if self.blind_seconds > 0:
            return Cause.missing
        if self.rejected:
            return Cause.rejected
        if self.gap > self.near:
            return Cause.uncovered
        if self.similarity_there >= AS_SIMILAR * self.similarity_here:
            return Cause.lookalike
        return Cause.inertia

    @property
    def explanation(self) -> str:
        """The cause in a sentence with its numbers."""
        as_much = "more than" if self.similarity_there > self.similarity_here else "about as much as"
        similar = f"{self.similarity_there:.2f} there, {self.similarity_here:.2f} here"
        return {
            Cause.missing: f"Nothing was observed for {self.blind_seconds:.3g} s; the filter only predicted.",
            Cause.rejected: "No example resembles the observation, so the prediction was kept.",
            Cause.uncovered: f"The nearest example is {self.gap:.1f} m from the true place: out of reach.",
            Cause.lookalike: (
                f"The observation resembles examples {self.error:.1f} m away {as_much} those at the true place "
                f"(similarity {similar}); {max(self.mass, 0.0):.0%} of the belief was at the true place."
            ),
            Cause.inertia: (
                f"The observation fits the true place better (similarity {similar}), but only "
                f"{max(self.mass, 0.0):.0%} of the belief was there: earlier observations pointed elsewhere."
            ),
        }[self.cause]


@dataclass(frozen=True)
class Moment:
    """A bad moment: where, when, and what explains it."""

    fold: str
    step: int
    time: float
    circumstances: Circumstances


def worst_steps(rows: Sequence[Row], measure: Measure, most: int) -> list[int]:
    """Return the steps with the largest errors among those that count, no two of them close in time."""
    return _extreme(rows, measure, most, np.array([row["error"] for row in rows], dtype=np.float64))


def telling_steps(rows: Sequence[Row], measure: Measure, most: int) -> dict[str, list[int]]:
    """Return some of the most "accurate" and some of the most "difficult" steps with an observation."""
    errors = np.array([np.nan if row["missing"] else row["error"] for row in rows], dtype=np.float64)
    return {"accurate": _extreme(rows, measure, most, -errors), "difficult": _extreme(rows, measure, most, errors)}


def _extreme(rows: Sequence[Row], measure: Measure, most: int, badness: FloatArray) -> list[int]:
    time = np.array([row["time"] for row in rows], dtype=np.float64)
    open_steps = measure.judged(time) & np.isfinite(badness)
    chosen: list[int] = []
    while len(chosen) < most and open_steps.any():
        step = int(np.argmax(np.where(open_steps, badness, -np.inf)))
        chosen.append(step)
        open_steps &= np.abs(time - time[step]) > APART
    return chosen


def explained(
    fold: LocalizationFold, rows: Sequence[Row], steps: Sequence[int], settings: Settings, near: float
) -> list[Moment]:
    """Explain some steps of a run.

    Parameters
    ----------
    fold : LocalizationFold
        What was filtered.
    rows : sequence of dict
        The run, one row per step.
    steps : sequence of int
        Which steps.
    settings : Settings
        Their observation kernel compares observations.
    near : float
        Metres.
    """
    kernel = _kernel(settings, fold)
    moments = []
    for step in steps:
        observation = _observation(fold, step)
        similar = np.zeros(fold.size) if observation is None else kernel(observation, fold.observations)[0]
        around = Circumstances(
            error=float(rows[step]["error"]),
            blind_seconds=_blind_seconds(rows, step),
            rejected=bool(rows[step]["rejected"]),
            gap=gap(fold, step),
            similarity_here=_largest(similar, _within(fold, fold.test.states[step], near)),
            similarity_there=_largest(similar, _within(fold, np.array([rows[step]["x"], rows[step]["y"]]), near)),
            mass=float(rows[step]["mass_near_truth"]),
            near=near,
        )
        moments.append(Moment(fold.name, step, float(rows[step]["time"]), around))
    return moments


def gap(fold: LocalizationFold, step: int) -> float:
    """Return the distance of the true place to the nearest example with its heading; infinite if there is none."""
    truth = np.asarray(fold.test.states[step], dtype=np.float64)
    distances = np.linalg.norm(fold.states[:, :2] - truth[:2], axis=1)
    return float(distances[_same_direction(fold, truth)].min(initial=np.inf))


def _within(fold: LocalizationFold, place: FloatArray, near: float) -> BoolArray:
    return (np.linalg.norm(fold.states[:, :2] - place[:2], axis=1) <= near) & _same_direction(fold, place)


def _same_direction(fold: LocalizationFold, place: FloatArray) -> BoolArray:
    """Return which examples have the heading of a place; all, where there are no headings."""
    if not fold.test.angles or len(place) < 3:
        return np.ones(fold.size, dtype=bool)
    column = fold.test.angles[0]
    return np.abs(wrapped_difference(fold.states[:, column] - place[column])) <= SAME_DIRECTION


def _largest(similar: FloatArray, chosen: BoolArray) -> float:
    return float(similar[chosen].max(initial=0.0))


def _blind_seconds(rows: Sequence[Row], step: int) -> float:
    """Return for how long nothing had been observed; at the start of a run, since one step."""
    if not rows[step]["missing"]:
        return 0.0
    seen = [t for t in range(step) if not rows[t]["missing"]]
    since = rows[seen[-1]]["time"] if seen else 2 * rows[0]["time"] - rows[min(1, len(rows) - 1)]["time"]
    return max(float(rows[step]["time"] - since), 1e-9)


def _observation(fold: LocalizationFold, step: int) -> Any:
    if fold.test.missing[step]:
        return None
    one = fold.test.observations[step]
    return one[None] if isinstance(fold.test.observations, np.ndarray) else [one]


def _kernel(settings: Settings, fold: LocalizationFold) -> Kernel:
    given = settings.observation_kernel
    kernel = default_observation_kernel(fold.observations) if given is None else clone(given)
    return kernel.fit(fold.observations)
