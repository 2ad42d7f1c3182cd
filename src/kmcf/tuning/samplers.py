"""Where the next settings to try come from. The first trial is always the untuned defaults."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from kmcf.support.extras import require
from kmcf.support.search_space import Category, Parameter
from kmcf.tuning.space import Space, position
from kmcf.tuning.trials import Proposal, Trial

REACH = 3.0
"""An optimiser searches within this many standard deviations of the defaults."""


class Sampler(Protocol):
    """Proposes settings, one trial after another, and learns how they did."""

    def propose(self, number: int) -> Proposal:
        """Return the settings of a trial."""

    def learn(self, trials: Sequence[Trial]) -> None:
        """Take in trials that have ended."""


class RandomSampler:
    """Independent log-normal draws around the defaults; trial k depends on the seed and k only.

    Parameters
    ----------
    space : Space
        What to draw from.
    seed : int
        Seed.
    """

    def __init__(self, space: Space, seed: int) -> None:
        self._space = space
        self._seed = seed

    def propose(self, number: int) -> Proposal:
        """Return the settings of a trial."""
        if number == 0:
            return self._space.default()
        rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(number,)))
        variants = list(self._space.filters)
        variant = variants[int(rng.integers(len(variants)))]
        return Proposal(variant, {name: p.draw(rng) for name, p in self._space.parameters[variant].items()})

    def learn(self, trials: Sequence[Trial]) -> None:
        """Learn nothing: the draws are independent."""


class OptunaSampler:
    """Settings proposed by Optuna, in units of standard deviations around the defaults (extra ``kmcf[tuning]``).

    Parameters
    ----------
    space : Space
        What to search.
    seed : int
        Seed of the default sampler.
    sampler : optuna.samplers.BaseSampler, optional
        None: the tree-structured Parzen estimator.
    """

    def __init__(self, space: Space, seed: int, sampler: Any = None) -> None:
        self._optuna = require("optuna", "tuning")
        self._optuna.logging.set_verbosity(self._optuna.logging.WARNING)
        self._space = space
        if sampler is None:
            sampler = self._optuna.samplers.TPESampler(seed=seed % 2**32)
        self._study = self._optuna.create_study(sampler=sampler)
        self._running: dict[int, Any] = {}

    def propose(self, number: int) -> Proposal:
        """Ask Optuna for the settings of a trial."""
        if number == 0:
            self._study.enqueue_trial(self._coordinates(self._space.default()))
        trial = self._study.ask()
        variants = list(self._space.filters)
        variant = trial.suggest_categorical(self._choice, variants) if len(variants) > 1 else variants[0]
        settings = {}
        for name, parameter in self._space.parameters[variant].items():
            if isinstance(parameter, Category):
                key, positions = self._key(variant, name), list(range(len(parameter.options)))
                settings[name] = parameter.options[trial.suggest_categorical(key, positions)]
            else:
                settings[name] = parameter.at(trial.suggest_float(self._key(variant, name), -REACH, REACH))
        self._running[number] = trial, Proposal(variant, settings)
        return self._running[number][1]

    def learn(self, trials: Sequence[Trial]) -> None:
        """Tell Optuna how trials ended, those of an earlier session included."""
        states = self._optuna.trial.TrialState
        ends = {"complete": states.COMPLETE, "pruned": states.PRUNED, "failed": states.FAIL}
        for trial in trials:
            value = trial.value if trial.status == "complete" else None
            running, proposal = self._running.pop(trial.number, (None, None))
            if running is not None and proposal == trial.proposal:
                self._study.tell(running, value, state=ends[trial.status])
                continue
            if running is not None:  # an earlier session, with other jobs or another sampler, tried something else
                self._study.tell(running, state=states.FAIL)
            self._study.add_trial(
                self._optuna.trial.create_trial(
                    params=self._coordinates(trial.proposal),
                    distributions=self._distributions(trial.proposal.variant),
                    value=value,
                    state=ends[trial.status],
                )
            )

    @property
    def _choice(self) -> str:
        return f"choice of {self._space.name}"

    @staticmethod
    def _key(variant: str, name: str) -> str:
        return f"{variant}: {name}"  # the same name may have another centre in another variant

    def _coordinates(self, proposal: Proposal) -> dict[str, Any]:
        parameters = self._space.parameters[proposal.variant]
        found: dict[str, Any] = {self._choice: proposal.variant} if len(self._space.filters) > 1 else {}
        for name, value in proposal.settings.items():
            found[self._key(proposal.variant, name)] = _coordinate(parameters[name], value)
        return found

    def _distributions(self, variant: str) -> dict[str, Any]:
        kinds = self._optuna.distributions
        found: dict[str, Any] = {}
        if len(self._space.filters) > 1:
            found[self._choice] = kinds.CategoricalDistribution(list(self._space.filters))
        for name, parameter in self._space.parameters[variant].items():
            found[self._key(variant, name)] = (
                kinds.CategoricalDistribution(list(range(len(parameter.options))))
                if isinstance(parameter, Category)
                else kinds.FloatDistribution(-REACH, REACH)
            )
        return found


def _coordinate(parameter: Parameter, value: Any) -> Any:
    """Return how many standard deviations from the centre a number is, or which option."""
    if isinstance(parameter, Category):
        return position(parameter, value)
    deviations = math.log(value / parameter.center) / parameter.sd if value > 0 else -REACH
    return float(np.clip(deviations, -REACH, REACH))


def make_sampler(sampler: Any, space: Space, seed: int) -> Sampler:
    """Read a sampler: "random", "optuna", or a sampler of Optuna.

    Parameters
    ----------
    sampler : str or optuna.samplers.BaseSampler
        The sampler.
    space : Space
        What to search.
    seed : int
        Seed.
    """
    if isinstance(sampler, str) and sampler == "random":
        return RandomSampler(space, seed)
    if isinstance(sampler, str) and sampler == "optuna":
        return OptunaSampler(space, seed)
    if hasattr(sampler, "sample_independent"):
        return OptunaSampler(space, seed, sampler)
    raise ValueError(f"sampler = {sampler!r}; it must be 'random', 'optuna' or a sampler of Optuna.")
