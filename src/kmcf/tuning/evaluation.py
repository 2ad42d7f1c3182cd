"""Judging settings: fit on every fold's training examples, filter its held-out sequences, compare with the truth."""

from __future__ import annotations

import uuid
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from kmcf.filter.results.belief import Belief
from kmcf.filter.sequential import SequentialFilter
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.interrupts import raise_if_lost, was_interrupted
from kmcf.numerics.objects import Objects, take
from kmcf.numerics.threads import one_thread
from kmcf.support.alerts import FewExamplesWarning, HighRankWarning, RejectedStepWarning
from kmcf.tuning.examples import TuningExamples
from kmcf.tuning.folds import Fold
from kmcf.tuning.metrics import Metric
from kmcf.tuning.space import Space
from kmcf.tuning.trials import BLOCKS, Proposal, Rival, Trial, is_hopeless

KEPT_FILTERS = 6
"""Fitted filters kept per fold, for later trials that differ little from one of them."""
REGULARISERS = ("epsilon", "delta")


class HopelessTrial(Exception):  # noqa: N818 - a verdict, not an error
    """A trial was stopped because others do clearly better on the same steps."""


class BadMetricError(ValueError):
    """A metric returned something that is not a finite number."""


@dataclass
class Judge:
    """Runs trials, with the same random numbers in each.

    Attributes
    ----------
    examples : TuningExamples
        All examples.
    folds : tuple of Fold
        How they are divided.
    space : Space
        The filter's variants.
    metric : Metric
        What is averaged over the held-out steps.
    seed : int
        Random state of every filter.
    sequential : bool
        If not, every held-out example is judged alone, with the distribution of the training states as prior.
    """

    examples: TuningExamples
    folds: tuple[Fold, ...]
    space: Space
    metric: Metric
    seed: int
    sequential: bool
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        self._kept: list[OrderedDict[Any, SequentialFilter]] = [OrderedDict() for _ in self.folds]
        self._lock = Lock()  # trials may run in threads

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the fitted filters."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_kept", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Start without fitted filters."""
        self.__dict__.update(state)
        self.__post_init__()

    def run(self, number: int, proposal: Proposal, rival: Rival | None) -> Trial:
        """Judge one proposal.

        Parameters
        ----------
        number : int
            The trial's number.
        proposal : Proposal
            What to try.
        rival : Rival, optional
            What this trial must not fall far behind; None: do not prune.
        """
        began = perf_counter()
        blocks: list[float] = []
        status, value, error = "complete", np.nan, ""
        try:
            with warnings.catch_warnings(), one_thread():
                for expected in (RejectedStepWarning, HighRankWarning, FewExamplesWarning):
                    warnings.simplefilter("ignore", expected)
                value = self._embedded(proposal) if self.metric.embedding else self._averaged(proposal, blocks, rival)
        except HopelessTrial:
            status = "pruned"
        except Exception as problem:
            if was_interrupted(problem):  # compiled code, the user's too, makes an error of it
                raise KeyboardInterrupt from problem
            if number == 0 and isinstance(problem, BadMetricError):
                raise  # with the untuned defaults, the metric is at fault
            notes = "".join(f" ({note})" for note in getattr(problem, "__notes__", []))
            status, error = "failed", f"{type(problem).__name__}: {problem}{notes}"
        return Trial(number, proposal, status, value, tuple(blocks), perf_counter() - began, error)

    def _averaged(self, proposal: Proposal, blocks: list[float], rival: Rival | None) -> float:
        """Average the losses over all held-out steps, block by block."""
        total = sum(fold.steps for fold in self.folds)
        edges = np.linspace(0, total, min(BLOCKS, total) + 1).astype(int)
        sizes, edges = np.diff(edges).tolist(), edges[1:]
        losses: list[float] = []
        started = 0
        for _, index, belief in self._beliefs(proposal):
            losses.append(self._loss(belief, index))
            if len(losses) == edges[len(blocks)]:
                blocks.append(float(np.mean(losses[started:])))
                started = len(losses)
                if is_hopeless(blocks, rival, sizes):
                    raise HopelessTrial
        return self.metric.value(float(np.mean(losses)))

    def _embedded(self, proposal: Proposal) -> float:
        """Average the differences of the features over each fold; then their squared lengths over the folds."""
        sums: list[FloatArray | float] = [0.0] * len(self.folds)
        for number, index, belief in self._beliefs(proposal):
            sums[number] = sums[number] + self.metric.loss(belief, self.examples.states[index])
        distances = [float(np.sum((s / fold.steps) ** 2)) for s, fold in zip(sums, self.folds, strict=True)]
        return self.metric.value(float(np.mean(distances)))

    def _loss(self, belief: Belief, index: int) -> float:
        returned = self.metric.loss(belief, self.examples.states[index])
        try:
            loss = float(returned)
        except (TypeError, ValueError):  # an array, a word, None
            loss = np.nan
        if not np.isfinite(loss):
            raise BadMetricError(
                f"the metric {self.metric.name!r} returned {returned} for example {index}; it must return a finite "
                "number for every belief and true state."
            )
        return loss

    def _beliefs(self, proposal: Proposal) -> Iterator[tuple[int, int, Belief]]:
        """Yield, step by step, the number of the fold, the index of the example and the belief there."""
        stream = 0
        for number, fold in enumerate(self.folds):
            flt = self._fitted(number, fold, proposal)
            for sequence in fold.sequences:
                belief = flt.start(stream if self.sequential else 0)
                stream += 1
                for index in sequence:
                    y = self.examples.observation(int(index), fold.training)
                    index = int(index)
                    belief = flt.step(belief, y, self.examples.control(index), self.examples.time(index))
                    raise_if_lost()
                    yield number, int(index), belief

    def _fitted(self, number: int, fold: Fold, proposal: Proposal) -> SequentialFilter:
        """Return the filter fitted on a fold, sharing what it can with those fitted before."""
        encoded = self.space.encoded(proposal)["settings"]
        key = (proposal.variant, tuple((name, value) for name, value in encoded.items() if name not in REGULARISERS))
        known, same = self._known(number, key)
        states, observations = self.examples.training(fold.training)
        further = self.examples.further(self.space.filters[proposal.variant], fold.rest)
        if known is not None and not further:
            changes = {name: value for name, value in proposal.settings.items() if not same or name in REGULARISERS}
            flt = known.refitted(states, observations, **changes)
        else:
            prepared = prepared_filter(self.space.filters[proposal.variant], self.seed)
            if not self.sequential and "initial" in prepared.get_params(deep=False):
                prepared.set_params(initial=TrainingStates(states))
            flt = prepared.set_params(**proposal.settings).fit(states, observations, **further)
        if not self.metric.own:
            flt.backend_ = flt.backend_.unwatched()  # nobody will see its alarms
        with self._lock:
            kept = self._kept[number]
            kept[key] = flt
            kept.move_to_end(key)
            if len(kept) > KEPT_FILTERS:
                kept.popitem(last=False)
        return flt

    def _known(self, number: int, key: tuple[str, Any]) -> tuple[SequentialFilter | None, bool]:
        """Return a filter fitted on this fold before, and whether it differs in the regularisers only."""
        with self._lock:
            kept = self._kept[number]
            if key in kept:
                return kept[key], True
            return next((flt for other, flt in reversed(kept.items()) if other[0] == key[0]), None), False


@dataclass(frozen=True)
class TrainingStates:
    """An initial distribution: the training states themselves, each equally often if the size allows."""

    states: Objects

    def __call__(self, size: int, rng: np.random.Generator) -> Objects:
        """Draw without replacement, starting over as often as necessary."""
        return take(self.states, np.resize(rng.permutation(len(self.states)), size))


def prepared_filter(flt: SequentialFilter, seed: int) -> SequentialFilter:
    """Return an unfitted copy of a filter with a given random state."""
    prepared: SequentialFilter = clone(flt)
    return prepared.set_params(random_state=seed) if "random_state" in prepared.get_params(deep=False) else prepared


_JUDGES: dict[str, Judge] = {}


def run_in_worker(judge: Judge, number: int, encoded: dict[str, Any], rival: Rival | None) -> Trial:
    """Run a trial in a worker process, which keeps the judge of the latest study and its fitted filters."""
    if judge.token not in _JUDGES:
        _JUDGES.clear()
        _JUDGES[judge.token] = judge
    known = _JUDGES[judge.token]
    return known.run(number, known.space.decoded(encoded), rival)
