"""The bootstrap particle filter, which is given what all others must learn: the likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from kmcf.baselines.particle_base import Likelihood, ParticleBase
from kmcf.filter.backend import Backend
from kmcf.filter.inputs import Accepts, ObservationReader, read_seed
from kmcf.filter.settings import check_angles, check_draws
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.objects import Objects, as_objects, is_numeric

STAND_INS = 1000
"""Without examples, this many draws from p_init show what states look like."""


class ParticleFilter(ParticleBase):
    """Bootstrap particle filter for a known likelihood.

    Parameters
    ----------
    transition : callable
        ``(states, control, rng) -> states``: draws the next state of each of m states.
    log_likelihood : callable
        ``(states, y) -> (m,)``: log p(y | x) for each state, up to a constant. An observation that is a number comes as
        an array of length 1.
    initial : callable, optional
        ``(size, rng) -> states``: draws initial states. None: i.i.d. draws from the example states given to ``fit``.
    n_particles : int
        Number of particles.
    resampling : {"systematic", "stratified", "multinomial"}
        How particles are resampled.
    resample_threshold : float
        Resample when the effective sample size is below this share of the particles.
    angles : sequence of int
        State columns that are angles in radians.
    random_state : int, Generator or None
        Seed of all random numbers.

    Notes
    -----
    With ``initial`` no examples are needed: :meth:`start` and :meth:`filter` work without ``fit``. Batches (B, T, …)
    are recognised only after ``fit(states, observations)``, which shows what one observation looks like.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> flt = ParticleFilter(model.transition, model.log_likelihood, model.initial, random_state=0)
    >>> flt.filter(model.simulate(20, random_state=1).observations).mean.shape
    (20, 1)
    """

    def __init__(
        self,
        transition: Callable[[Any, Any, np.random.Generator], Any],
        log_likelihood: Callable[[Any, Any], Any],
        initial: Callable[[int, np.random.Generator], Any] | None = None,
        n_particles: int = 5000,
        resampling: str = "systematic",
        resample_threshold: float = 0.5,
        angles: Sequence[int] = (),
        random_state: Any = None,
    ) -> None:
        self.transition = transition
        self.log_likelihood = log_likelihood
        self.initial = initial
        self.n_particles = n_particles
        self.resampling = resampling
        self.resample_threshold = resample_threshold
        self.angles = angles
        self.random_state = random_state

    def fit(self, states: Any = None, observations: Any = None) -> Self:
        """Note what states and observations look like; nothing is learnt from them.

        Parameters
        ----------
        states : array (n, d) or list of n objects, optional
            Initial states are drawn from these if there is no ``initial``.
        observations : array (n, ...) or list of n objects, optional
            One per state.
        """
        self._check_settings()
        if not callable(self.log_likelihood):
            raise TypeError(f"log_likelihood must be a function (states, y) -> (m,), not {self.log_likelihood!r}.")
        if states is not None:
            self._read_examples(states, observations, accepts=Accepts(missing=True, infinity=True))
        else:
            self._without_examples()
        return self._finish_fit()

    def _learn(self, kept: Mapping[str, Any] | None) -> None:
        self.state_kernel_ = self._fit_state_kernel(kept) if is_numeric(self.states_) else None

    def _make_watch(self) -> None:
        """Return nothing: this filter does not depend on examples."""

    def _without_examples(self) -> None:
        check_draws(self)
        if self.initial is None:
            raise NotFittedError(
                "this ParticleFilter knows no states yet: pass initial=..., or call fit(states, observations)."
            )
        drawn = as_objects(self.initial(STAND_INS, np.random.default_rng(0)), "what initial(size, rng) returned")
        check_angles(self.angles, drawn)
        self.states_ = wrapped_columns(drawn, self.angles)
        self.reader_ = ObservationReader(shape=None, flat=False, accepts=Accepts(missing=True, infinity=True))
        self.seed_ = read_seed(self.random_state)

    def _fitted_backend(self) -> Backend:
        """Fit on the first call if nobody did: without examples there is nothing to wait for."""
        if not hasattr(self, "backend_"):
            self.fit()
        return super()._fitted_backend()

    def _likelihood(self, particles: Objects, observation: Objects) -> Likelihood:
        y = observation[0]
        y = np.atleast_1d(y) if isinstance(y, int | float | np.number) else y
        return Likelihood(self.log_likelihood(particles, y))
