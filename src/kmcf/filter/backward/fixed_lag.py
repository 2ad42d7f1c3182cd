"""Smoothing as observations come in: the belief some steps back, which knows what has been observed since."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kmcf.bayes_rule.backward import BackwardStep
from kmcf.filter.backward.smoother import SmoothedBelief, Smoother
from kmcf.filter.clock import Drive
from kmcf.filter.results.belief import Belief


@dataclass(frozen=True, eq=False)
class FixedLag:
    """A filter that answers ``lag`` steps late. It does not change: a step returns a new one.

    Made by ``flt.smooth_lag(lag)``.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(100, random_state=0), model.simulate(6, random_state=1)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, random_state=0).fit(train.states, train.observations)
    >>> late = flt.smooth_lag(2)
    >>> for y in test.observations:
    ...     late = late.step(y)
    >>> late.filtered.time, late.smoothed.time, [belief.time for belief in late.rest()]
    (6, 4, [5, 6])
    """

    filter: Any
    lag: int
    smoother: Smoother
    beliefs: tuple[Belief, ...]
    """What the filter believed at the last steps, at most lag + 1; before the first step the initial belief."""
    steps: tuple[BackwardStep, ...] = ()
    """From each of them but the last back to the one before."""

    @property
    def filtered(self) -> Belief:
        """What the filter believes now."""
        return self.beliefs[-1]

    @cached_property
    def smoothed(self) -> Belief | None:
        """The belief ``lag`` steps back, which knows the observations since; None while there are not so many steps."""
        return self._known(0) if len(self.beliefs) == self.lag + 1 and self.filtered.time > self.lag else None

    def step(self, y: Any, control: Any = None, time: Any = None) -> FixedLag:
        """Return the same after one more observation; parameters as for the filter's own ``step``."""
        return self.after(self.filter.step(self.filtered, y, control, time), control)

    def after(self, belief: Belief, control: Any = None) -> FixedLag:
        """Return the same after a step that the filter has already made, to this belief."""
        before, after = self.filtered, belief
        if before.time == 0:
            return replace(self, beliefs=(after,))
        back = self.smoother.back(before, Drive(control, after.elapsed, after.clock)) if self.lag else None
        steps = () if back is None else (*self.steps, back)[-self.lag :]
        return replace(self, beliefs=(*self.beliefs, after)[-self.lag - 1 :], steps=steps)

    def rest(self) -> tuple[Belief, ...]:
        """Return the beliefs of the steps after :attr:`smoothed`, given what was observed so far: for the end."""
        if self.filtered.time == 0:
            return ()
        first = 0 if self.smoothed is None else 1
        return tuple(self._known(k) for k in range(first, len(self.beliefs)))

    def _known(self, place: int) -> Belief:
        """Return one of the last beliefs, given all observations so far."""
        if place == len(self.beliefs) - 1:
            return SmoothedBelief(self.filtered, None)
        weights = None
        for k in range(len(self.beliefs) - 2, place - 1, -1):
            weights = self.steps[k].given(self.smoother.later(self.beliefs[k + 1], weights))
        return SmoothedBelief(self.beliefs[place], weights, unsmoothed=weights is None)
