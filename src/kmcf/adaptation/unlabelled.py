"""How a sensor has changed, from observations without states.

Changes are sought on a chain of examples (:mod:`kmcf.adaptation.example_chain`), whose smoothed states are the labels
of EM. Ways to change compete on blocks of the data that they were not estimated from. Nothing is changed unless

1. these blocks become more probable, in all by more than chance allows, and still without the one that gains most: a
   state that leaves the examples for a while, and so looks like a change, does not pass this;
2. the filter itself predicts the observations better with the change than without;
3. the observations gain more than all walks over the examples do, whose sensor has not changed
   (:mod:`kmcf.adaptation.unchanged_walks`): this is what a sensor that the chain describes badly does not pass.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kmcf.adaptation.affine import Affine, log_densities
from kmcf.adaptation.chain_likelihood import Likelihood
from kmcf.adaptation.change_search import ChangeSearch, search_changes
from kmcf.adaptation.example_chain import ExampleChain
from kmcf.adaptation.left_out_moments import LeftOutMoments
from kmcf.adaptation.surface import long_run
from kmcf.adaptation.unchanged_walks import UnchangedWalks
from kmcf.numerics.arrays import FloatArray
from kmcf.support.alerts import RejectedStepWarning, UnusedTimesWarning

MOST_STEPS = 2000
"""Later steps are not looked at."""
BLOCKS = 4
SURE = 1.5
"""The gain on blocks left out must exceed this many standard errors."""
RUNS = 3
"""Parts that the work has, for a progress bar."""


class Judged(NamedTuple):
    """A way to correct, judged on steps that it was not estimated on."""

    name: str
    gain: float
    """By how much more probable it makes the observations than no correction does, in log units."""
    gain_error: float


class Best(NamedTuple):
    """The best change, and what speaks against it."""

    change: Affine
    way: str
    judged: list[Judged]
    reason: str
    """Why nothing should be changed; empty if it should."""


@dataclass(frozen=True, eq=False)
class Sequences:
    """Observations over time, with what drove the moves, and the examples."""

    flt: Any
    states: FloatArray
    examples: FloatArray
    seen: Sequence[FloatArray]
    controls: Sequence[Any]
    times: Sequence[Any]
    tick: Callable[[], object] = lambda: None

    @cached_property
    def moments(self) -> LeftOutMoments:
        """What the sensor showed at the examples' states."""
        return LeftOutMoments.of(self.flt.state_kernel_, self.states, self.examples)

    @cached_property
    def chain(self) -> ExampleChain:
        """The chain of the examples, with these controls and times."""
        drives = list(zip(self.controls, self.times, strict=True))
        return ExampleChain.of(self.flt, self.moments, self.states, [len(one) for one in self.seen], drives)

    def predictions(self, change: Affine) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of what the old sensor would show, by the filter, (T, q)."""
        found = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RejectedStepWarning)
            warnings.simplefilter("ignore", UnusedTimesWarning)
            for stream, (seen, controls, times) in enumerate(zip(self.seen, self.controls, self.times, strict=True)):
                belief = self.flt.start(stream)
                for t, row in enumerate(change.before(seen)):
                    control = None if controls is None else controls[t]
                    clock = None if times is None else times[t]
                    found.append(self.moments(predicted(self.flt, belief, control, clock)))
                    belief = self.flt.step(belief, row, control, clock)
        self.tick()
        means, variances = (np.array(part) for part in zip(*found, strict=True))
        return means, variances

    def densities(self, change: Affine) -> FloatArray:
        """Return log densities of the numbers as they were seen, predicted by the filter itself, (T, q)."""
        return log_densities(np.concatenate(self.seen), *self.predictions(change), change)


def predicted(flt: Any, belief: Any, control: Any, time: Any) -> Any:
    """Return the prior of the next step, as a weighted sample."""
    backend = flt.backend_
    if hasattr(backend, "predicted"):
        return backend.predicted(belief, control, time)
    controls, times = (None if given is None else [given] for given in (control, time))
    return flt.forecast(belief, 1, controls, times)[0]


def best_change(sequences: Sequences) -> Best:
    """Return the change by the best way, and whether it should be made."""
    lengths = [len(one) for one in sequences.seen]
    number = np.arange(sum(lengths)) * BLOCKS // sum(lengths)
    # The first copy uses all steps, each of the others all but a block.
    counted = np.stack([np.ones(len(number)), *[(number != block).astype(float) for block in range(BLOCKS)]])
    likelihood = Likelihood(sequences.chain, sequences.seen, np.split(counted, np.cumsum(lengths)[:-1], axis=1))
    found = search_changes(ChangeSearch(likelihood, sequences.examples))
    sequences.tick()
    usual = likelihood.steps(likelihood.emissions(likelihood.none))[0]
    steps = {name: likelihood.steps(likelihood.emissions(changes)) for name, changes in found.items()}
    left_out = {name: each[number + 1, np.arange(len(number))] - usual for name, each in steps.items()}
    judged = [Judged(name, *total_of(gains)) for name, gains in left_out.items()]
    best = simplest_good(judged, left_out)
    change = Affine(found[best.name].scale[0], found[best.name].shift[0])
    reason = objection(best, np.array([left_out[best.name][number == block].sum() for block in range(BLOCKS)]))
    if not reason:
        gains = sequences.densities(change) - sequences.densities(Affine.none(len(change.scale)))
        reason = "the filter itself would not predict better" if np.nansum(gains) <= 0 else ""
    if not reason:
        gain = float((steps[best.name][0] - usual).sum())
        walks = UnchangedWalks(likelihood, sequences.examples, sequences.flt.seed_)
        as_much = walks.gain_as_much(best.name, gain)
        reason = "walks over the examples, where nothing has changed, gain as much" if as_much else ""
    return Best(change, best.name, judged, reason)


def objection(judged: Judged, blocks: FloatArray) -> str:
    """Return what speaks against a change; empty if nothing does.

    Examples
    --------
    >>> objection(Judged("shift", 10.0, 3.0), np.array([5.0, 3.0, 3.0, -1.0]))
    ''
    >>> objection(Judged("shift", 10.0, 3.0), np.array([15.0, 3.0, -3.0, -5.0]))
    'only part of the observations speak for it'
    """
    if not judged.gain > SURE * judged.gain_error:
        return "it does not make blocks left out more probable, beyond chance"
    if blocks.sum() <= blocks.max():
        return "only part of the observations speak for it"
    return ""


def simplest_good(judged: Sequence[Judged], gains: Mapping[str, FloatArray]) -> Judged:
    """Return the simplest way that gains beyond chance and is no worse than the best by more than a standard error.

    Ways come with the simplest first. If none gains beyond chance, the best is returned. Ways see the same steps, so
    the error is that of the difference, step by step: it is much smaller than that of either gain.

    Examples
    --------
    >>> gains = {"shift": np.tile([0.0, 0.3], 50), "shift and scale": np.tile([0.0, 0.5], 50)}
    >>> judged = [Judged(name, *total_of(one)) for name, one in gains.items()]
    >>> simplest_good(judged, gains).name
    'shift and scale'
    """
    sure = [one for one in judged if one.gain > SURE * one.gain_error]
    best = max(sure or judged, key=lambda one: one.gain)
    for one in sure:
        lost, error = total_of(gains[best.name] - gains[one.name])
        if lost <= error:
            return one
    return best


def total_of(gains: FloatArray) -> tuple[float, float]:
    """Return the sum of gains and its standard error, neighbours being alike; NaN does not count.

    Examples
    --------
    >>> total, error = total_of(np.array([1.0, 3.0] * 50))
    >>> total, round(error)
    (200.0, 10)
    """
    known = gains[np.isfinite(gains)]
    if len(known) < 2:
        return 0.0, np.inf
    return float(known.sum()), float(np.sqrt(long_run(known[:, None])[0, 0]))
