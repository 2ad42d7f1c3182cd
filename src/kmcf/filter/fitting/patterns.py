"""Bayes' rule for observations with missing numbers.

An observation is used with the columns that it has: by the rule that a filter fitted on these columns alone would have,
with the same settings and the same kernel on states. What is learnt from observations (their kernel, which kernel, the
engine and its factors) is learnt from these columns. Such a rule is fitted when its pattern of columns first occurs and
then kept, so that later steps with that pattern cost what any step does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from kmcf.bayes_rule import BayesRule, Posterior, Prior
from kmcf.filter.fitting.augmenting import obstacle
from kmcf.filter.fitting.gaps import Served, few_examples, known_columns, on_columns, rows_of, selected, serving
from kmcf.filter.fitting.kernel_fitting import given_kernel
from kmcf.filter.fitting.learning import learn_from
from kmcf.filter.fitting.learnt import LearningSettings, Learnt
from kmcf.filter.inputs import ObservationReader
from kmcf.numerics.arrays import BoolArray, IntArray, has_gaps
from kmcf.numerics.objects import Objects

MOST_PATTERNS, FEWEST_PATTERNS = 64, 8
KEPT_NUMBERS = 50_000_000
"""Patterns are kept while their kernel matrices would hold so many numbers, at least eight and at most 64."""


Rule = TypeVar("Rule")


class Fitted(NamedTuple, Generic[Rule]):
    """What corrects observations of one pattern."""

    columns: IntArray
    rule: Rule


@dataclass(frozen=True, eq=False)
class Patterns(Generic[Rule]):
    """The rules for all patterns of missing numbers, fitted on demand; those used last are kept."""

    observations: Objects
    """The examples by which columns and examples are chosen."""
    fit: Callable[[Served], Rule]
    """Fits a rule to the columns and examples that serve a pattern."""
    known: OrderedDict[bytes, Fitted[Rule]] = field(default_factory=OrderedDict)

    def __getitem__(self, pattern: BoolArray) -> Fitted[Rule]:
        """Return the rule for observations in which some columns are known."""
        key = pattern.tobytes()
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._fitted(pattern)
            while len(self.known) > self.most:
                self.known.popitem(last=False)
        else:
            self.known.move_to_end(key)
        return found

    def adopt(self, own: Fitted[Rule]) -> None:
        """Take the rule that a filter has for observations without gaps."""
        every = known_columns(self.observations)
        compared = np.isin(np.arange(len(every)), own.columns)
        self.known.update({pattern.tobytes(): own for pattern in (every, compared)})

    @property
    def most(self) -> int:
        """How many patterns are kept."""
        return int(np.clip(KEPT_NUMBERS // len(self.observations) ** 2, FEWEST_PATTERNS, MOST_PATTERNS))

    def _fitted(self, pattern: BoolArray) -> Fitted[Rule]:
        served = serving(self.observations, pattern)
        few_examples(served, "an observation has")
        return Fitted(served.columns, self.fit(served))


@dataclass(frozen=True, eq=False)
class PatternRule(BayesRule):
    """A rule that corrects by the columns that an observation has."""

    whole: BayesRule
    """The filter's own rule."""
    patterns: Patterns[BayesRule]
    complete: bool
    """Whether the filter's own rule takes observations as they are: no example lacks a number."""

    @property
    def by_embedding(self) -> bool:  # type: ignore[override]
        """As the filter's own rule."""
        return self.whole.by_embedding

    def correct(self, prior: Prior, observation: Objects) -> Posterior:
        """Correct by the rule for the observation's pattern."""
        rule, known = self._serving(observation)
        return rule.correct(prior, known)

    def suggested(self, observation: Objects) -> Prior | None:
        """Return what the rule for the observation's pattern makes of it alone."""
        rule, known = self._serving(observation)
        return rule.suggested(known)

    def _serving(self, observation: Objects) -> tuple[BayesRule, Objects]:
        """Return the rule for an observation's pattern, and the columns that it takes."""
        if self.complete and not has_gaps(observation):
            return self.whole, observation
        columns, rule = self.patterns[~np.isnan(observation).ravel()]
        return rule, np.reshape(observation, (1, -1))[:, columns]

    def state_coverage(self, prior: Prior) -> float:
        """Return how close a prior sample is to the example states."""
        return self.whole.state_coverage(prior)


def with_patterns(learnt: Learnt, settings: LearningSettings) -> BayesRule:
    """Return the rule of a filter, which also corrects observations that lack numbers, if it can.

    Parameters
    ----------
    learnt : Learnt
        What the filter learnt.
    settings : LearningSettings
        Its settings.
    """
    rule = learnt.fitted.rule
    if not has_patterns(learnt.reader):
        return rule
    first = learnt.examples[1][: learnt.learnt_from]
    patterns = Patterns[BayesRule](first, lambda served: learnt_on(learnt, settings, served).fitted.rule)
    if learnt.incomplete is not None:
        patterns.adopt(Fitted(learnt.incomplete.served.columns, rule))
    return PatternRule(rule, patterns, learnt.incomplete is None)


def has_patterns(reader: ObservationReader) -> bool:
    """Say whether observations may lack numbers that no kernel handles."""
    return reader.shape is not None and reader.accepts.columns and not reader.accepts.missing


def learnt_on(learnt: Learnt, settings: LearningSettings, served: Served) -> Learnt:
    """Learn from some columns what a filter fitted on them, and given the same further examples, would have learnt.

    Parameters
    ----------
    learnt : Learnt
        What the filter learnt from all columns.
    settings : LearningSettings
        The filter's.
    served : Served
        Which columns, and which examples of those of the fit.
    """
    kernel = given_kernel(settings.observation_kernel, "observation_kernel")
    states, observations = learnt.examples
    first = learnt.learnt_from
    known = selected(states[:first], observations[:first], served)
    # The columns left may be counts where those of all were not: then there are no pairs, even if wanted.
    augment = False if obstacle(*known, settings.angles) else settings.augment
    own = replace(settings, observation_kernel=on_columns(kernel, served.columns), augment=augment)
    found = learn_from(*known, learnt.reader, own, learnt.state_kernel)
    for last, refresh in ((learnt.refreshed_at, True), (len(states), False)):
        if last > first:
            absent = np.isnan(rows_of(observations[first:last])[:, served.columns]).any(axis=1)
            new = served._replace(rows=np.flatnonzero(~absent))
            found = found.appended(*selected(states[first:last], observations[first:last], new), own)
            found = found.refreshed(own) if refresh else found
            first = last
    return found
