"""The methods that Section 6.2 compares, and four that it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sklearn.base import clone

from kmcf.baselines import GPParticleFilter, KernelBayesFilter, KNNParticleFilter, ParticleFilter
from kmcf.bayes_rule.defaults import DELTA_PLAIN
from kmcf.filter import KernelMonteCarloFilter, SequentialFilter
from kmcf.kernels import Gaussian, Learned
from kmcf.kernels.defaults import OBSERVATION_MULTIPLIER, STATE_MULTIPLIER
from kmcf.tuning import TuningResult, tune
from kmcf_lab.synthetic.data import TRANSITIONS, SimulatedData

HERDED, PARTICLES = 50, 5000
"""The paper's ℓ, and the particles of kNN-PF and GP-PF."""
TUNING_PARTICLES = 1000
"""Particles of kNN-PF while it is tuned: a third of the time, the same settings chosen."""
DELTA = DELTA_PLAIN["kbr"]
"""Trials with Gaussian kernels on raw observations are drawn around this δ. The default for kernels given by the user
is ten times larger, and few trials around it come near 1e-6, the best values for ten-dimensional observations."""
MANY = 500
"""From this number of examples on, only half as many trials are affordable."""


@dataclass(frozen=True)
class SyntheticMethod:
    """A method of the comparison.

    Parameters
    ----------
    name : str
        As in the paper, where it has a name there.
    about : str
        What it is.
    make : callable
        From a data set to a filter that is not fitted.
    trials : int
        Number of settings tried in the two-fold cross validation; 0: it is not tuned.
    held : sequence of str
        Settings that are not tuned although the filter declares them.
    while_tuning : mapping
        Settings that differ during the trials.
    delta : float, optional
        The centre of the search for δ, where it is not the filter's own default.
    """

    name: str
    about: str
    make: Callable[[SimulatedData], SequentialFilter]
    trials: int = 0
    held: tuple[str, ...] = ()
    while_tuning: Mapping[str, Any] = field(default_factory=dict)
    delta: float | None = None

    def affordable_trials(self, n: int, share: float = 1.0) -> int:
        """Return how many settings are tried with n examples.

        Examples
        --------
        >>> METHODS["KMCF"].affordable_trials(200), METHODS["KMCF"].affordable_trials(800)
        (16, 8)
        """
        return round(self.trials * share * (0.5 if n >= MANY else 1.0))

    def fitted(self, data: SimulatedData, trials: int) -> tuple[SequentialFilter, TuningResult | None]:
        """Return the filter fitted to all examples, tuned on them by two-fold cross validation if there are trials."""
        flt, train = self.make(data), data.train
        if self.delta is not None:
            flt.set_params(delta=self.delta)
        if trials == 0:
            return flt.fit(train.states, train.observations), None
        original = {name: flt.get_params(deep=False)[name] for name in self.while_tuning}
        result = tune(
            clone(flt).set_params(**self.while_tuning),
            train.states,
            train.observations,
            train.controls,
            n_trials=trials,
            n_best=max(1, min(5, trials // 3)),
            random_state=data.seed,
            space=dict.fromkeys(self.held),
        )
        best = result.best_filter
        if original:
            best = clone(best).set_params(**original).fit(train.states, train.observations)
        return best, result


def paper_filter(data: SimulatedData, **settings: Any) -> SequentialFilter:
    """Return the paper's filter: Gaussian kernels on raw states and observations."""
    common: dict[str, Any] = {
        "initial": data.model.initial,
        "state_kernel": Gaussian(multiplier=STATE_MULTIPLIER),
        "observation_kernel": Gaussian(multiplier=OBSERVATION_MULTIPLIER),
        "tolerance": "auto",
        "n_resample": HERDED,
        "random_state": data.seed,
    }
    return KernelMonteCarloFilter(data.model.transition, **{**common, **settings})


def _default(data: SimulatedData, **settings: Any) -> SequentialFilter:
    """Return the filter with its default settings."""
    model = data.model
    return KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=data.seed, **settings)


def _neighbours(data: SimulatedData) -> SequentialFilter:
    model = data.model
    return KNNParticleFilter(model.transition, model.initial, n_particles=PARTICLES, random_state=data.seed)


def _processes(data: SimulatedData) -> SequentialFilter:
    model = data.model
    return GPParticleFilter(model.transition, model.initial, n_particles=PARTICLES, random_state=data.seed)


def _oracle(data: SimulatedData) -> SequentialFilter:
    model = data.model
    settings: dict[str, Any] = {"n_particles": PARTICLES, "random_state": data.seed}
    return ParticleFilter(model.transition, model.log_likelihood, model.initial, **settings)


def kernel_bayes(data: SimulatedData, **settings: Any) -> SequentialFilter:
    """Return a Kernel Bayes' Rule filter that learns its transition from the data's moves, also while it is tuned."""
    moves = data.transitions

    class WithMoves(KernelBayesFilter):
        def fit(self, states: Any, observations: Any, controls: Any = None, transitions: Any = None) -> Any:
            """Learn the observation model from the examples and the transition from the moves."""
            return super().fit(states, observations, transitions=moves)

    kernel = Gaussian(multiplier=OBSERVATION_MULTIPLIER)
    common: dict[str, Any] = {"observation_kernel": kernel, "tolerance": "auto", "random_state": data.seed}
    return WithMoves(initial=data.model.initial, **{**common, **settings})


_ALL = (
    SyntheticMethod(
        "KMCF", "the paper's filter: Gaussian kernels on raw observations, ℓ = 50", paper_filter, 16, delta=DELTA
    ),
    *(
        SyntheticMethod(
            f"KMCF-low{rank}",
            f"the same, kernel matrices of rank {rank}",
            partial(paper_filter, rank=rank),
            16,
            held=("rank",),
            delta=DELTA,
        )
        for rank in (10, 20)
    ),
    *(
        SyntheticMethod(
            f"KMCF-sub{r}", f"the same on {r} herded examples", partial(paper_filter, n_examples=r), 16, delta=DELTA
        )
        for r in (50, 100)
    ),
    SyntheticMethod(
        "kNN-PF",
        "particle filter on a k-nearest-neighbour density, 5000 particles",
        _neighbours,
        12,
        while_tuning={"n_particles": TUNING_PARTICLES},
    ),
    SyntheticMethod(
        "GP-PF", "particle filter on Gaussian-process regressions, 5000 particles, marginal likelihood", _processes
    ),
    SyntheticMethod(
        "KBR",
        f"Kernel Bayes' Rule filter: learns the transition from {TRANSITIONS} moves",
        kernel_bayes,
        10,
        delta=DELTA,
    ),
    SyntheticMethod("oracle", "particle filter that knows the true likelihood, 5000 particles", _oracle),
    SyntheticMethod("defaults", "KMCF with its defaults: robust or learnt observation kernel, not tuned", _default),
    SyntheticMethod("importance", "the same with the importance-weighted rule", partial(_default, rule="importance")),
    SyntheticMethod(
        "learnt", "KMCF with a learnt observation kernel", partial(paper_filter, observation_kernel=Learned()), 10
    ),
)
METHODS = {method.name: method for method in _ALL}
