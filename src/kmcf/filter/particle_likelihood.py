"""A particle filter whose likelihood is learnt from examples: the posterior lives on the particles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from kmcf.filter.compilable import CompilableFilter
from kmcf.filter.naming import names_of
from kmcf.filter.settings import check_particle_likelihood
from kmcf.filter.support import OnParticles, Support


class ParticleLikelihoodFilter(CompilableFilter):
    """Bayesian filter on particles, weighted by likelihoods learnt from the examples around them.

    This is not the paper's algorithm, whose posterior lives on the example states. Particles can follow a state beyond
    the examples, but a step costs as much as there are examples times particles. :mod:`kmcf.bayes_rule.particles` has
    the formulas.

    Parameters
    ----------
    transition : callable
        ``(states, control, rng) -> states``: draws the next state of each of m states, (m, d) to (m, d). If ``fit``
        gets JAX arrays, ``rng`` is a JAX key here and in ``initial``, and everything is compiled (``docs/jax.md``).
    initial : callable, optional
        ``(size, rng) -> states``: draws initial states. None: i.i.d. draws from the example states.
    state_kernel : kernel, optional
        Kernel on states, which says which examples are around a particle. None: Gaussian at 0.15 of the median
        distance of the example states.
    observation_kernel : kernel, optional
        Kernel on observations, as for :class:`~kmcf.KernelMonteCarloFilter`.
    delta : float, optional
        Regulariser of the likelihood. None: 0.01 of the observation kernel's mean diagonal. With ``inf`` the
        likelihood is the average similarity of the observation to those of the examples around a particle.
    background : float
        φ ≥ 0: likelihood of any observation at any state, in units of that of an observation that fits perfectly.
        Above 0, no single observation can rule out a state, whether the examples there look different or there are
        none. Helps with look-alike places, gaps between the examples and frequent observations; try 0.2.
    tolerance : float, pair of float or "auto"
        Accuracy of the low-rank observation features: the largest residual diagonal entry, relative to the largest
        diagonal entry ("auto": 1e-8). Of a pair, the second is used.
    rank : int or pair of int, optional
        Largest number of observation features. Of a pair, the second is used.
    resampling : {"systematic", "none"}
        How particles are resampled.
    resample_threshold : float
        Resample when Σw² exceeds this over the number of particles (0: always, inf: never).
    n_particles : int, optional
        Number of particles. None: the number of examples, at most 1000.
    n_examples : int or float, optional
        Keep only so many examples, herded to represent all of them (Algorithm 6); as a float, keep as many as it takes
        to be within this RKHS distance of all of them (``subsample_error_`` tells).
    angles : sequence of int
        State columns that are angles in radians.
    random_state : int, Generator or None
        Seed of all random numbers.
    reject : bool, optional
        Whether to keep the prediction when no example observation resembles the observation, or no particle explains
        it. None: yes.
    relocate : bool, optional
        Whether to look for the state among all examples where two or more observations contradict the prediction: a
        fifth of the particles are then drawn from the example states, and the observation is used once more.
        ``run.relocated`` and ``belief.report.relocated`` mark such steps (``docs/alarms.md``). None: yes, except
        with JAX arrays and with kernels that look for other poses themselves.
    floor : float, "auto", or a sequence of these and None, optional
        What numbers that are NaN stand for, as for :class:`~kmcf.KernelMonteCarloFilter`.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(200, random_state=0), model.simulate(50, random_state=1)
    >>> flt = ParticleLikelihoodFilter(model.transition, model.initial, random_state=0)
    >>> run = flt.fit(train.states, train.observations).filter(test.observations)
    >>> run.mean.shape, float(run.negative_mass.max())
    ((50, 1), 0.0)
    """

    def __init__(
        self,
        transition: Callable[[Any, Any, np.random.Generator], Any],
        initial: Callable[[int, np.random.Generator], Any] | None = None,
        state_kernel: Any = None,
        observation_kernel: Any = None,
        delta: float | None = None,
        background: float = 0.0,
        tolerance: float | tuple[float, float] | str = 1e-8,
        rank: int | float | tuple[int | float, int | float] | None = None,
        resampling: str = "systematic",
        resample_threshold: float = 2.0,
        n_particles: int | None = None,
        n_examples: int | float | None = None,
        angles: Sequence[int] = (),
        random_state: Any = None,
        reject: bool | None = None,
        floor: Any = None,
        relocate: bool | None = None,
    ) -> None:
        self.transition = transition
        self.initial = initial
        self.state_kernel = state_kernel
        self.observation_kernel = observation_kernel
        self.delta = delta
        self.background = background
        self.tolerance = tolerance
        self.rank = rank
        self.resampling = resampling
        self.resample_threshold = resample_threshold
        self.n_particles = n_particles
        self.n_examples = n_examples
        self.angles = angles
        self.random_state = random_state
        self.reject = reject
        self.floor = floor
        self.relocate = relocate

    def fit(self, states: Any, observations: Any = None) -> Self:
        """Learn the observation model from n examples.

        Parameters
        ----------
        states : array (n, d) or list of n objects, or dict
            Where the examples were taken. For several sensors, one dictionary ``{"wifi": (states, observations),
            "camera": (states, observations)}`` and nothing beside it, as for
            :meth:`KernelMonteCarloFilter.fit <kmcf.KernelMonteCarloFilter.fit>`.
        observations : array (n, ...) or list of n objects
            What was observed there. With ``observation_kernel="precomputed"`` the n × n kernel matrix of the
            observations.
        """
        self._fit(states, observations, ())
        self.state_names_ = names_of(states)
        return self

    def _check_settings(self) -> None:
        check_particle_likelihood(self)

    def _support(self) -> Support:
        return OnParticles(self.resampling, self.resample_threshold, self.tolerance, self.rank, self.background)
