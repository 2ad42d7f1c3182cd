"""The methods that Section 6.2 compares, and four that it lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sklearn.base import clone

from kmcf.baselines import GPParticleFilter, KernelBayesFilter, KNNParticleFilter, ParticleFilter
from kmcf.bayes_rule.defaults import DELTA_PLAIN
from kmcf.datasets import StateSpaceModel, Trajectory, paper_model
from kmcf.filter import KernelMonteCarloFilter, SequentialFilter
from kmcf.kernels import Gaussian, Learned
from kmcf.kernels.defaults import OBSERVATION_MULTIPLIER, STATE_MULTIPLIER
from kmcf.tuning import TuningResult, tune
from kmcf_lab.cells import Cell, Value

HERDED, PARTICLES, TRANSITIONS = 50, 5000, 1000
"""The paper's ℓ, the particles of kNN-PF and GP-PF, and the transition examples of the Kernel Bayes' Rule filter."""
TUNING_PARTICLES = 1000
"""kNN-PF's settings are compared with so many particles; that costs a third of the time and chooses the same ones."""
DELTA = DELTA_PLAIN["kbr"]
"""Trials with Gaussian kernels on raw observations are drawn around this δ. The default for kernels that the user gives
is ten times larger, and few trials around it come near the best values for ten-dimensional observations, 1e-6."""
MANY = 500
"""From so many examples on, half as many trials are affordable."""


@dataclass(frozen=True)
class Problem:
    """One data set: examples, a test sequence, and moves for the filter that learns the transition too."""

    model: StateSpaceModel
    train: Trajectory
    test: Trajectory
    moves: Trajectory
    seed: int
    """Of the random numbers inside the filters and of the trials, common to all methods."""

    @property
    def transitions(self) -> tuple[Any, ...]:
        """The moves as pairs, with their controls where the model has some."""
        pairs = (self.moves.states[:-1], self.moves.states[1:])
        return pairs if self.moves.controls is None else (*pairs, self.moves.controls[1:])


def make_problem(name: str, n: int, repetition: int, steps: int, seed: int) -> Problem:
    """Simulate a data set; the test sequence and the moves are the same for every number of examples.

    Parameters
    ----------
    name : str
        One of the paper's models.
    n : int
        Number of examples.
    repetition, seed : int
        Other numbers give independent data sets.
    steps : int
        Length of the test sequence.
    """
    model = paper_model(name)
    common: dict[str, Value] = {"model": name, "repetition": repetition, "seed": seed}
    return Problem(
        model,
        model.simulate(n, random_state=Cell("train", {**common, "n": n}).seed),
        model.simulate(steps, random_state=Cell("test", {**common, "steps": steps}).seed),
        model.simulate(TRANSITIONS + 1, random_state=Cell("moves", common).seed),
        Cell("filters", {**common, "n": n}).seed % 2**32,
    )


@dataclass(frozen=True)
class Method:
    """A method of the comparison.

    Parameters
    ----------
    name : str
        As in the paper, where it has one.
    about : str
        What it is.
    make : callable
        From a problem to a filter that is not fitted.
    trials : int
        How many settings are tried in the two-fold cross validation; 0: it is not tuned.
    held : sequence of str
        Settings that are not tuned although the filter declares them.
    while_tuning : mapping
        Settings that are different in the trials.
    delta : float, optional
        Around which δ is sought, where the filter's own default is not used.
    """

    name: str
    about: str
    make: Callable[[Problem], SequentialFilter]
    trials: int = 0
    held: tuple[str, ...] = ()
    while_tuning: Mapping[str, Any] = field(default_factory=dict)
    delta: float | None = None

    def affordable_trials(self, n: int, share: float = 1.0) -> int:
        """Return how many settings are tried with so many examples.

        Examples
        --------
        >>> METHODS["KMCF"].affordable_trials(200), METHODS["KMCF"].affordable_trials(800)
        (16, 8)
        """
        return round(self.trials * share * (0.5 if n >= MANY else 1.0))

    def fitted(self, problem: Problem, trials: int) -> tuple[SequentialFilter, TuningResult | None]:
        """Return the filter fitted on all examples, after two-fold cross validation on the same examples if tuned."""
        flt, train = self.make(problem), problem.train
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
            random_state=problem.seed,
            space=dict.fromkeys(self.held),
        )
        best = result.best_filter
        if original:
            best = clone(best).set_params(**original).fit(train.states, train.observations)
        return best, result


