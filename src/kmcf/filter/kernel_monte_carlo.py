"""Algorithm 3: the Kernel Monte Carlo Filter."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from kmcf.bayes_rule import CompressedPosterior, CompressedRule, Posterior
from kmcf.bayes_rule.particles import ParticleRule
from kmcf.embedding.lazy_weights import LazyWeights
from kmcf.filter.belief import Belief, StepReport
from kmcf.filter.learning import ExampleLearner
from kmcf.filter.rejection import LEAST_SIMILARITY, LEAST_WEIGHT_SUM
from kmcf.filter.settings import check_filter
from kmcf.filter.tunable import differ, kernel_search_space, kernel_variants
from kmcf.herding.resampling import multinomial, systematic
from kmcf.kernels import Learned
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects
from kmcf.support.search_space import Parameter, Variants

SUMMARY_KERNEL = "observation_kernel__kernel__"
"""Settings of the kernel on a learnt summary; the summary itself does not depend on them."""


class KernelMonteCarloFilter(ExampleLearner):
    """Bayesian filter that knows the observation model only through examples (Algorithm 3).

    Parameters
    ----------
    transition : callable
        ``(states, control, rng) -> states``: draws the next state of each of m states, (m, d) to (m, d). Where ``fit``
        gets JAX arrays, ``rng`` is a JAX key here and in ``initial``, and everything is compiled (``docs/jax.md``).
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
        ignores ``rule`` and ``epsilon``, uses low-rank observation features and resamples systematically. With
        ``delta=inf`` a particle's likelihood is the similarity of the observation to those of the examples around it.
    n_examples : int, optional
        Keep only so many examples, herded to represent all of them (Algorithm 6).
    angles : sequence of int
        State columns that are angles in radians.
    random_state : int, Generator or None
        Seed of all random numbers.
    background : float
        φ ≥ 0, for ``support="particles"``: likelihood of any observation at any state, in units of that of an
        observation that fits perfectly. Above 0, no single observation can rule out a state, be it that the examples
        there look different or that there are none. For look-alike places, gaps between the examples and observations
        that come thick and fast; try 0.2.

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
        background: float = 0.0,
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
        self.background = background

    def search_space(self) -> dict[str, Parameter]:
        """Return what a tuner may change: widths of the kernels that have one, the regularisers, a rank that was set.

        Kernels that are None get their widths in :meth:`variants`.
        """
        return kernel_search_space(self)

    def variants(self, states: Any, observations: Any) -> Variants:
        """Return this filter with explicit kernels and regularisers; two where the observation kernel was chosen.

        Parameters
        ----------
        states, observations : arrays or lists
            The examples.
        """
        return kernel_variants(self, states, observations)

    def refitted(self, states: Any, observations: Any, **settings: Any) -> Self:
        """Return a filter with some settings changed, fitted on the examples that this one was fitted on.

        Where only ε and δ change, kernels, kernel matrices and their factors are shared; a learnt observation kernel is
        learnt anew only if its own settings change.

        Parameters
        ----------
        states, observations : arrays or lists
            The same examples again.
        **settings
            As for ``set_params``.
        """
        current = self.get_params()
        changed = [name for name, value in settings.items() if differ(current.get(name), value)]
        if all(name in ("epsilon", "delta") for name in changed) and self.tolerance != "auto":
            shared = self._regularised(**{name: settings[name] for name in changed})
            if shared is not None:
                return shared
        learnt = self.observation_kernel_ if isinstance(self.observation_kernel_, Learned) else None
        if any(name.startswith("observation_kernel") and not name.startswith(SUMMARY_KERNEL) for name in changed):
            learnt = None
        twin: Self = clone(self).set_params(**settings)
        return twin._fit(states, observations, self._functions, learnt)

    def _regularised(self, **settings: float) -> Self | None:
        """Return a copy with other regularisers that shares everything else; None where the rule cannot."""
        twin = copy.copy(self)
        twin.set_params(**settings)
        check_filter(twin)
        twin.epsilon_, twin.delta_ = settings.get("epsilon", self.epsilon_), settings.get("delta", self.delta_)
        rule = self.rule_.regularised(twin.epsilon_, twin.delta_)
        if rule is None:
            return None
        twin.rule_ = rule
        twin._compile()
        return twin

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
