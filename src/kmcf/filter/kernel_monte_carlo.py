"""Algorithm 3: the Kernel Monte Carlo Filter."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from kmcf.alerts import StalePivotsWarning
from kmcf.arrays import FloatArray, IntArray
from kmcf.bayes_rule import BayesRule, CompressedPosterior, CompressedRule, Posterior, fit_rule
from kmcf.bayes_rule.choice import FittedParticleRule, FittedRule, RuleSettings, fit_particle_rule
from kmcf.bayes_rule.particles import ParticleRule, systematic
from kmcf.circles import wrap_columns
from kmcf.defaults import (
    PARTICLE_DELTA,
    PARTICLE_STATE_MULTIPLIER,
    default_delta,
    default_epsilon,
    default_state_kernel,
)
from kmcf.embedding import LazyWeights
from kmcf.filter.belief import Belief, StepReport
from kmcf.filter.inputs import ObservationReader, read_examples, read_seed
from kmcf.filter.kernel_choice import KernelChoice, choose_observation_kernel
from kmcf.filter.sequential import SequentialFilter
from kmcf.filter.settings import check_angles, check_filter, check_functions, pair_of
from kmcf.growing import Growing
from kmcf.herding import multinomial
from kmcf.herding_loop import greedy_loop
from kmcf.kernels import Kernel, Precomputed, as_kernel
from kmcf.objects import Objects, describe, is_numeric, take
from kmcf.subsampling import choose_examples

LEAST_SIMILARITY = 1e-8
LEAST_WEIGHT_SUM = 1e-3
STALE = 1e-3
USUAL_THRESHOLD = 2.0
"""engine="auto" takes the compressed engine, which always resamples, only up to this threshold."""


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
        robustly scaled (asinh) observations, or for vectors a learnt kernel if the examples say that it is better
        (``kernel_choice_`` tells).
    epsilon, delta : float, optional
        Regularisers of Algorithm 1. None: values that need no tuning (``epsilon_``, ``delta_``).
    rule : {"kbr", "importance"}
        Kernel Bayes' Rule (Algorithm 1) or its importance-weighted variant.
    engine : {"auto", "literal", "exact", "lowrank", "compressed"}
        How the rule is computed: "literal" as printed, "exact" the same in symmetric form, "lowrank" with low-rank
        kernel matrices, "compressed" likewise at a cost per step that does not depend on n. "auto" takes the cheapest;
        ``engine_``, ``ranks_`` and ``trace_errors_`` tell what it chose.
    tolerance : float, pair of float or "auto"
        Low-rank engines stop when the largest residual diagonal entry is at most this times the largest diagonal entry.
        "auto" follows the regularisers: posterior means then change by less than 1 % of the posterior sd.
    rank : int or pair of int, optional
        Largest number of features of states and observations in low-rank engines.
    resampling : {"herding", "multinomial", "none"}
        Kernel Herding (Algorithm 2), multinomial resampling of the truncated weights (the paper's Res-Trunc), or none.
    n_resample : int
        ℓ, the number of points herded; they are copied to fill the particles (Section 5.2).
    resample_threshold : float
        Resample when Σw² exceeds this over n (0: always, inf: never); otherwise all examples move with their weights.
        The compressed engine always resamples; "auto" does not choose it for thresholds above 2.
    n_particles : int, optional
        Number of particles. None: the number of examples, at most 1000.
    support : {"examples", "particles"}
        Where the posterior lives: on the example states (the paper's filter), or on the particles, whose weights then
        are likelihoods learnt from the examples around them. The latter can follow states beyond the examples; it
        ignores ``rule`` and ``epsilon``, uses low-rank observation features and resamples systematically.
    n_examples : int, optional
        Keep only so many examples, herded to represent all of them (Algorithm 6).
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

    rule_: BayesRule | ParticleRule

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
        tolerance: float | tuple[float, float] | str = 1e-8,
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

    def fit(self, states: Any, observations: Any, *, functions: Sequence[Callable[[Any], Any]] = ()) -> Self:
        """Learn the observation model from n examples.

        Parameters
        ----------
        states : array (n, d) or list of n objects
            Where the examples were taken.
        observations : array (n, ...) or list of n objects
            What was observed there. With ``observation_kernel="precomputed"`` the n × n kernel matrix of the
            observations.
        functions : sequence of callables
            Functions of the states whose ``belief.expectation`` the compressed engine shall give without forming
            weights; all others still work, at a cost that grows with n.

        Returns
        -------
        self
        """
        check_filter(self)
        state_kernel = None if self.state_kernel is None else as_kernel(self.state_kernel, "state_kernel")
        observation_kernel = (
            None if self.observation_kernel is None else as_kernel(self.observation_kernel, "observation_kernel")
        )
        handles_missing = observation_kernel is not None and observation_kernel.handles_missing
        read_states, examples = read_examples(
            states,
            observations,
            structured=(_structured(state_kernel), _structured(observation_kernel)),
            handles_missing=handles_missing,
        )
        check_angles(self.angles, read_states)
        read_states = wrapped(read_states, self.angles)
        self._reader = ObservationReader.of(observations, examples, handles_missing=handles_missing)
        if isinstance(state_kernel, Precomputed):
            raise TypeError(
                "state_kernel='precomputed' cannot work: the filter compares new states with the examples at every "
                "step. Pass a kernel, or a callable (A, B) -> matrix."
            )
        self.state_kernel_: Kernel = clone(state_kernel or self._default_state_kernel(read_states))
        self.state_kernel_.fit(read_states)
        self.kernel_choice_: KernelChoice | None = None
        if observation_kernel is None:
            self.kernel_choice_ = choose_observation_kernel(read_states, examples, self.angles)
            observation_kernel = self.kernel_choice_.kernel
        self.observation_kernel_: Kernel = clone(observation_kernel).fit(examples, read_states)
        self._functions = check_functions(functions)
        plain = self.kernel_choice_ is not None and self.kernel_choice_.name == "plain"
        self._choose_regularisers(read_states, examples, plain=plain)
        self._fit_rule(Growing(read_states), Growing(examples))
        self.seed_ = read_seed(self.random_state)
        return self

    def partial_fit(self, states: Any, observations: Any) -> Self:
        """Learn from some examples more, keeping kernels, regularisers and (compressed engine) pivots.

        With the compressed engine the cost depends on the number of new examples only, and the result is that of
        refitting with the same pivots; other engines refit their rule. Beliefs made before keep their values. When
        new examples lie where the pivots do not reach, a warning says so: call :meth:`refresh`.

        Parameters
        ----------
        states, observations : arrays or lists
            The new examples, at least one, of the same form as those given to :meth:`fit`.
        """
        if not hasattr(self, "seed_"):
            return self.fit(states, observations)
        if self.n_examples is not None or isinstance(self.observation_kernel_, Precomputed):
            raise ValueError("partial_fit works neither with n_examples nor with a precomputed kernel: fit again.")
        read_states, examples = self._read_more(states, observations)
        all_states, all_examples = self._all_states.append(read_states), self._all_examples.append(examples)
        if not isinstance(self.rule_, CompressedRule):
            self._fit_rule(all_states, all_examples)
            return self
        extended = self.rule_.extended(read_states, examples)
        if extended.outside > STALE:
            warnings.warn(
                f"{extended.outside:.1%} of the new examples lie outside the reach of the pivots chosen at fit; call "
                "refresh() to choose them anew (its cost grows with the number of examples).",
                StalePivotsWarning,
                stacklevel=2,
            )
        self.rule_ = extended
        self._keep(all_states, all_examples)
        return self

    def refresh(self) -> Self:
        """Choose the pivots of the low-rank engines anew from all examples, as a fit with the same kernels would."""
        self._check_fitted()
        self._fit_rule(self._all_states, self._all_examples)
        return self

    def _read_more(self, states: Any, observations: Any) -> tuple[Objects, Objects]:
        read_states, examples = read_examples(
            states,
            observations,
            structured=(self.state_kernel_.structured, self.observation_kernel_.structured),
            handles_missing=self.observation_kernel_.handles_missing,
            fewest=1,
        )
        for name, new, old in (
            ("states", read_states, self._all_states.objects),
            ("observations", examples, self._all_examples.objects),
        ):
            if np.shape(new)[1:] != np.shape(old)[1:] if is_numeric(old) else is_numeric(new):
                raise ValueError(f"the new {name} are {describe(new)}, but the filter was fitted on {describe(old)}.")
        return wrapped(read_states, self.angles), examples

    def _fit_rule(self, states: Growing, examples: Growing) -> None:
        on_states = self.state_kernel_.on_examples(states.objects)
        on_observations = self.observation_kernel_.on_examples(examples.objects)
        self.example_indices_: IntArray | None = None
        if self.n_examples is not None and self.n_examples < on_states.size:
            chosen = choose_examples(on_states, on_observations, size=self.n_examples)
            self.example_indices_, self.subsample_error_ = chosen.indices, chosen.error
            states = Growing(take(states.objects, chosen.indices))
            on_states, on_observations = on_states.subset(chosen.indices), on_observations.subset(chosen.indices)
        self._keep(states, examples)
        fitted: FittedRule | FittedParticleRule
        if self.support == "particles":
            fitted = fit_particle_rule(on_states, on_observations, self._rule_settings())
        else:
            fitted = fit_rule(
                self.states_,
                on_states,
                on_observations,
                self._rule_settings(),
                angles=self.angles,
                functions=self._functions,
            )
        greedy_loop()  # compiled here rather than in the first step
        self.rule_ = fitted.rule
        self.engine_: str = fitted.engine
        self.ranks_: tuple[int, int] = fitted.ranks
        self.trace_errors_: tuple[float, float] = fitted.trace_errors

    def _default_state_kernel(self, states: Objects) -> Kernel:
        if self.support == "particles":
            return default_state_kernel(states, self.angles, PARTICLE_STATE_MULTIPLIER)
        return default_state_kernel(states, self.angles)

    def _choose_regularisers(self, states: Objects, examples: Objects, *, plain: bool) -> None:
        if self.epsilon is None:
            diagonal = self.state_kernel_.on_examples(states).diagonal()
            self.epsilon_ = default_epsilon(float(diagonal.mean()))
        else:
            self.epsilon_ = float(self.epsilon)
        if self.delta is None and self.support == "particles":
            diagonal = self.observation_kernel_.on_examples(examples).diagonal()
            self.delta_ = PARTICLE_DELTA * float(diagonal.mean())
        elif self.delta is None:
            diagonal = self.observation_kernel_.on_examples(examples).diagonal()
            self.delta_ = default_delta(self.rule, plain=plain, mean_diagonal=float(diagonal.mean()))
        else:
            self.delta_ = float(self.delta)

    def _keep(self, states: Growing, examples: Growing) -> None:
        self._all_states, self._all_examples = states, examples
        self.states_: Objects = states.objects

    def _rule_settings(self) -> RuleSettings:
        return RuleSettings(
            engine=self.engine,
            rule=self.rule,
            epsilon=self.epsilon_,
            delta=self.delta_,
            tolerance=None if self.tolerance == "auto" else pair_of(self.tolerance),
            rank=pair_of(self.rank),
            n_particles=self.n_particles_,
            may_compress=self.resampling != "none" and self.resample_threshold <= USUAL_THRESHOLD,
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
        posterior = self._correct(particles, particle_weights, observation)
        coverages = posterior.observation_coverage, posterior.state_coverage
        # 3. Normalise (line 16), unless there is nothing to normalise: then the prediction stays
        if posterior.observation_coverage <= LEAST_SIMILARITY or posterior.weight_sum <= LEAST_WEIGHT_SUM:
            next_step["rejections"] += 1
            report = StepReport(np.nan, np.nan, *coverages, rejected=True)
            return self._belief(particles, particle_weights, report=report, **next_step)
        weights = posterior if isinstance(posterior, CompressedPosterior) else posterior.weights()
        # 4. Resample (line 10 of the next iteration)
        resampled, loss = self._resample(posterior, rng)
        report = StepReport(posterior.weight_sum, loss, *coverages)
        support = particles if self.support == "particles" else self.states_
        return self._belief(support, weights, report=report, resampled=resampled, **next_step)

    def _predict(self, belief: Belief, control: Any, rng: np.random.Generator) -> tuple[Objects, FloatArray]:
        """Move the sample; the initial one stays where it is (Algorithm 3, t = 1)."""
        particles, weights = belief.particles(self.n_particles_)
        if belief.time == 0:
            return particles, weights
        return self._move(particles, control, rng, belief.time + 1), weights

    def _correct(self, particles: Objects, particle_weights: FloatArray, observation: Objects) -> Posterior:
        posterior = self.rule_.correct(particles, particle_weights, observation)
        if not np.isfinite(posterior.weight_sum):
            raise FloatingPointError(
                "the posterior weights are not finite; check that the kernels return finite values for this "
                "observation, or raise epsilon and delta."
            )
        return posterior

    def _resample(self, posterior: Posterior, rng: np.random.Generator) -> tuple[IntArray | None, float]:
        """Choose the states to propagate, and the RKHS distance they lose; None keeps all, with their weights."""
        if self.resampling == "none" or not self._worthwhile(posterior):
            return None, np.nan
        if isinstance(self.rule_, ParticleRule):
            return systematic(posterior.weights(), self.n_particles_, rng), np.nan
        if self.resampling == "multinomial":
            picks = multinomial(posterior.weights(), self.n_particles_, rng)
            return picks, self.rule_.resampling_loss(picks, posterior)
        herding = self.rule_.herd(posterior, min(self.n_resample, self.rule_.size, self.n_particles_))
        return herding.indices, herding.loss

    def _worthwhile(self, posterior: Posterior) -> bool:
        """Section 5.2: resample when Σw² is large."""
        if isinstance(self.rule_, CompressedRule):
            return True
        weights = posterior.weights()
        return float(np.sum(weights**2)) > self.resample_threshold / len(weights)

    def _belief(self, states: Objects, weights: FloatArray | LazyWeights, **details: Any) -> Belief:
        if isinstance(weights, np.ndarray):
            weights.flags.writeable = False
        return Belief(states, weights, kernel=self.state_kernel_, angles=self.angles, **details)


def wrapped(states: Objects, angles: Sequence[int]) -> Objects:
    """Return states with their angle columns in (−π, π]."""
    if not len(angles):
        return states
    private = states.copy()
    wrap_columns(private, angles)
    return private


def _structured(kernel: Kernel | None) -> bool:
    return kernel is not None and kernel.structured