def plain(problem: Problem, **settings: Any) -> SequentialFilter:
    """Return the paper's filter: Gaussian kernels on raw states and observations."""
    common: dict[str, Any] = {
        "initial": problem.model.initial,
        "state_kernel": Gaussian(multiplier=STATE_MULTIPLIER),
        "observation_kernel": Gaussian(multiplier=OBSERVATION_MULTIPLIER),
        "tolerance": "auto",
        "n_resample": HERDED,
        "random_state": problem.seed,
    }
    return KernelMonteCarloFilter(problem.model.transition, **{**common, **settings})


def _default(problem: Problem, **settings: Any) -> SequentialFilter:
    """Return the filter as it comes."""
    model = problem.model
    return KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=problem.seed, **settings)


def _neighbours(problem: Problem) -> SequentialFilter:
    model = problem.model
    return KNNParticleFilter(model.transition, model.initial, n_particles=PARTICLES, random_state=problem.seed)


def _processes(problem: Problem) -> SequentialFilter:
    model = problem.model
    return GPParticleFilter(model.transition, model.initial, n_particles=PARTICLES, random_state=problem.seed)


def _oracle(problem: Problem) -> SequentialFilter:
    model = problem.model
    settings: dict[str, Any] = {"n_particles": PARTICLES, "random_state": problem.seed}
    return ParticleFilter(model.transition, model.log_likelihood, model.initial, **settings)


def kernel_bayes(problem: Problem, **settings: Any) -> SequentialFilter:
    """Return a Kernel Bayes' Rule filter that learns its transition from the problem's moves, in trials as well."""
    moves = problem.transitions

    class WithMoves(KernelBayesFilter):
        def fit(self, states: Any, observations: Any, controls: Any = None, transitions: Any = None) -> Any:
            """Learn the observation model from examples and the transition from the moves."""
            return super().fit(states, observations, transitions=moves)

    kernel = Gaussian(multiplier=OBSERVATION_MULTIPLIER)
    common: dict[str, Any] = {"observation_kernel": kernel, "tolerance": "auto", "random_state": problem.seed}
    return WithMoves(initial=problem.model.initial, **{**common, **settings})


_ALL = (
    Method("KMCF", "the paper's filter: Gaussian kernels on raw observations, ℓ = 50", plain, 16, delta=DELTA),
    *(
        Method(
            f"KMCF-low{rank}",
            f"the same, kernel matrices of rank {rank}",
            partial(plain, rank=rank),
            16,
            held=("rank",),
            delta=DELTA,
        )
        for rank in (10, 20)
    ),
    *(
        Method(f"KMCF-sub{r}", f"the same on {r} herded examples", partial(plain, n_examples=r), 16, delta=DELTA)
        for r in (50, 100)
    ),
    Method(
        "kNN-PF",
        "particle filter on a k-nearest-neighbour density, 5000 particles",
        _neighbours,
        12,
        while_tuning={"n_particles": TUNING_PARTICLES},
    ),
    Method("GP-PF", "particle filter on Gaussian-process regressions, 5000 particles, marginal likelihood", _processes),
    Method("KBR", "Kernel Bayes' Rule filter: learns the transition from 1000 moves", kernel_bayes, 10, delta=DELTA),
    Method("oracle", "particle filter that knows the true likelihood, 5000 particles", _oracle),
    Method("defaults", "KMCF as it comes: robust or learnt observation kernel, not tuned", _default),
    Method("importance", "the same with the importance-weighted rule", partial(_default, rule="importance")),
    Method("learnt", "KMCF with a learnt observation kernel", partial(plain, observation_kernel=Learned()), 10),
)
METHODS = {method.name: method for method in _ALL}
