"""A particle filter by approximate Bayesian computation (ABC): weigh particles by the observations they simulate.

Every particle simulates a pseudo-observation at every step, and is weighted by a kernel of its distance to the real one
(Jasra, Singh, Martin and McCoy 2012). The pseudo-observation is drawn with the move, as part of the predicted state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from kmcf.baselines.examples import ExampleFilter
from kmcf.baselines.particle_base import Likelihood, LikelihoodPosterior, LikelihoodRule
from kmcf.bayes_rule import BayesRule, Prior
from kmcf.bayes_rule.base import Resampler
from kmcf.filter.clock import Drive
from kmcf.filter.results.belief import Belief
from kmcf.filter.settings import check_count, check_positive
from kmcf.filter.step import Move, Prediction, Step
from kmcf.herding.resampling import Draw
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects

Simulator = Callable[[FloatArray, np.random.Generator], FloatArray]
"""Draws an observation of each of m states: (m, d) and random numbers to (m, …)."""
Summary = Callable[[FloatArray], FloatArray]
"""Turns m observations into m short vectors that are compared instead."""


def log_closeness(simulated: FloatArray, observation: FloatArray, bandwidth: float) -> FloatArray:
    """Return the logarithm of the Gaussian kernel exp(−‖ỹ − y‖² / 2h²), a number per simulated observation.

    Examples
    --------
    >>> log_closeness(np.array([[0.0], [3.0]]), np.array([1.0]), 1.0)
    array([-0.5, -2. ])
    """
    differences = np.reshape(simulated, (len(simulated), -1)) - np.ravel(observation)
    closeness: FloatArray = -0.5 * np.sum(differences**2, axis=1) / bandwidth**2
    return closeness


class SimulatedSample(NamedTuple):
    """A prior sample, and an observation simulated from each of its states."""

    states: Objects
    weights: FloatArray
    observations: FloatArray


@dataclass(frozen=True, eq=False)
class MoveAndSimulate:
    """The prediction: particles move, and each simulates an observation."""

    move: Prediction
    observe: Simulator

    def __call__(self, belief: Belief, drive: Drive, rng: np.random.Generator) -> SimulatedSample:
        """Return the moved particles with their pseudo-observations."""
        moved = self.move(belief, drive, rng)
        return SimulatedSample(moved.states, moved.weights, self.observe(moved.states, rng))


@dataclass(frozen=True, eq=False)
class AbcRule(BayesRule):
    """Bayes' rule on particles whose likelihood is the closeness of their pseudo-observations."""

    bandwidth: float
    resampler: Resampler
    summary: Summary | None = None

    def correct(self, prior: Prior, observation: Objects) -> LikelihoodPosterior:
        """Weigh the particles of a :class:`SimulatedSample`."""
        assert isinstance(prior, SimulatedSample)
        simulated, y = prior.observations, np.asarray(observation)
        if self.summary is not None:
            simulated, y = self.summary(simulated), self.summary(y)

        def likelihood(_particles: Objects, _observation: Objects) -> Likelihood:
            return Likelihood(log_closeness(simulated, y, self.bandwidth))

        return LikelihoodRule(likelihood, self.resampler).correct(prior, observation)

    def state_coverage(self, _prior: Prior) -> float:
        """Return NaN: particles may be anywhere."""
        return np.nan


class AbcParticleFilter(ExampleFilter):
    """Particle filter for observations that can be simulated and not evaluated.

    Parameters
    ----------
    transition : callable
        ``(states, control, rng) -> states``.
    observe : callable
        ``(states, rng) -> observations``: simulates one observation of each state.
    initial : callable, optional
        ``(size, rng) -> states``. None: i.i.d. draws from the example states given to ``fit``.
    bandwidth : float
        h of the Gaussian kernel that compares observations.
    summary : callable, optional
        ``observations -> vectors``: what is compared, of m observations at once. None: the observations themselves.
    n_particles : int
        Number of particles; each simulates one observation per step.
    resample_threshold : float
        Resample, systematically, when the effective sample size is below this share of the particles.
    angles : sequence of int
        State columns that are angles in radians.
    random_state : int, Generator or None
        Seed of all random numbers.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(50, random_state=0), model.simulate(20, random_state=1)
    >>> flt = AbcParticleFilter(model.transition, model.observe, model.initial, bandwidth=0.5, random_state=0)
    >>> flt.fit(train.states, train.observations).filter(test.observations).mean.shape
    (20, 1)
    """

    def __init__(
        self,
        transition: Callable[[Any, Any, np.random.Generator], Any],
        observe: Simulator,
        initial: Callable[[int, np.random.Generator], Any] | None = None,
        bandwidth: float = 1.0,
        summary: Summary | None = None,
        n_particles: int = 1000,
        resample_threshold: float = 0.5,
        angles: Sequence[int] = (),
        random_state: Any = None,
    ) -> None:
        self.transition = transition
        self.observe = observe
        self.initial = initial
        self.bandwidth = bandwidth
        self.summary = summary
        self.n_particles = n_particles
        self.resample_threshold = resample_threshold
        self.angles = angles
        self.random_state = random_state

    def fit(self, states: Any, observations: Any) -> Self:
        """Note what states and observations look like; nothing is learnt from them.

        Parameters
        ----------
        states, observations : arrays
            Some pairs.
        """
        check_count("n_particles", self.n_particles)
        check_positive("bandwidth", self.bandwidth)
        check_positive("resample_threshold", self.resample_threshold)
        self._read_examples(states, observations)
        return self._finish_fit()

    def _learn(self, kept: Mapping[str, Any] | None) -> None:
        self.state_kernel_ = self._fit_state_kernel(kept)

    def _step(self) -> Step:
        predict = MoveAndSimulate(Move(self._motion(), int(self.n_particles)), self.observe)
        resampler = Draw("systematic", 1.0 / float(self.resample_threshold))
        return self._assembled(predict, AbcRule(float(self.bandwidth), resampler, self.summary))
