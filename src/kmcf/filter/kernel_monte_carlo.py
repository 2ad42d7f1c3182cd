"""Algorithm 3: the Kernel Monte Carlo Filter and its settings. One iteration of it is in :mod:`kmcf.filter.step`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from kmcf.filter.backend import compiled_room
from kmcf.filter.compilable import CompilableFilter
from kmcf.filter.naming import names_of
from kmcf.filter.rule_filter import Functions
from kmcf.filter.settings import check_filter
from kmcf.filter.support import EXACT_ENOUGH, OnBoth, OnExamples, OnParticles, Support


class KernelMonteCarloFilter(CompilableFilter):
    """Bayesian filter that knows the observation model only through examples (Algorithm 3 of the paper).

    Each step moves particles with the transition, corrects them by Kernel Bayes' Rule (Algorithm 1), and resamples the
    posterior, a weighted sample of the example states, by Kernel Herding (Algorithm 2).

    Parameters
    ----------
    transition : callable
        ``(states, control, rng) -> states``: draws the next state of each of m states, (m, d) to (m, d). If it has a
        parameter ``elapsed``, it is told how much time passed since the last step. If ``fit`` gets JAX arrays, ``rng``
        is a JAX key here and in ``initial``, and everything is compiled (``docs/jax.md``).
    initial : callable, optional
        ``(size, rng) -> states``: draws initial states. None: i.i.d. draws from the example states.
    state_kernel : kernel, optional
        Kernel on states. None: Gaussian at half the median distance of the example states.
    observation_kernel : kernel, optional
        Kernel on observations: a kernel object, a callable ``(A, B) -> matrix``, or "precomputed". None: Gaussian on
        robustly scaled (asinh) observations or, for vectors, a learnt kernel (for counts ``Counts``, too) if the
        examples favour it (``kernel_choice_`` shows which). Where ``fit`` is given several sensors, this, ``delta``,
        ``n_examples`` and ``floor`` may be dictionaries by sensor.
    epsilon, delta : float, optional
        Regularisers of Algorithm 1. None: values that need no tuning (``epsilon_``, larger for vectors of counts;
        ``delta_``).
    rule : {"kbr", "importance"}
        Kernel Bayes' Rule (Algorithm 1) or its importance-weighted variant.
    engine : {"auto", "literal", "exact", "lowrank", "compressed", "local"}
        How the rule is computed: "literal" as printed (Algorithm 1, or Algorithm 5 where a ``rank`` is given), "exact"
        is Algorithm 1 in symmetric form, "lowrank" uses low-rank kernel matrices in a stable way, and "compressed"
        does the same at a cost per step that does not depend on n. "local" is Algorithm 1 among the examples near the
        particles, for large worlds: its cost depends on how many these are. "auto" takes the cheapest; ``engine_``,
        ``ranks_`` and ``trace_errors_`` show what it chose.
    tolerance : float, pair of float or "auto", optional
        Low-rank engines stop when the largest residual diagonal entry is at most this times the largest diagonal entry.
        "auto" follows the regularisers as far as a probe at fit allows it: posterior means of left-out examples then
        change by less than 1 % of their sd, and their errors grow by less than 1 %. None: 1e-8 where a step is cheap
        with it or an ``engine`` is given, otherwise "auto"; :meth:`explain` tells.
    rank : int, float or pair of them, optional
        Largest number of features of states and observations in low-rank engines; a number below 1 is the share of the
        kernel matrix's trace that they keep, so that the rank follows from a matrix norm (Appendix C.1). With
        ``engine="literal"`` the rank r of Algorithm 5; with ``engine="local"`` the largest number of examples that a
        step solves for.
    resampling : {"herding", "multinomial", "none"}
        Kernel Herding (Algorithm 2), multinomial resampling of the truncated weights (the paper's Res-Trunc), or none.
    n_resample : int
        ℓ, the number of points herded; they are copied to fill the particles (Section 5.2).
    resample_threshold : float or "bound"
        Resample when Σw² exceeds this over n (0: always, inf: never); otherwise all examples move with their weights.
        "bound" resamples where Theorem 1 promises a gain, given the spread of the transition (Section 5.2); that is
        estimated at fit, by moves without control (and over one unit of time, if the transition must be told one).
        The compressed engine always resamples; "auto" does not choose it for thresholds above 2.
    n_particles : int, optional
        Number of particles. None: the number of examples, at most 1000.
    support : {"examples", "particles", "both"}
        Where the posterior lives: on the example states (the paper's filter), or on the particles, which is another
        algorithm with a class of its own, :class:`~kmcf.ParticleLikelihoodFilter`: this is a short way to get it with
        the settings that both have. It ignores ``rule`` and ``epsilon`` and resamples systematically. "both" takes the
        examples, and the particles at steps where few examples carry the posterior (an effective sample size below 8),
        so that the filter can follow a state a little way beyond the examples.
    n_examples : int or float, optional
        Keep only so many examples, herded to represent all of them (Algorithm 6); as a float, keep as many as it takes
        to be within this RKHS distance of all of them (``subsample_error_`` tells).
    angles : sequence of int
        State columns that are angles in radians.
    random_state : int, Generator or None
        Seed of all random numbers.
    reject : bool, optional
        Whether to keep the prediction when a correction cannot be trusted: no example observation resembles the
        observation, or the posterior weights nearly cancel. None: yes, except with ``engine="literal"``, which is the
        paper's algorithm and never rejects.
    relocate : bool, optional
        Whether to look for the state among all examples where two or more observations contradict the prediction: a
        fifth of the particles are then drawn from the example states, and the observation is used once more.
        ``run.relocated`` and ``belief.report.relocated`` mark such steps (``docs/alarms.md``). None: yes, except
        with ``engine="literal"``, which is the paper's algorithm, with "local", and with JAX arrays.
    augment : bool, optional
        Whether to make up pairs beside the examples, at their states and a little beyond them: what would be seen there
        if observations follow a trend over the states and their noise is alike but for its size
        (``docs/augmenting.md``). The posterior then also lives on the states of these pairs, and ``augmented_`` tells
        how many there are. None: if posteriors of left-out examples become better by it, with 40 to 500 examples, and
        where the engine, both kernels, ``epsilon``, ``delta``, ``rank`` and ``n_examples`` are left to the filter.
    floor : float, "auto", or a sequence of these and None, optional
        What a number that is NaN stands for, for all columns of the observation or for each: a value at or below the
        smallest one heard, where silence means something; "auto" decides from the examples. None: it is missing, and
        the other numbers are used (``docs/how-to.md``).

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
        transition: Callable[..., Any],
        initial: Callable[[int, np.random.Generator], Any] | None = None,
        state_kernel: Any = None,
        observation_kernel: Any = None,
        epsilon: float | None = None,
        delta: float | None = None,
        rule: str = "kbr",
        engine: str = "auto",
        tolerance: float | tuple[float, float] | str | None = None,
        rank: int | float | tuple[int | float, int | float] | None = None,
        resampling: str = "herding",
        n_resample: int = 100,
        resample_threshold: float | str = 2.0,
        n_particles: int | None = None,
        support: str = "examples",
        n_examples: int | float | None = None,
        angles: Sequence[int] = (),
        random_state: Any = None,
        reject: bool | None = None,
        floor: Any = None,
        relocate: bool | None = None,
        augment: bool | None = None,
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
        self.reject = reject
        self.floor = floor
        self.relocate = relocate
        self.augment = augment

    def fit(self, states: Any, observations: Any = None, *, functions: Functions = ()) -> Self:
        """Learn the observation model from n examples.

        Parameters
        ----------
        states : array (n, d) or list of n objects, or dict
            Where the examples were taken. For several sensors, one dictionary ``{"wifi": (states, observations),
            "camera": (states, observations)}`` and nothing beside it: each sensor has its own examples, and what was
            learnt from them is ``sensors_["wifi"]``. Observations are then dictionaries, too (``docs/how-to.md``).
        observations : array (n, ...) or list of n objects
            What was observed there. With ``observation_kernel="precomputed"`` the n × n kernel matrix of the
            observations.
        functions : sequence of callables
            Functions of the states whose ``belief.expectation`` the compressed engine should compute without forming
            the weights; all others still work, at a cost that grows with n.

        Returns
        -------
        self
        """
        self._fit(states, observations, functions)
        self.state_names_ = names_of(states)
        return self

    @property
    def rejecting_(self) -> bool:
        """Whether the prediction is kept when a correction cannot be trusted."""
        return self.engine != "literal" if self.reject is None else bool(self.reject)

    @property
    def _augmenting(self) -> bool | None:
        """Whether to make up pairs; where that is left to the examples, only beside settings that are left to us."""
        left = (self.state_kernel, self.observation_kernel, self.epsilon, self.delta, self.rank, self.n_examples)
        usual = self.engine == "auto" and self.rule == "kbr" and self.support != "particles"
        return False if self.augment is None and not (usual and all(one is None for one in left)) else self.augment

    def _check_settings(self) -> None:
        check_filter(self)

    def _support(self) -> Support:
        kinds: dict[str, Callable[..., Support]] = {
            "examples": partial(self._on_examples, OnExamples),
            "particles": OnParticles,
            "both": partial(self._on_examples, OnBoth),
        }
        return kinds[self.support](
            resampling=self.resampling,
            resample_threshold=self.resample_threshold,
            tolerance=EXACT_ENOUGH if self.tolerance is None and self.engine != "auto" else self.tolerance,
            rank=self.rank,
        )

    def _on_examples(self, kind: type[OnExamples], **shared: Any) -> Support:
        return kind(
            rule=self.rule,
            engine=self.engine if self._precision is None else compiled_room().ENGINES[self.rule],
            n_resample=self.n_resample,
            angles=self.angles,
            functions=self._functions,
            move=self._mover(),
            **shared,
        )
