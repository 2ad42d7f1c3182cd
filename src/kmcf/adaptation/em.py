r"""Expectation maximisation through the smoother: states that were never seen take the part of a recording.

E step: with the transition :math:`p_\theta`, the observations are smoothed, and S whole paths are drawn, always with
the same random numbers. M step: θ becomes

.. math:: \arg\max_{\theta'} \; Q(\theta') = \tfrac1S \sum_s \sum_t \log p_{\theta'}(x^{(s)}_{t+1} \mid x^{(s)}_t, u_t).

Two steps and an extrapolation from them make a cycle (squared extrapolation). At the end Louis's formula gives the
information that the observations hold: that of complete paths less what is missing,
:math:`-\nabla^2 Q - \mathrm{cov}_s\left(\sum_t \nabla \log p_\theta\right)`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from kmcf.adaptation.objective import Objective
from kmcf.adaptation.parameters import Parameters
from kmcf.adaptation.search import Evaluation
from kmcf.adaptation.surface import Peak
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.linalg import cholesky
from kmcf.support.alerts import RejectedStepWarning, UnusedTimesWarning
from kmcf.transitions.base import Transition

FEWEST_PATHS, MOST_PATHS, MOVES = 300, 1000, 50_000
"""So many paths are drawn from each sequence, or as many as give so many moves."""
CYCLES = 10
"""So many cycles at most, of two steps each."""
CLOSE = 0.005
"""A step shorter than this part of the bounds is the last one."""
MOST_HASTE = 4.0
"""An extrapolation goes no further than so many steps: they are noisy."""
APART = 0.003
"""Derivatives are differences over this part of the bounds."""
UNLIKELY = 1e12
"""What impossible transitions cost."""


class Moves(NamedTuple):
    """Drawn moves that one call of a density can judge: those of one sequence, or of one of its steps."""

    previous: FloatArray
    """(S, moves, d)."""
    next: FloatArray
    control: Any
    elapsed: Any

    def log_densities(self, density: Callable[..., Any]) -> FloatArray:
        """Return the sums over moves of each path's log densities, (S,)."""
        count, steps = self.previous.shape[:2]
        rows = [part.reshape(count * steps, *part.shape[2:]) for part in (self.next, self.previous)]
        values = np.asarray(density(*rows, self.control, self.elapsed), dtype=np.float64)
        if values.size != count * steps or np.isnan(values).any():
            raise ValueError(
                f"log_density of your transition must return {count * steps} numbers, one for each move, none of them "
                f"NaN; it returned an array of shape {values.shape}."
            )
        found = values.reshape(count, steps)
        return np.asarray(found.sum(axis=1), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Complete:
    """Paths drawn for all sequences, which transitions are judged by."""

    sequences: Sequence[Sequence[Moves]]
    known: Parameters

    def by_path(self, place: FloatArray) -> list[FloatArray]:
        """Return the log densities of whole paths, sequence by sequence, (S,) each."""
        density = density_of(self.known.transition(np.clip(place, 0.0, 1.0)))
        return [np.sum([part.log_densities(density) for part in one], axis=0) for one in self.sequences]

    def value(self, place: FloatArray) -> float:
        """Return Q; minus infinity where a transition is impossible."""
        try:
            total = sum(float(one.mean()) for one in self.by_path(place))
        except (ValueError, ArithmeticError):  # a covariance that is none, say
            return -np.inf
        return total if np.isfinite(total) else -np.inf

    def best(self, place: FloatArray) -> FloatArray:
        """Return where Q is largest: the M step."""
        scale = max(abs(self.value(place)), 1.0)
        found = minimize(
            lambda u: min(-self.value(u) / scale, UNLIKELY),
            place,
            method="L-BFGS-B",
            bounds=[(0.0, 1.0)] * len(place),
            options={"eps": 1e-6, "ftol": 1e-10},
        )
        better = np.clip(found.x, 0.0, 1.0)
        return better if self.value(better) >= self.value(place) else place

    def peak(self, place: FloatArray) -> Peak:
        """Return the estimate with its covariance, by Louis's formula."""
        centre = np.clip(place, APART, 1.0 - APART)
        missing, error = np.zeros((len(place),) * 2), np.zeros((len(place),) * 2)
        try:
            slopes = list(self._gradients(centre))
        except (ValueError, ArithmeticError):  # beside the estimate a transition is impossible
            return Peak(place, None, None, self.value(place))
        for gradients in slopes:
            varied = np.atleast_2d(np.cov(gradients, rowvar=False))
            missing, error = missing + varied, error + varied / len(gradients)
        information = self._complete(centre) - missing
        if not np.isfinite(information).all() or np.linalg.eigvalsh(information).min() <= 0.0:
            return Peak(place, None, None, self.value(place))
        factor = cholesky(information, shift=0.0, name="the information", remedy="the number of steps")
        monte_carlo = np.asarray(factor.solve(np.asarray(factor.solve(error)).T))
        covariance = np.asarray(factor.solve(np.eye(len(place)))) + monte_carlo
        return Peak(place, covariance, monte_carlo, self.value(place))

    def _gradients(self, centre: FloatArray) -> Iterator[FloatArray]:
        """Yield the gradients of the paths' log densities, sequence by sequence, (S, p)."""
        steps = APART * np.eye(len(centre))
        ahead, behind = ([self.by_path(centre + sign * step) for step in steps] for sign in (1.0, -1.0))
        for k in range(len(self.sequences)):
            columns = [(a[k] - b[k]) / (2.0 * APART) for a, b in zip(ahead, behind, strict=True)]
            yield np.stack(columns, axis=1)

    def _complete(self, centre: FloatArray) -> FloatArray:
        """Return minus the second derivatives of Q."""
        steps = APART * np.eye(len(centre))
        middle = self.value(centre)

        def bend(step: FloatArray) -> float:
            return (self.value(centre + step) - 2.0 * middle + self.value(centre - step)) / APART**2

        own = [bend(step) for step in steps]
        found = -np.diag(own)
        for i, j in zip(*np.triu_indices(len(centre), 1), strict=True):
            found[i, j] = found[j, i] = -0.5 * (bend(steps[i] + steps[j]) - own[i] - own[j])
        return found


@dataclass(frozen=True, eq=False)
class Smoothing:
    """The E step: smooths the sequences with one transition, and draws paths."""

    score: Objective
    known: Parameters
    seed: int

    def __call__(self, place: FloatArray) -> tuple[FloatArray, Complete]:
        """Return the scores of all steps, and paths."""
        transition = self.known.transition(place)
        density_of(transition)
        sequences, controls, times = self.score.repeated()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RejectedStepWarning)
            warnings.simplefilter("ignore", UnusedTimesWarning)
            runs = self.score.flt.with_transition(transition).smooth_many(sequences, controls, times)
        drives = controls or [None] * len(runs)
        drawn = [
            self._moves(run, transition, control, stream)
            for stream, (run, control) in enumerate(zip(runs, drives, strict=True))
        ]
        return self.score.averaged([self.score.of_run(run) for run in runs]), Complete(drawn, self.known)

    def _moves(self, run: Any, transition: Any, controls: Any, stream: int) -> list[Moves]:
        size = int(np.clip(MOVES // len(run.beliefs), FEWEST_PATHS, MOST_PATHS))
        paths = run.sample_paths(size, random_state=np.random.default_rng((self.seed, stream)))
        if not isinstance(paths, np.ndarray):
            raise TypeError("method='em' needs states that are numbers; take method='evidence'.")
        previous, after = paths[:, :-1], paths[:, 1:]
        elapsed = [belief.elapsed for belief in run.beliefs[1:]]
        timed = any(time is not None for time in elapsed)
        given = None if controls is None else list(controls)[1:]
        if given is None and not timed:
            return [Moves(previous, after, None, None)]
        if isinstance(transition, Transition):  # which takes one control and one time for each move
            each = None if given is None else np.concatenate([np.stack(given)] * size)
            return [Moves(previous, after, each, np.tile(elapsed, size) if timed else None)]
        return [
            Moves(previous[:, t : t + 1], after[:, t : t + 1], None if given is None else given[t], elapsed[t])
            for t in range(len(elapsed))
        ]


def density_of(transition: Any) -> Callable[..., Any]:
    """Return a transition's log density; an error where it has none."""
    density = getattr(transition, "log_density", None)
    if not callable(density):
        raise TypeError(
            "method='em' asks how probable moves are, which this transition does not say: give it a method "
            "log_density(next, previous, control, elapsed), or take method='evidence', which only draws moves."
        )
    return density


def climb(
    smoothing: Smoothing, start: FloatArray, check: Callable[[Evaluation], None], tick: Callable[[], object]
) -> tuple[Peak, list[Evaluation]]:
    """Go from one transition to the next until they no longer change; the last evaluation is at the estimate.

    Parameters
    ----------
    smoothing : Smoothing
        The E step.
    start : array (p,)
        Where to start, in the unit cube.
    check : callable
        Called with the first evaluation.
    tick : callable
        Called after each E step.
    """
    made: list[Evaluation] = []

    def expected(place: FloatArray) -> Complete:
        scores, complete = smoothing(place)
        made.append(Evaluation(place, scores, ""))
        if len(made) == 1:
            check(made[0])
            complete.by_path(place)  # later, a density that fails is a place to avoid; here it is the user's error
        tick()
        return complete

    place = start
    for _ in range(CYCLES):
        first = expected(place).best(place)
        second = expected(first).best(first)
        if np.abs(second - first).max() < CLOSE:
            place = second
            break
        place = extrapolated(place, first, second)
    return expected(place).peak(place), made


def most_smoothings() -> int:
    """Return how many E steps a climb takes, at most."""
    return 2 * CYCLES + 1


def extrapolated(zero: FloatArray, one: FloatArray, two: FloatArray) -> FloatArray:
    """Return where three successive places in the unit cube lead to, by squared extrapolation.

    Examples
    --------
    >>> extrapolated(*(np.array([1.0 - 0.5**k]) for k in range(3)))  # each step goes half of the way to one
    array([1.])
    """
    step, bend = one - zero, two - 2.0 * one + zero
    haste = np.clip(np.linalg.norm(step) / max(float(np.linalg.norm(bend)), 1e-12), 1.0, MOST_HASTE)
    return np.asarray(np.clip(zero + 2.0 * haste * step + haste**2 * bend, 0.0, 1.0))
