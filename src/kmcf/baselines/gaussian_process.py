"""GP-PF: a particle filter whose likelihood is a Gaussian-process regression of observations on states.

Ferris, Hähnel and Fox (2006): one Gaussian process per observation dimension; its predictive mean and variance at a
particle give the Gaussian density of what was observed. Dimensions are taken as independent given the state.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from kmcf.baselines.gp_prediction import FastPrediction
from kmcf.baselines.particle_base import Likelihood, ParticleBase
from kmcf.filter.inputs import Accepts
from kmcf.filter.settings import check_count, check_positive
from kmcf.numerics.arrays import FloatArray, positive_or_one
from kmcf.numerics.circles import on_circles
from kmcf.numerics.objects import Objects, describe, is_numeric
from kmcf.numerics.threads import one_thread
from kmcf.support.search_space import LogNormal, Parameter

JITTER = 1e-10


class GPParticleFilter(ParticleBase):
    """Particle filter with a Gaussian-process likelihood (Ferris, Hähnel and Fox 2006).

    The GP-PF of the paper's Section 6.2.

    Parameters
    ----------
    transition : callable
        ``(states, control, rng) -> states``: draws the next state of each of m states.
    initial : callable, optional
        ``(size, rng) -> states``: draws initial states. None: i.i.d. draws from the example states.
    kernel : scikit-learn kernel, optional
        Prior covariance of an observation dimension over standardised states (angles as cosine and sine); its
        hyper-parameters are learnt by marginal likelihood. None: constant × RBF with a length scale per column, plus
        white noise.
    variance_multiplier : float
        Multiplies the predictive variances: above 1 if observation dimensions depend on each other given the state, so
        that together they are less informative than their number suggests.
    n_examples : int, optional
        Use at most so many examples, drawn at random. None: all.
    n_hyperparameter_examples : int, optional
        Learn the hyper-parameters from at most so many of them; every evaluation costs the cube of their number.
        None: all.
    tolerance : float
        Predictions use a factor of the kernel matrix that leaves out directions whose variance, relative to the noise,
        is at most this; the smaller the rank, the faster. At 1e-8, means differ from the exact ones by less than a
        thousandth of the predictive standard deviation.
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
    n_restarts : int
        Start the optimiser of the marginal likelihood so many more times, from random hyper-parameters; the best
        result is kept.
    floor : float, "auto", or a sequence of these and None, optional
        What numbers that are NaN stand for, as for :class:`~kmcf.KernelMonteCarloFilter`.

    Notes
    -----
    Observations are vectors of numbers. Entries may be NaN, in examples and later: the dimension is then left out.
    A dimension that never varies is left out too.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(100, random_state=0), model.simulate(50, random_state=1)
    >>> flt = GPParticleFilter(model.transition, model.initial, random_state=0)
    >>> run = flt.fit(train.states, train.observations).filter(test.observations)
    >>> run.mean.shape, bool(np.sqrt(np.mean((run.mean - test.states) ** 2)) < 1.1)
    ((50, 1), True)
    """

    def __init__(
        self,
        transition: Callable[[Any, Any, np.random.Generator], Any],
        initial: Callable[[int, np.random.Generator], Any] | None = None,
        kernel: Any = None,
        variance_multiplier: float = 1.0,
        n_examples: int | None = None,
        n_hyperparameter_examples: int | None = 500,
        tolerance: float = 1e-8,
        n_particles: int = 5000,
        resampling: str = "systematic",
        resample_threshold: float = 0.5,
        angles: Sequence[int] = (),
        random_state: Any = None,
        n_restarts: int = 0,
        floor: Any = None,
    ) -> None:
        self.transition = transition
        self.initial = initial
        self.kernel = kernel
        self.variance_multiplier = variance_multiplier
        self.n_examples = n_examples
        self.n_hyperparameter_examples = n_hyperparameter_examples
        self.tolerance = tolerance
        self.n_particles = n_particles
        self.resampling = resampling
        self.resample_threshold = resample_threshold
        self.angles = angles
        self.random_state = random_state
        self.n_restarts = n_restarts
        self.floor = floor

    def fit(self, states: Any, observations: Any = None) -> Self:
        """Regress every observation dimension on the state.

        Parameters
        ----------
        states : array (n, d)
            Where the examples were taken.
        observations : array (n, ...)
            What was observed there.
        """
        self._check_settings()
        self._read_examples(states, observations, accepts=Accepts(missing=True))
        for name, objects in (("states", self.states_), ("observations", self._observations)):
            if not is_numeric(objects):
                raise TypeError(f"the {name} are {describe(objects)}, but Gaussian processes need vectors of numbers.")
        return self._finish_fit()

    def _check_settings(self) -> None:
        super()._check_settings()
        check_positive("variance_multiplier", self.variance_multiplier)
        check_count("n_examples", self.n_examples, optional=True)
        check_count("n_hyperparameter_examples", self.n_hyperparameter_examples, optional=True)
        if not isinstance(self.n_restarts, Integral) or isinstance(self.n_restarts, bool) or self.n_restarts < 0:
            raise ValueError(f"n_restarts = {self.n_restarts!r}; it must be 0 or a positive integer.")
        check_positive("tolerance", self.tolerance)

    def _kept(self) -> dict[str, Any]:
        return {**super()._kept(), "regressors_": self.regressors_}

    def _learn(self, kept: Mapping[str, Any] | None) -> None:
        self.state_kernel_ = self._fit_state_kernel(kept)
        features = self._unscaled(self.states_)
        self._centre, spread = features.mean(axis=0), features.std(axis=0)
        self._spread = positive_or_one(spread)
        rows = self._features(self.states_)
        values = self._observations.reshape(len(self._observations), -1).astype(np.float64)
        order = np.random.default_rng(self.seed_).permutation(len(rows))[: self.n_examples]
        self.regressors_: dict[int, Any] = {} if kept is None else kept["regressors_"]
        self._predictions: dict[int, FastPrediction] = {}
        with one_thread():  # many small factorisations
            for column in range(values.shape[1]):
                present = order[np.isfinite(values[order, column])]
                if len(present) > 1 and np.ptp(values[present, column]) > 0:
                    self._regress(column, rows[present], values[present, column], learn=kept is None)

    def search_space(self) -> dict[str, Parameter]:
        """Return the multiplier of the variances; everything else is learnt by marginal likelihood."""
        return {"variance_multiplier": LogNormal(self.variance_multiplier, sd=0.7)}

    def _regress(self, column: int, rows: FloatArray, values: FloatArray, *, learn: bool) -> None:
        if learn:
            self.regressors_[column] = self._hyperparameters(rows, values)
        self._predictions[column] = FastPrediction(
            self.regressors_[column], rows, values, jitter=JITTER, tolerance=self.tolerance
        )

    def _hyperparameters(self, rows: FloatArray, values: FloatArray) -> Any:
        """Choose the hyper-parameters by marginal likelihood."""
        few = slice(self.n_hyperparameter_examples)
        regressor = GaussianProcessRegressor(
            clone(self._kernel(rows.shape[1])),
            alpha=JITTER,
            normalize_y=True,
            n_restarts_optimizer=self.n_restarts,
            random_state=self.seed_ % 2**32,
        )
        with warnings.catch_warnings():  # at a bound of a hyper-parameter: pure noise, or none
            warnings.simplefilter("ignore", ConvergenceWarning)
            regressor.fit(rows[few], values[few])
        return regressor

    def _kernel(self, columns: int) -> Any:
        if self.kernel is not None:
            return self.kernel
        scales = RBF(np.ones(columns) if columns > 1 else 1.0, length_scale_bounds=(1e-2, 1e2))
        return ConstantKernel(1.0, (1e-3, 1e3)) * scales + WhiteKernel(0.1, (1e-6, 1e1))

    def _unscaled(self, states: Objects) -> FloatArray:
        """Return states as rows, angles replaced by cosine and sine."""
        return on_circles(np.asarray(states, dtype=np.float64).reshape(len(states), -1), self.angles)

    def _features(self, states: Objects) -> FloatArray:
        return (self._unscaled(states) - self._centre) / self._spread

    def _likelihood(self, particles: Objects, observation: Objects) -> Likelihood:
        points, y = self._features(particles), np.ravel(observation)
        logs = np.zeros(len(points))
        for column, predict in self._predictions.items():
            if np.isfinite(y[column]):
                means, variances = predict(points)
                variances *= self.variance_multiplier
                logs -= 0.5 * ((y[column] - means) ** 2 / variances + np.log(2.0 * np.pi * variances))
        return Likelihood(logs)
