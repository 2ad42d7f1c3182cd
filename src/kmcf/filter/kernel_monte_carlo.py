"""Algorithm 3: the Kernel Monte Carlo Filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from kmcf.arrays import FloatArray, IntArray
from kmcf.bayes_rule import BayesRule, ExactRule, LiteralRule
from kmcf.filter import defaults
from kmcf.filter.belief import Belief, StepReport
from kmcf.filter.inputs import ObservationReader, read_examples, read_seed
from kmcf.filter.sequential import SequentialFilter
from kmcf.filter.settings import check_choice, check_count, check_positive
from kmcf.herding import multinomial
from kmcf.kernels import Kernel, Precomputed, as_kernel
from kmcf.objects import Objects, is_numeric

ENGINES = {"literal": LiteralRule, "exact": ExactRule}
LEAST_SIMILARITY = 1e-8
LEAST_WEIGHT_SUM = 1e-3


class KernelMonteCarloFilter(SequentialFilter):
    """Bayesian filter that knows the observation model only through examples (Algorithm 3).

    Parameters
    ----------
    transition : callable
        ``(states, control, rng) -> states``: draws the next state of each of m states, (m, d) to (m, d).
    initial : callable, optional
        ``(size, rng) -> states``: draws initial states. None: i.i.d. draws from the example states.
    state_kernel : kernel, optional
        Kernel on states. None: Gaussian at half the median distance of the example states.
    observation_kernel : kernel, optional
        Kernel on observations: a kernel object, a callable ``(A, B) -> matrix``, or "precomputed". None: Gaussian on
        robustly scaled (asinh) observations.
    epsilon, delta : float, optional
        Regularisers of Algorithm 1. None: values that need no tuning (``epsilon_``, ``delta_``).
    rule : {"kbr", "importance"}
        Kernel Bayes' Rule (Algorithm 1) or its importance-weighted variant.
    engine : {"auto", "literal", "exact"}
        How the rule is computed: "literal" as printed, "exact" the same in symmetric form. ``engine_`` tells what
        "auto" chose.
    tolerance : float
        Relative accuracy of low-rank engines.
    rank : int or pair of int, optional
        Largest rank of low-rank engines.
    resampling : {"herding", "multinomial", "none"}
        Kernel Herding (Algorithm 2), multinomial resampling of the truncated weights (the paper's Res-Trunc), or none.
    n_resample : int
        ℓ, the number of points herded; they are copied to fill the particles (Section 5.2).
    resample_threshold : float
        Resample when Σw² exceeds this over n (0: always, inf: never); otherwise all examples move with their weights.
    n_particles : int, optional
        Number of particles. None: the number of examples, at most 1000.
    support : {"examples"}
        Where the posterior lives.
    n_examples : int, optional
        Keep only so many examples.
    angles : sequence of int
        State columns that are angles in radians.
    random_state : int, Generator or None
        Seed of all random numbers.

    Examples
    --------
    >>> import kmcf
    >>> rng = np.random.default_rng(0)
    >>> states = rng.normal(scale=2.0, size=(200, 1))
    >>> observations = np.sin(states) + states + 0.3 * rng.normal(size=(200, 1))
    >>> def transition(states, control, rng):
    ...     return 0.9 * states + rng.normal(size=states.shape)
    >>> flt = KernelMonteCarloFilter(transition, random_state=0).fit(states, observations)
    >>> belief = flt.step(flt.start(), [1.5])
    >>> belief.mean().shape, belief.time
    ((1,), 1)
    """

    def __init__(
        self,
        transition: Callable[[Any, Any, np.random.Generator], Any],
        initial: Callable[[int, np.random.Generator], Any] | None = None,
        state_kernel: Any = None,
        observation_kernel: Any = None,
        epsilon: float | None = None,
        delta: float | None = None,
        rule: str = "kbr",
        engine: str = "auto",
        tolerance: float | str = 1e-8,
        rank: int | tuple[int, int] | None = None,
        resampling: str = "herding",
        n_resample: int = 100,
        resample_threshold: float = 2.0,
        n_particles: int | None = None,
        support: str = "examples",
        n_examples: int | None = None,
        angles: Sequence[int] = (),
        random_state: Any = None,
    ) -> None:
        self.transition = transition
        self.initial = initial
        self.state_kernel = state_kernel
        self.observation_kernel = observation_kernel
        self.epsilon = epsilon
        self.delta = delta
        self.rule = rule
        self.engine = engine
        self.tolerance = tolerance
        self.rank = rank
        self.resampling = resampling
        self.n_resample = n_resample
        self.resample_threshold = resample_threshold
        self.n_particles = n_particles
        self.support = support
        self.n_examples = n_examples
        self.angles = angles
        self.random_state = random_state

    def fit(self, states: Any, observations: Any) -> Self:
        """Learn the observation model from n examples.

        Parameters
        ----------
        states : array (n, d) or list of n objects
            Where the examples were taken.
        observations : array (n, ...) or list of n objects
            What was observed there. With ``observation_kernel="precomputed"`` the n × n kernel matrix of the
            observations.

        Returns
        -------
        self
        """
        self._check_settings()
        state_kernel = None if self.state_kernel is None else as_kernel(self.state_kernel, "state_kernel")
        observation_kernel = (
            None if self.observation_kernel is None else as_kernel(self.observation_kernel, "observation_kernel")
        )
        self.states_, examples = read_examples(
            states,
            observations,
            structured=(_structured(state_kernel), _structured(observation_kernel)),
            handles_missing=observation_kernel is not None and observation_kernel.handles_missing,
        )
        self._check_angles()
        self._reader = ObservationReader.of(
            observations,
            examples,
            handles_missing=observation_kernel is not None and observation_kernel.handles_missing,
        )
        self._fit_kernels(state_kernel, observation_kernel, examples)
        self._fit_rule(examples, plain=observation_kernel is None)
        self.seed_ = read_seed(self.random_state)
        return self

    def _fit_kernels(self, state_kernel: Kernel | None, observation_kernel: Kernel | None, examples: Objects) -> None:
        if isinstance(state_kernel, Precomputed):
            raise TypeError(
                "state_kernel='precomputed' cannot work: the filter compares new states with the examples at every "
                "step. "
                "Pass a kernel, or a callable (A, B) -> matrix."
            )
        if state_kernel is None:
            state_kernel = defaults.default_state_kernel(self.states_, self.angles)
        if observation_kernel is None:
            observation_kernel = defaults.default_observation_kernel(examples)
        self.state_kernel_: Kernel = clone(state_kernel).fit(self.states_)
        self.observation_kernel_: Kernel = clone(observation_kernel).fit(examples, self.states_)

    def _fit_rule(self, examples: Objects, *, plain: bool) -> None:
        on_states = self.state_kernel_.on_examples(self.states_)
        on_observations = self.observation_kernel_.on_examples(examples)
        self.epsilon_ = (
            defaults.default_epsilon(float(on_states.diagonal().mean()))
            if self.epsilon is None
            else float(self.epsilon)
        )
        self.delta_ = (
            defaults.default_delta(self.rule, plain=plain, mean_diagonal=float(on_observations.diagonal().mean()))
            if self.delta is None
            else float(self.delta)
        )
        self.engine_ = "exact" if self.engine == "auto" else self.engine
        self.rule_: BayesRule = ENGINES[self.engine_](
            on_states, on_observations, epsilon=self.epsilon_, delta=self.delta_, rule=self.rule
        )

    @property
    def n_particles_(self) -> int:
        """The number of particles in use."""
        return min(len(self.states_), 1000) if self.n_particles is None else int(self.n_particles)

    def _initial_belief(self, stream: int, rng: np.random.Generator) -> Belief:
        size = self.n_particles_
        return self._belief(self._draw_initial(size, rng), np.full(size, 1.0 / size), time=0, stream=stream)

    def _advance(self, belief: Belief, observation: Objects | None, control: Any, rng: np.random.Generator) -> Belief:
        """One iteration of Algorithm 3."""
        next_step = {"time": belief.time + 1, "stream": belief.stream, "rejections": belief.rejections}
        # 1. Predict (Algorithm 3, lines 7-12)
        particles, particle_weights = self._predict(belief, control, rng)
        if observation is None:
            alone = StepReport(missing=True, state_coverage=self.rule_.state_coverage(particles, particle_weights))
            return self._belief(particles, particle_weights, report=alone, **next_step)
        # 2. Correct (lines 13-15)
        weights, report = self._correct(particles, particle_weights, observation)
        weight_sum = float(weights.sum())
        # 3. Normalise (line 16), unless there is nothing to normalise: then the prediction stays
        if report.observation_coverage <= LEAST_SIMILARITY or weight_sum <= LEAST_WEIGHT_SUM:
            next_step["rejections"] += 1
            report = replace(report, rejected=True)
            return self._belief(particles, particle_weights, report=report, **next_step)
        weights = weights / weight_sum
        # 4. Resample (line 10 of the next iteration)
        resampled, loss = self._resample(weights, rng)
        report = replace(report, weight_sum=weight_sum, herding_loss=loss)
        return self._belief(self.states_, weights, report=report, resampled=resampled, **next_step)

    def _predict(self, belief: Belief, control: Any, rng: np.random.Generator) -> tuple[Objects, FloatArray]:
        """Move the sample; the initial one stays where it is (Algorithm 3, t = 1)."""
        particles, weights = belief.particles(self.n_particles_)
        if belief.time == 0:
            return particles, weights
        return self._move(particles, control, rng, belief.time + 1), weights

    def _correct(
        self, particles: Objects, particle_weights: FloatArray, observation: Objects
    ) -> tuple[FloatArray, StepReport]:
        correction = self.rule_.correct(particles, particle_weights, observation)
        if not np.isfinite(correction.weights).all():
            raise FloatingPointError(
                "the posterior weights are not finite; check that the kernels return finite values for this "
                "observation, or raise epsilon and delta."
            )
        report = StepReport(
            observation_coverage=correction.observation_coverage, state_coverage=correction.state_coverage
        )
        return correction.weights, report

    def _resample(self, weights: FloatArray, rng: np.random.Generator) -> tuple[IntArray | None, float]:
        """Choose the states to propagate, and the RKHS distance they lose; None keeps all, with their weights."""
        worthwhile = float(np.sum(weights**2)) > self.resample_threshold / len(weights)  # Section 5.2
        if self.resampling == "none" or not worthwhile:
            return None, np.nan
        if self.resampling == "multinomial":
            picks = multinomial(weights, self.n_particles_, rng)
            return picks, self.rule_.resampling_loss(picks, weights)
        size = min(self.n_resample, len(weights), self.n_particles_)
        herding = self.rule_.herd(weights, size)
        return herding.indices, herding.loss

    def _belief(self, states: Objects, weights: FloatArray, **details: Any) -> Belief:
        weights.flags.writeable = False
        return Belief(states, weights, kernel=self.state_kernel_, angles=self.angles, **details)

    def _check_settings(self) -> None:
        if not callable(self.transition):
            raise TypeError(f"transition must be a function (states, control, rng) -> states, not {self.transition!r}.")
        if self.initial is not None and not callable(self.initial):
            raise TypeError(f"initial must be a function (size, rng) -> states or None, not {self.initial!r}.")
        check_choice("rule", self.rule, ("kbr", "importance"))
        check_choice("engine", self.engine, ("auto", *ENGINES))
        check_choice("resampling", self.resampling, ("herding", "multinomial", "none"))
        check_choice("support", self.support, ("examples",))
        check_positive("epsilon", self.epsilon, optional=True)
        check_positive("delta", self.delta, optional=True)
        check_count("n_resample", self.n_resample)
        check_count("n_particles", self.n_particles, optional=True)
        check_positive("resample_threshold", self.resample_threshold, zero=True, infinity=True)

    def _check_angles(self) -> None:
        if len(self.angles) and not is_numeric(self.states_):
            raise ValueError("angles name state columns, but the states are not numeric.")
        columns = int(np.prod(self.states_.shape[1:])) if is_numeric(self.states_) else 0
        for j in self.angles:
            if not isinstance(j, int | np.integer) or not 0 <= j < columns:
                raise ValueError(f"angles = {self.angles!r}: {j!r} is not a state column (0 to {columns - 1}).")


def _structured(kernel: Kernel | None) -> bool:
    return kernel is not None and kernel.structured
