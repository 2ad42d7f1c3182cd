"""Algorithm 3 as printed, and without its line 16: weights stay as Kernel Bayes' Rule gives them.

Where no example resembles an observation at all, all weights are zero, and line 16 would divide zero by zero. There,
and nowhere else, both filters keep their prediction.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import ClassVar

from kmcf.bayes_rule import BayesRule, DensePosterior, Prior
from kmcf.filter import KernelMonteCarloFilter
from kmcf.filter.step import Step
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects


class PrintedPosterior(DensePosterior):
    """A posterior that is used wherever its weights have a sum."""

    @property
    def usable(self) -> bool:
        """Whether there is anything to normalise."""
        return not self.vanishes


class UnnormalisedPosterior(PrintedPosterior):
    """A posterior whose weights are not divided by their sum: for estimates, for herding, for the next prediction."""

    @cached_property
    def _normalised(self) -> FloatArray:
        weights = self.unnormalised.copy()
        weights.flags.writeable = False
        return weights


@dataclass(frozen=True, eq=False)
class RecastRule(BayesRule):
    """A rule whose posteriors are turned into others with the same weights."""

    rule: BayesRule
    """It must form its weights, as the literal and the exact engine do."""
    posterior: type[DensePosterior]

    def correct(self, prior: Prior, observation: Objects) -> DensePosterior:
        """Apply the rule."""
        made = self.rule.correct(prior, observation)
        if not isinstance(made, DensePosterior):
            raise TypeError("this takes weights that have been formed: engine='literal' or engine='exact'.")
        return self.posterior(**{field.name: getattr(made, field.name) for field in fields(made)})

    def state_coverage(self, prior: Prior) -> float:
        """Ask the rule."""
        return self.rule.state_coverage(prior)


class PrintedFilter(KernelMonteCarloFilter):
    """The filter as printed: a step is rejected only where line 16 is not defined."""

    posterior: ClassVar[type[DensePosterior]] = PrintedPosterior

    def _step(self) -> Step:
        return replace(super()._step(), rule=RecastRule(self.rule_, self.posterior), rejecting=True)


class UnnormalisedFilter(PrintedFilter):
    """The filter without line 16; all settings as for the filter itself.

    Examples
    --------
    >>> import kmcf
    >>> train = kmcf.datasets.paper_model("1a").simulate(50, random_state=0)
    >>> flt = UnnormalisedFilter(kmcf.datasets.paper_model("1a").transition, engine="exact", random_state=0)
    >>> run = flt.fit(train.states, train.observations).filter(train.observations[:3])
    >>> bool(abs(run[2].weights.sum() - run.weight_sum[2]) < 1e-12)
    True
    """

    posterior: ClassVar[type[DensePosterior]] = UnnormalisedPosterior
