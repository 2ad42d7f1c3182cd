"""The Kernel Bayes' Rule filter (Fukumizu, Song and Gretton 2011, 2013): the transition, too, is learnt from examples.

predict:  weights on the states of the last belief → weights on the successors of the transition pairs (sum rule)
correct:  Kernel Bayes' Rule with that prior and the observation → weights on the example states
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from kmcf.baselines.sum_rule import SumRule, TransitionPairs, consecutive, finite, read_pairs
from kmcf.bayes_rule.defaults import DELTA_OTHER, EPSILON, default_epsilon
from kmcf.filter.belief import Belief, StepReport
from kmcf.filter.learning import ExampleLearner, wrapped
from kmcf.filter.rejection import LEAST_SIMILARITY, LEAST_WEIGHT_SUM
from kmcf.filter.settings import check_count, check_positive
from kmcf.filter.tunable import kernel_widths
from kmcf.kernels import Gaussian, Kernel, as_kernel
from kmcf.kernels.defaults import STATE_MULTIPLIER, default_state_kernel
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects, as_objects
from kmcf.support.search_space import LogNormal, Parameter


class KernelBayesFilter(ExampleLearner):
    """Filter that learns both the observation model and the transition by kernel mean embeddings.

    Parameters
    ----------
    transition : callable, optional
        Ignored, so that all filters can be made alike: this filter learns the transition in ``fit``.
    initial : callable, optional
        ``(size, rng) -> states``: draws initial states. None: i.i.d. draws from the example states.
    state_kernel, observation_kernel : kernels, optional
        As for :class:`~kmcf.KernelMonteCarloFilter`.
    control_kernel : kernel, optional
        Kernel on controls. None: Gaussian at ``control_multiplier`` times their median distance.
    epsilon, delta : float, optional
        Regularisers of Algorithm 1. None: as for :class:`~kmcf.KernelMonteCarloFilter`.
    transition_epsilon : float, optional
        Regulariser of the sum rule. None: 1e-3 of the kernel's mean diagonal.
    state_multiplier, control_multiplier : float
        Bandwidths of the default kernels as multiples of the median distances.
    rule : {"kbr", "importance"}
        Kernel Bayes' Rule or its importance-weighted variant.
    engine : {"auto", "literal", "exact", "lowrank"}
        How the rule is computed.
    tolerance, rank
        As for :class:`~kmcf.KernelMonteCarloFilter`.
    n_transitions : int
        Use at most so many transition pairs, evenly spread; a step costs the square of their number.
    n_particles : int, optional
        Number of draws that represent p_init. None: the number of examples, at most 1000.
    angles : sequence of int
        State columns that are angles in radians.
    random_state : int, Generator or None
        Seed of the draws from p_init.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1b")
    >>> train, test = model.simulate(200, random_state=0), model.simulate(50, random_state=1)
    >>> flt = KernelBayesFilter(initial=model.initial, random_state=0)
    >>> run = flt.fit(train.states, train.observations, train.controls).filter(test.observations, test.controls)
    >>> run.mean.shape, bool(run.negative_mass.max() > 0)
    ((50, 1), True)
    """

    _needs_transition: ClassVar[bool] = False
    # What the learner of examples asks of every filter: nothing is resampled here.
    resampling = "none"
    n_resample = 1
    resample_threshold = np.inf
    support = "examples"
    background = 0.0
    n_examples = None

    def __init__(
        self,
        transition: Callable[[Any, Any, np.random.Generator], Any] | None = None,
        initial: Callable[[int, np.random.Generator], Any] | None = None,
        state_kernel: Any = None,
        observation_kernel: Any = None,
        control_kernel: Any = None,
        epsilon: float | None = None,
        delta: float | None = None,
        transition_epsilon: float | None = None,
        state_multiplier: float = STATE_MULTIPLIER,
        control_multiplier: float = STATE_MULTIPLIER,
        rule: str = "kbr",
        engine: str = "auto",
        tolerance: float | tuple[float, float] | str = 1e-8,
        rank: int | tuple[int, int] | None = None,
        n_transitions: int = 1000,
        n_particles: int | None = None,
        angles: Sequence[int] = (),
        random_state: Any = None,
    ) -> None:
        self.transition = transition
        self.initial = initial
        self.state_kernel = state_kernel
        self.observation_kernel = observation_kernel
        self.control_kernel = control_kernel
        self.epsilon = epsilon
        self.delta = delta
        self.transition_epsilon = transition_epsilon
        self.state_multiplier = state_multiplier
        self.control_multiplier = control_multiplier
        self.rule = rule
        self.engine = engine
        self.tolerance = tolerance
        self.rank = rank
        self.n_transitions = n_transitions
        self.n_particles = n_particles
        self.angles = angles
        self.random_state = random_state

    def fit(  # type: ignore[override]  # no functions: nothing is compressed here
        self, states: Any, observations: Any, controls: Any = None, transitions: Any = None
    ) -> Self:
        """Learn the observation model and the transition.

        Parameters
        ----------
        states : array (n, d) or list of n objects
            Where the examples were taken.
        observations : array (n, ...) or list of n objects
            What was observed there.
        controls : sequence of n, optional
            Where the examples are a sequence: ``controls[t]`` drove the move to example t (the first is ignored).
        transitions : tuple, optional
            ``(before, after)`` or ``(before, after, controls)``: observed moves. None: the examples are a sequence,
            and consecutive ones are the moves.
        """
        check_positive("transition_epsilon", self.transition_epsilon, optional=True)
        check_positive("state_multiplier", self.state_multiplier)
        check_positive("control_multiplier", self.control_multiplier)
        check_count("n_transitions", self.n_transitions)
        if transitions is not None and controls is not None:
            raise ValueError("give the controls of transition pairs as transitions=(before, after, controls).")
        super().fit(states, observations)
        pairs = self._pairs(controls, transitions).some(int(self.n_transitions))
        self.control_kernel_ = self._fit_control_kernel(pairs)
        mean_diagonal = float(np.mean(self.state_kernel_.diagonal(pairs.before)))
        if self.control_kernel_ is not None:
            mean_diagonal *= float(np.mean(self.control_kernel_.diagonal(pairs.controls)))
        chosen = self.transition_epsilon
        self.transition_epsilon_ = default_epsilon(mean_diagonal) if chosen is None else float(chosen)
        self._sum_rule = SumRule(
            pairs,
            self.state_kernel_,
            self.control_kernel_,
            epsilon=self.transition_epsilon_,
            examples=self.states_,
        )
        return self

    def partial_fit(self, states: Any, observations: Any) -> Self:
        """Refuse: whether new examples follow the old ones is not known."""
        raise TypeError("KernelBayesFilter does not learn bit by bit: call fit on all examples.")

    def search_space(self) -> dict[str, Parameter]:
        """Return the regularisers, around the values in use where the filter is fitted, and the bandwidths."""
        defaults = {"epsilon": EPSILON, "delta": DELTA_OTHER[self.rule], "transition_epsilon": EPSILON}
        space: dict[str, Parameter] = {}
        for name, default in defaults.items():
            center = getattr(self, name) or getattr(self, f"{name}_", default)
            space[name] = LogNormal(center, sd=2.0 if name == "delta" else 1.2)
        for kind in ("state", "control"):
            name, given = f"{kind}_kernel", getattr(self, f"{kind}_kernel")
            if given is None:
                space[f"{kind}_multiplier"] = LogNormal(getattr(self, f"{kind}_multiplier"), sd=0.5)
            space |= kernel_widths(given, name)
        return space | kernel_widths(self.observation_kernel, "observation_kernel")

    def _default_state_kernel(self, states: Objects) -> Kernel:
        return default_state_kernel(states, self.angles, self.state_multiplier)

    def _pairs(self, controls: Any, transitions: Any) -> TransitionPairs:
        if transitions is None:
            return consecutive(self.states_, controls)
        pairs = read_pairs(transitions, self.states_, structured=self.state_kernel_.structured)
        return pairs._replace(before=wrapped(pairs.before, self.angles), after=wrapped(pairs.after, self.angles))

    def _fit_control_kernel(self, pairs: TransitionPairs) -> Kernel | None:
        if pairs.controls is None:
            return None
        given = self.control_kernel
        kernel = Gaussian(multiplier=self.control_multiplier) if given is None else as_kernel(given, "control_kernel")
        fitted: Kernel = clone(kernel).fit(pairs.controls)
        return fitted

    def _initial_belief(self, stream: int, rng: np.random.Generator) -> Belief:
        size = self.n_particles_
        return self._belief(self._draw_initial(size, rng), np.full(size, 1.0 / size), time=0, stream=stream)

    def _advance(self, belief: Belief, observation: Objects | None, control: Any, rng: np.random.Generator) -> Belief:
        next_step = {"time": belief.time + 1, "stream": belief.stream, "rejections": belief.rejections}
        # 1. Predict by the sum rule; the initial sample stays where it is
        states, weights = belief.states, belief.weights
        if belief.time > 0:
            weights = self._sum_rule.predict(states, weights, self._read_control(control, belief.time + 1))
            states = self._sum_rule.successors
        if observation is None:
            alone = StepReport(missing=True, state_coverage=self.rule_.state_coverage(states, weights))
            return self._belief(states, weights, report=alone, **next_step)
        # 2. Correct by Bayes' rule
        posterior = self.rule_.correct(states, weights, observation)
        coverages = posterior.observation_coverage, posterior.state_coverage
        # 3. Normalise, unless there is nothing to normalise: then the prediction stays
        if posterior.observation_coverage <= LEAST_SIMILARITY or not posterior.weight_sum > LEAST_WEIGHT_SUM:
            next_step["rejections"] += 1
            return self._belief(
                states, weights, report=StepReport(np.nan, np.nan, *coverages, rejected=True), **next_step
            )
        report = StepReport(posterior.weight_sum, np.nan, *coverages)
        return self._belief(self.states_, posterior.weights(), report=report, **next_step)

    def _read_control(self, control: Any, time: int) -> Objects | None:
        if not self._sum_rule.controlled:
            return None
        if control is None:
            raise ValueError(f"this filter was fitted with controls, but step {time} has none: pass controls=...")
        return finite(as_objects([control], "a control"), "the controls")

    def _belief(self, states: Objects, weights: FloatArray, **details: Any) -> Belief:
        weights.flags.writeable = False
        return Belief(states, weights, kernel=self.state_kernel_, angles=self.angles, **details)
