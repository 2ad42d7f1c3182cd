"""A step of a filter with a Bayes' rule, put together from what the filter learnt."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any

from kmcf.bayes_rule import BayesRule, Examples
from kmcf.filter.backend import Reader
from kmcf.filter.fitting.learnt import LearningSettings, Learnt
from kmcf.filter.fitting.patterns import with_patterns
from kmcf.filter.motion import Motion, OneMove
from kmcf.filter.reach import Reach
from kmcf.filter.relocation import Relocation, obstacle, usual_coverage
from kmcf.filter.sensors import SensorsReader, SensorsRule
from kmcf.filter.sequential import SequentialFilter
from kmcf.filter.settings import particles_for
from kmcf.filter.step import Move, Step
from kmcf.filter.support import Support
from kmcf.filter.watching import watch_observations, watch_over
from kmcf.kernels import Kernel
from kmcf.numerics.objects import Objects
from kmcf.trust.alarm import Watch
from kmcf.trust.rehearsal import Mover


class RuleSteps(SequentialFilter):
    """The part of a filter with a Bayes' rule that makes its steps: by one sensor or several."""

    n_particles: int | None
    reject: bool | None
    relocate: bool | None = None

    sensors_: dict[str, Any] | None = None
    """A filter for each sensor, fitted to its examples alone; None where ``fit`` was given those of one sensor."""
    learnt_: Learnt
    """Everything that was learnt from the examples."""
    state_kernel_: Kernel

    @abstractmethod
    def _support(self) -> Support:
        """Turn the settings that are words into what fits the rule."""

    @abstractmethod
    def _learning_settings(self, support: Support | None = None) -> LearningSettings:
        """Return what learning from examples needs to know of the filter."""

    @property
    def n_particles_(self) -> int:
        """The number of particles in use."""
        return particles_for(self.n_particles, len(self._start_states))

    @property
    def rejecting_(self) -> bool:
        """Whether the prediction is kept when a correction cannot be trusted."""
        return True if self.reject is None else bool(self.reject)

    @property
    def relocating_(self) -> bool:
        """Whether the state is looked for among all examples where observations contradict the prediction."""
        return self.relocate is not False and not obstacle(self)

    @property
    def _start_states(self) -> Objects:
        """The example states from which initial ones are drawn."""
        return self.learnt_.start_states if self.sensors_ is None else self.states_

    def _motion(self) -> Motion:
        return replace(super()._motion(), examples=self._start_states, forgiving=self._makes_up_pairs)

    @property
    def _makes_up_pairs(self) -> bool:
        parts = [self] if self.sensors_ is None else self.sensors_.values()
        return any(getattr(part, "augmented_", 0) > 0 for part in parts)

    def _reader(self) -> Reader:
        if self.sensors_ is None:
            return super()._reader()
        return SensorsReader({name: sensor.reader_ for name, sensor in self.sensors_.items()})

    def _rule(self) -> BayesRule:
        """Return what corrects, by all columns of an observation or by some, by one sensor or several."""
        if self.sensors_ is None:
            return with_patterns(self.learnt_, self._learning_settings())
        return SensorsRule({name: part._rule() for name, part in self.sensors_.items()}, self.rejecting_)

    def _step(self) -> Step:
        rule, motion = self._rule(), self._motion()
        return Step(
            predict=Move(motion, self.n_particles_),
            rule=rule,
            rejecting=self.rejecting_,
            n_particles=self.n_particles_,
            kernel=self.state_kernel_,
            angles=self.angles,
            watch=self._make_watch(),
            relocation=self._relocation(rule) if self.relocating_ else None,
            reach=Reach(motion),
        )

    def _relocation(self, rule: BayesRule) -> Relocation:
        states = self._start_states
        covered = partial(usual_coverage, rule, states, self._mover(), self.angles)
        return Relocation(states, self.n_particles_, covered)

    def _make_watch(self) -> Watch:
        if self.sensors_ is not None:
            return watch_observations(self.states_, None, None, self.angles, self._thresholds)
        settings, learnt, support = self._learning_settings(), self.learnt_, self._support().for_few()

        def rule_of(examples: Examples, n_particles: int) -> BayesRule:
            return support.fit(examples, learnt.epsilon, learnt.delta, n_particles).rule

        return watch_over(
            learnt, settings, rule_of, self._mover(), n_particles=self.n_particles_, seed=self.seed_,
            known=self._thresholds,
        )  # fmt: skip

    def _mover(self) -> Mover:
        """Return what moves states once, without a control."""
        return OneMove(self.transition, self.angles, self._start_states if self._makes_up_pairs else None)
