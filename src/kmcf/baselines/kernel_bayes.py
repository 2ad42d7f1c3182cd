"""The Kernel Bayes' Rule filter (Fukumizu, Song and Gretton 2011, 2013): the transition is learnt from examples, too.

predict:  weights on the states of the last belief → weights on the successors of the transition pairs (sum rule)
correct:  Kernel Bayes' Rule with that prior and the observation → weights on the example states
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from kmcf.baselines.sum_rule import SumRule, TransitionPairs, consecutive, finite, read_pairs
from kmcf.bayes_rule import BayesRule, Sample
from kmcf.bayes_rule.defaults import DELTA_OTHER, EPSILON, default_epsilon
from kmcf.filter.clock import Drive
from kmcf.filter.fitting.learning import learn
from kmcf.filter.fitting.learnt import LearningSettings
from kmcf.filter.fitting.patterns import with_patterns
from kmcf.filter.fitting.sensor_learning import refuse_several
from kmcf.filter.fitting.silence import check_floor
from kmcf.filter.inputs import read_seed
from kmcf.filter.motion import Motion
from kmcf.filter.naming import names_of
from kmcf.filter.restoring import restored, stored
from kmcf.filter.results.belief import Belief
from kmcf.filter.sequential import SequentialFilter
from kmcf.filter.settings import (
    MOST_PARTICLES,
    check_accuracy,
    check_choice,
    check_count,
    check_draws,
    check_flag,
    check_positive,
    check_printed,
    particles_for,
)
from kmcf.filter.step import Step
from kmcf.filter.support import OnExamples
from kmcf.filter.tunable import kernel_widths
from kmcf.filter.watching import watch_observations
from kmcf.kernels import Gaussian, Kernel, as_kernel
from kmcf.kernels.defaults import STATE_MULTIPLIER
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.objects import Objects, as_objects
from kmcf.support.search_space import LogNormal, Parameter


class KernelBayesFilter(SequentialFilter):
    """Filter that learns both the observation model and the transition by kernel mean embeddings.

    This is the KBR filter of Fukumizu, Song and Gretton (2011, 2013), a baseline in the paper's Sections 6.2 and 6.3.

    Parameters
    ----------
    transition : callable, optional
        Ignored: this filter learns the transition in ``fit``. It is here so that all filters can be made alike.
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
    tolerance, rank, floor
        As for :class:`~kmcf.KernelMonteCarloFilter`.
    n_transitions : int
        Use at most this many transition pairs, evenly spread; a step costs the square of their number.
    n_particles : int, optional
        Number of draws that represent p_init. None: the number of examples, at most 1000.
    angles : sequence of int
        State columns that are angles in radians.
    random_state : int, Generator or None
        Seed of the draws from p_init.
    reject : bool, optional
        Whether to keep the prediction when a correction cannot be trusted, as for
        :class:`~kmcf.KernelMonteCarloFilter`. None: yes, except with ``engine="literal"``.

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

    needs_transition: ClassVar[bool] = False
    cannot_smooth: ClassVar[str] = (
        "it predicts by the kernel sum rule on recorded moves, and smoothing needs moves that can be simulated. Use "
        "KernelMonteCarloFilter with a transition."
    )
    state_kernel_: Kernel
    rule_: BayesRule

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
        reject: bool | None = None,
        floor: Any = None,
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
        self.reject = reject
        self.floor = floor

    def fit(self, states: Any, observations: Any = None, controls: Any = None, transitions: Any = None) -> Self:
        """Learn the observation model and the transition.

        Parameters
        ----------
        states : array (n, d) or list of n objects
            Where the examples were taken.
        observations : array (n, ...) or list of n objects
            What was observed there.
        controls : sequence of n, optional
            If the examples are a sequence: ``controls[t]`` drove the move to example t (the first is ignored).
        transitions : tuple, optional
            ``(before, after)`` or ``(before, after, controls)``: observed moves. None: the examples are a sequence,
            and consecutive ones are the moves.
        """
        refuse_several(self, states)
        self._check_settings()
        if transitions is not None and controls is not None:
            raise ValueError("give the controls of transition pairs as transitions=(before, after, controls).")
        self.calibration_ = None  # it was of another fit
        self._thresholds = None
        self.learnt_ = learn(states, observations, self._learning_settings())
        self.learnt_.publish(self)
        self.seed_, self.state_names_ = read_seed(self.random_state), names_of(states)
        self._transitions = self._pairs(states, controls, transitions).some(int(self.n_transitions))
        self.control_kernel_ = self._fit_control_kernel(self._transitions)
        self.transition_epsilon_ = self._chosen_epsilon(self._transitions)
        self._fit_sum_rule()
        self.backend_ = self._make_backend()
        return self

    def _chosen_epsilon(self, pairs: TransitionPairs) -> float:
        if self.transition_epsilon is not None:
            return float(self.transition_epsilon)
        mean_diagonal = float(np.mean(self.state_kernel_.diagonal(pairs.before)))
        if self.control_kernel_ is not None:
            mean_diagonal *= float(np.mean(self.control_kernel_.diagonal(pairs.controls)))
        return default_epsilon(mean_diagonal)

    def _fit_sum_rule(self) -> None:
        self._sum_rule = SumRule(
            self._transitions,
            self.state_kernel_,
            self.control_kernel_,
            epsilon=self.transition_epsilon_,
            examples=self.states_,
        )

    def _fitted_examples(self) -> tuple[Any, Any]:
        return self.learnt_.examples

    def _fitted_state(self) -> dict[str, Any]:
        return {
            **stored(self.learnt_),
            "transitions_": list(self._transitions),
            "control_kernel_": self.control_kernel_,
            "transition_epsilon_": self.transition_epsilon_,
        }

    def _restore(self, state: dict[str, Any], passed: set[str]) -> None:
        self.learnt_ = restored(state, self._learning_settings(), passed)
        self.learnt_.publish(self)
        self._transitions = TransitionPairs(*state["transitions_"])
        self.control_kernel_ = state["control_kernel_"]
        self.transition_epsilon_ = float(state["transition_epsilon_"])
        self._fit_sum_rule()

    def search_space(self) -> dict[str, Parameter]:
        """Return the regularisers, around the values in use if the filter is fitted, and the bandwidths."""
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

    @property
    def n_particles_(self) -> int:
        """The number of draws from p_init in use."""
        return particles_for(self.n_particles, len(self.learnt_.start_states))

    def _check_settings(self) -> None:
        check_draws(self)
        check_floor(self.floor)
        check_choice("rule", self.rule, ("kbr", "importance"))
        check_choice("engine", self.engine, ("auto", "literal", "exact", "lowrank"))
        check_accuracy(self.tolerance, self.rank)
        check_printed(self.engine, self.rule, self.rank)
        check_flag("reject", self.reject, optional=True)
        check_count("n_particles", self.n_particles, optional=True, most=MOST_PARTICLES)
        check_count("n_transitions", self.n_transitions, most=MOST_PARTICLES)
        for name in ("epsilon", "delta", "transition_epsilon"):
            check_positive(name, getattr(self, name), optional=True)
        for name in ("state_multiplier", "control_multiplier"):
            check_positive(name, getattr(self, name))

    def _learning_settings(self) -> LearningSettings:
        support = OnExamples("none", np.inf, self.tolerance, self.rank, self.rule, self.engine, n_resample=1)
        return LearningSettings(
            state_kernel=self.state_kernel,
            observation_kernel=self.observation_kernel,
            state_multiplier=self.state_multiplier,
            epsilon=self.epsilon,
            delta=self.delta,
            default_delta=support.default_delta,
            n_examples=None,
            angles=self.angles,
            floor=self.floor,
            make_rule=lambda examples, epsilon, delta, cache: support.fit(
                examples, epsilon, delta, particles_for(self.n_particles, examples.size), cache
            ),
        )

    def _pairs(self, states: Any, controls: Any, transitions: Any) -> TransitionPairs:
        if transitions is None:
            every = as_objects(states, "states", structured=self.state_kernel_.structured)  # also without observation
            return consecutive(wrapped_columns(every, self.angles), controls)
        pairs = read_pairs(transitions, self.states_, structured=self.state_kernel_.structured)
        return pairs._replace(
            before=wrapped_columns(pairs.before, self.angles), after=wrapped_columns(pairs.after, self.angles)
        )

    def _fit_control_kernel(self, pairs: TransitionPairs) -> Kernel | None:
        if pairs.controls is None:
            return None
        given = self.control_kernel
        kernel = Gaussian(multiplier=self.control_multiplier) if given is None else as_kernel(given, "control_kernel")
        return clone(kernel).fit(pairs.controls)

    def _motion(self) -> Motion:
        return replace(super()._motion(), examples=self.learnt_.start_states)

    def _step(self) -> Step:
        printed = self.engine == "literal"  # compares anew at every step
        learnt = self.learnt_ if printed else self.learnt_.expecting(self._sum_rule.successors)
        return Step(
            predict=self._predict,
            rule=with_patterns(learnt, self._learning_settings()),
            rejecting=self.engine != "literal" if self.reject is None else bool(self.reject),
            n_particles=self.n_particles_,
            kernel=self.state_kernel_,
            angles=self.angles,
            watch=watch_observations(
                self.learnt_.examples[0],
                self.learnt_.all_observations.objects,
                self.observation_kernel_,
                self.angles,
                self._thresholds,
            ),
        )

    def _predict(self, belief: Belief, drive: Drive, _rng: np.random.Generator) -> Sample:
        """Predict by the sum rule; the first step keeps the initial sample."""
        if belief.time == 0:
            return Sample(belief.states, belief.weights)
        read = self._read_control(drive.control, belief.time + 1)
        return Sample(self._sum_rule.successors, self._sum_rule.predict(belief.states, belief.weights, read))

    def _timeless(self) -> str:
        return "this filter learnt how states move from pairs that say nothing of time"

    def _read_control(self, control: Any, time: int) -> Objects | None:
        if not self._sum_rule.controlled:
            return None
        if control is None:
            raise ValueError(f"this filter was fitted with controls, but step {time} has none: pass controls=...")
        return finite(as_objects([control], "a control"), "the controls")
