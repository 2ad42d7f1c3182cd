"""How a filter learns from examples: kernels, regularisers, the Bayes' rule, and new examples later."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from kmcf.bayes_rule import BayesRule, CompressedRule, fit_rule
from kmcf.bayes_rule.choice import RuleSettings, fit_particle_rule
from kmcf.bayes_rule.defaults import PARTICLE_DELTA, default_delta, default_epsilon
from kmcf.bayes_rule.particles import ParticleRule
from kmcf.filter.inputs import ObservationReader, read_examples, read_seed
from kmcf.filter.kernel_choice import KernelChoice, choose_observation_kernel
from kmcf.filter.restoring import check_kernels, kernel_probes, warn_refitted
from kmcf.filter.sequential import SequentialFilter
from kmcf.filter.settings import check_angles, check_filter, check_functions, pair_of
from kmcf.herding.subsampling import choose_examples
from kmcf.kernels import ExampleKernel, Kernel, Learned, Precomputed, as_kernel
from kmcf.kernels.defaults import PARTICLE_STATE_MULTIPLIER, default_state_kernel
from kmcf.numerics.arrays import IntArray, is_jax
from kmcf.numerics.circles import wrap_columns
from kmcf.numerics.greedy import greedy_loop
from kmcf.numerics.growing import Growing
from kmcf.numerics.objects import Objects, describe, is_numeric, take
from kmcf.support.alerts import StalePivotsWarning
from kmcf.support.storable import Versioned

STALE = 1e-3
USUAL_THRESHOLD = 2.0
"""engine="auto" takes the compressed engine, which always resamples, only up to this threshold."""
RULE_LAYOUT = 2
"""To be raised when the attributes of a fitted rule change: files with another layout are then fitted anew."""


class ExampleLearner(SequentialFilter):
    """Base of the filters that apply a Bayes' rule to examples; the settings are those of the filter."""

    state_kernel: Any
    observation_kernel: Any
    epsilon: float | None
    delta: float | None
    rule: str
    engine: str
    tolerance: float | tuple[float, float] | str
    rank: int | tuple[int, int] | None
    resampling: str
    n_resample: int
    resample_threshold: float
    n_particles: int | None
    support: str
    background: float
    n_examples: int | None

    rule_: BayesRule | ParticleRule
    _precision: Any = None
    """Precision of the JAX arrays the filter was fitted on; None for NumPy."""

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
        return self._fit(states, observations, functions, None)

    def _fit(
        self, states: Any, observations: Any, functions: Sequence[Callable[[Any], Any]], learnt: Learned | None
    ) -> Self:
        """Fit; ``learnt`` is a kernel whose summary of the same examples may be used again."""
        check_filter(self)
        self._compiled, self._precision = None, None
        if is_jax(states) or is_jax(observations):
            # The numbers of a fit are few: NumPy works them out once, then they move to the device.
            self._precision = compiled_precision(self, states, observations)
            states, observations = np.asarray(states, np.float64), np.asarray(observations, np.float64)
        state_kernel = None if self.state_kernel is None else as_kernel(self.state_kernel, "state_kernel")
        observation_kernel = (
            None if self.observation_kernel is None else as_kernel(self.observation_kernel, "observation_kernel")
        )
        read_states, examples = read_examples(
            states, observations, state_kernel=state_kernel, observation_kernel=observation_kernel
        )
        check_angles(self.angles, read_states)
        read_states = wrapped(read_states, self.angles)
        self._reader = ObservationReader.of(observations, examples, observation_kernel)
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
        told = _told(clone(observation_kernel), self.angles)
        self.observation_kernel_: Kernel = _fitted(told, examples, read_states, learnt)
        self._functions = check_functions(functions)
        plain = self.kernel_choice_ is not None and self.kernel_choice_.name == "plain"
        on_examples = self._on_examples(read_states, examples)
        self._choose_regularisers(*on_examples, plain=plain)
        self._fit_rule(Growing(read_states), Growing(examples), on_examples)
        self.seed_ = read_seed(self.random_state)
        self._compile()
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
        if self._precision is not None:
            states, observations = np.asarray(states, np.float64), np.asarray(observations, np.float64)
        read_states, examples = self._read_more(states, observations)
        all_states, all_examples = self._all_states.append(read_states), self._all_examples.append(examples)
        if not isinstance(self.rule_, CompressedRule):
            self._refit_rule(all_states, all_examples)
            self._compile()
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
        self._compile()
        return self

    def refresh(self) -> Self:
        """Choose the pivots of the low-rank engines anew from all examples, as a fit with the same kernels would."""
        self._check_fitted()
        self._refit_rule(self._all_states, self._all_examples)
        self._compile()
        return self

    def _to_store(self) -> dict[str, Any]:
        state = dict(vars(self))
        state.pop("_compiled", None)  # made again at loading
        if self._precision is not None:
            state["_precision"] = self._precision.name
        if "rule_" in state:
            state["rule_"] = Versioned(self.rule_, RULE_LAYOUT)
            state["_probes"] = kernel_probes(self)
        return state

    def _from_store(self, state: dict[str, Any]) -> None:
        rule = state.pop("rule_", None)
        self.__dict__.update(state)
        if self._precision is not None:
            self._precision = np.dtype(self._precision)
        if rule is not None and rule.version == RULE_LAYOUT:
            self.rule_ = rule.read()

    def _loaded(self, passed: set[str]) -> None:
        """Compare the kernels that were passed again with those saved; fit a rule of another layout anew."""
        if not hasattr(self, "seed_"):
            return
        check_kernels(self, self.__dict__.pop("_probes"), passed)
        greedy_loop()
        if not hasattr(self, "rule_"):
            warn_refitted(stacklevel=4)
            self._refit_rule(self._all_states, self._all_examples)
        if self._precision is not None:
            compiled_precision(self)
            self._compile()

    def _read_more(self, states: Any, observations: Any) -> tuple[Objects, Objects]:
        read_states, examples = read_examples(
            states,
            observations,
            state_kernel=self.state_kernel_,
            observation_kernel=self.observation_kernel_,
            fewest=1,
        )
        for name, new, old in (
            ("states", read_states, self._all_states.objects),
            ("observations", examples, self._all_examples.objects),
        ):
            if np.shape(new)[1:] != np.shape(old)[1:] if is_numeric(old) else is_numeric(new):
                raise ValueError(f"the new {name} are {describe(new)}, but the filter was fitted on {describe(old)}.")
            if is_numeric(old) and new.dtype != old.dtype:
                raise ValueError(f"the new {name} have the type {new.dtype}, but the filter was fitted on {old.dtype}.")
        return wrapped(read_states, self.angles), examples

    def _on_examples(self, states: Objects, examples: Objects) -> tuple[ExampleKernel, ExampleKernel]:
        """Prepare the examples for both kernels; for some kernels this is dear, so it is done once per fit."""
        return self.state_kernel_.on_examples(states), self.observation_kernel_.on_examples(examples)

    def _refit_rule(self, states: Growing, examples: Growing) -> None:
        self._fit_rule(states, examples, self._on_examples(states.objects, examples.objects))

    def _fit_rule(self, states: Growing, examples: Growing, on_examples: tuple[ExampleKernel, ExampleKernel]) -> None:
        on_states, on_observations = on_examples
        self.example_indices_: IntArray | None = None
        if self.n_examples is not None and self.n_examples < on_states.size:
            chosen = choose_examples(on_states, on_observations, size=self.n_examples)
            self.example_indices_, self.subsample_error_ = chosen.indices, chosen.error
            on_states, on_observations = on_states.subset(chosen.indices), on_observations.subset(chosen.indices)
        self._keep(states, examples)
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

    def _compile(self) -> None:
        """Prepare the same filter on JAX arrays, if it was fitted on such."""
        if self._precision is None:
            return
        from kmcf.compiled import CompiledFilter

        assert isinstance(self.rule_, CompressedRule)
        self._compiled = CompiledFilter(
            self.rule_,
            self.states_,
            self._reader,
            self.state_kernel_,
            transition=self.transition,
            initial=self.initial,
            angles=self.angles,
            seed=self.seed_,
            n_particles=self.n_particles_,
            n_resample=self.n_resample,
            dtype=self._precision,
        )

    def _default_state_kernel(self, states: Objects) -> Kernel:
        if self.support == "particles":
            return default_state_kernel(states, self.angles, PARTICLE_STATE_MULTIPLIER)
        return default_state_kernel(states, self.angles)

    def _choose_regularisers(self, on_states: ExampleKernel, on_observations: ExampleKernel, *, plain: bool) -> None:
        if self.epsilon is None:
            self.epsilon_ = default_epsilon(float(on_states.diagonal().mean()))
        else:
            self.epsilon_ = float(self.epsilon)
        if self.delta is not None:
            self.delta_ = float(self.delta)
            return
        mean_diagonal = float(on_observations.diagonal().mean())
        if self.support == "particles":
            self.delta_ = PARTICLE_DELTA * mean_diagonal
        else:
            self.delta_ = default_delta(self.rule, plain=plain, mean_diagonal=mean_diagonal)

    def _keep(self, states: Growing, examples: Growing) -> None:
        self._all_states, self._all_examples = states, examples
        kept = self.example_indices_
        self.states_ = states.objects if kept is None else take(states.objects, kept)

    def _rule_settings(self) -> RuleSettings:
        return RuleSettings(
            engine=self.engine if self._precision is None else "compressed",
            rule=self.rule,
            epsilon=self.epsilon_,
            delta=self.delta_,
            tolerance=None if self.tolerance == "auto" else pair_of(self.tolerance),
            rank=pair_of(self.rank),
            n_particles=self.n_particles_,
            may_compress=self.resampling != "none" and self.resample_threshold <= USUAL_THRESHOLD,
            background=float(self.background),
        )

    @property
    def n_particles_(self) -> int:
        """The number of particles in use."""
        return min(len(self.states_), 1000) if self.n_particles is None else int(self.n_particles)


def compiled_precision(flt: ExampleLearner, *arrays: Any) -> Any:
    """Check that the JAX path can do what the filter's settings ask for; return the precision of the arrays."""
    from kmcf.compiled.checks import check_settings, precision

    check_settings(flt)
    return precision(*arrays)


def wrapped(states: Objects, angles: Sequence[int]) -> Objects:
    """Return states with their angle columns in (−π, π]."""
    if not len(angles):
        return states
    private = states.copy()
    wrap_columns(private, angles)
    return private


def _told(kernel: Kernel, angles: Sequence[int]) -> Kernel:
    """Tell learnt kernels, alone or inside others, which state columns are angles, unless the user did."""
    for part in (kernel, *kernel.get_params(deep=True).values()):
        if isinstance(part, Learned) and part.angles is None and len(angles):
            part.set_params(angles=tuple(int(j) for j in angles))
    return kernel


def _fitted(kernel: Kernel, examples: Objects, states: Objects, learnt: Learned | None) -> Kernel:
    """Fit an observation kernel, on a summary learnt before if there is one."""
    if learnt is not None and isinstance(kernel, Learned):
        return kernel.fit_like(learnt, examples)
    fitted: Kernel = kernel.fit(examples, states)
    return fitted
