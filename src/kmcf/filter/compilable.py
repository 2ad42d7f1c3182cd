"""What the two filters with a Bayes' rule do with JAX arrays: NumPy fits them, then compiled code takes over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from kmcf.bayes_rule.backward import Features
from kmcf.filter.backend import Backend, compiled_room
from kmcf.filter.backward.smoother import Smoother
from kmcf.filter.fitting.sensor_learning import one_sensor
from kmcf.filter.motion import Motion
from kmcf.filter.results.run import FilterRun
from kmcf.filter.rule_filter import Functions, RuleFilter
from kmcf.kernels import Kernel
from kmcf.numerics.arrays import is_jax
from kmcf.trust.rehearsal import Mover


class CompilableFilter(RuleFilter):
    """A filter that is compiled where ``fit`` is given JAX arrays (``docs/jax.md``)."""

    _precision: Any = None
    """Precision of the JAX arrays the filter was fitted on; None for NumPy."""

    def partial_fit(self, states: Any, observations: Any = None) -> Self:
        """Learn from further examples; see :meth:`RuleFilter.partial_fit`."""
        return super().partial_fit(*self._on_host(states, observations))

    def filter(
        self,
        observations: Any,
        controls: Any = None,
        progress: bool = False,
        *,
        times: Any = None,
        keep_beliefs: bool | None = None,
        mesh: Any = None,
    ) -> FilterRun:
        """Filter a sequence of T observations, or a batch of B sequences given as one array.

        Parameters
        ----------
        observations : array (T, ...), (B, T, ...) or list of T observations
            None or all-NaN entries are missing. A list is always one sequence. With several sensors, a list with one
            dictionary per step, or a dictionary of sequences.
        controls : sequence of T (or B sequences of T), optional
            ``controls[t]`` drives the move from step t−1 to step t; the first one is ignored.
        progress : bool
            Show a progress bar (needs the extra ``kmcf[progress]``); not with JAX arrays, whose loop is compiled.
        times : sequence of T (or B sequences of T), optional
            When the observations were made, increasing, in any unit (or as datetime64): transitions that take
            ``elapsed`` are told how much time passed. None: every step takes the same time.
        keep_beliefs : bool, optional
            Whether to keep the beliefs, as ``run[t]``. None: yes for at most 10 000 steps whose beliefs take little
            memory (32 MB), and always with JAX arrays, where they cost nothing.
        mesh : jax.sharding.Mesh, optional
            For filters fitted on JAX arrays: devices that share a batch.

        Returns
        -------
        FilterRun
        """
        options = {"times": times, "progress": progress, "keep_beliefs": keep_beliefs, **self._devices(mesh)}
        return self._named(self._fitted_backend().filter(observations, controls, **options))

    def filter_many(
        self,
        sequences: Sequence[Any],
        controls: Sequence[Any] | None = None,
        progress: bool = False,
        *,
        times: Sequence[Any] | None = None,
        keep_beliefs: bool | None = None,
        mesh: Any = None,
        n_jobs: int = 1,
    ) -> list[FilterRun]:
        """Filter several sequences, of any lengths; sequence b uses random stream b.

        Parameters
        ----------
        sequences : list of sequences
            Each as for :meth:`filter`.
        controls : list of sequences, optional
            One sequence of controls (or None) per sequence.
        times : list of sequences, optional
            One sequence of times (or None) per sequence.
        progress, keep_beliefs, mesh
            As for :meth:`filter`.
        n_jobs : int
            Number of sequences at once, each in a process of its own; −1: as many as there are cores. The results are
            the same. Not for filters fitted on JAX arrays, which share out a batch themselves.
        """
        options = {"times": times, "progress": progress, "keep_beliefs": keep_beliefs, **self._devices(mesh)}
        options |= self._processes(n_jobs)
        return [self._named(run) for run in self._fitted_backend().filter_many(sequences, controls, **options)]

    def _devices(self, mesh: Any) -> dict[str, Any]:
        """Return the option that only the compiled backend understands."""
        if mesh is None:
            return {}
        if self._precision is None:
            raise ValueError("mesh is for filters fitted on JAX arrays; this one was fitted on NumPy arrays.")
        return {"mesh": mesh}

    def _processes(self, n_jobs: int) -> dict[str, Any]:
        """Return the option that only the loop on NumPy understands."""
        if n_jobs != 1 and self._precision is not None:
            raise ValueError("n_jobs is for filters fitted on NumPy arrays; this one was fitted on JAX arrays.")
        return {} if self._precision is not None else {"n_jobs": n_jobs}

    def _fit(self, states: Any, observations: Any, functions: Functions, known: Kernel | None = None) -> Self:
        self._precision = None
        if isinstance(states, Mapping) or observations is None:
            return super()._fit(states, observations, functions, known)
        one_sensor(self, observations)
        self._check_settings()
        if is_jax(states) or is_jax(observations):
            # The numbers of a fit are few: NumPy works them out once, then they move to the device.
            self._precision = compiled_room().precision_of(self, states, observations)
        return super()._fit(*self._on_host(states, observations), functions, known)

    def _fit_options(self) -> dict[str, Any]:
        return {**super()._fit_options(), "_precision": None if self._precision is None else self._precision.name}

    def _take_over(self, options: Mapping[str, Any]) -> None:
        super()._take_over(options)
        precision = options.get("_precision")
        self._precision = None if precision is None else np.dtype(precision)
        if self._precision is not None:
            compiled_room().precision_of(self)

    def _on_host(self, states: Any, observations: Any) -> tuple[Any, Any]:
        """Return the examples as NumPy arrays, in double precision, if they were JAX arrays."""
        if self._precision is None:
            return states, observations
        return np.asarray(states, np.float64), np.asarray(observations, np.float64)

    def _like_fitted(self, states: Any, observations: Any) -> tuple[Any, Any]:
        if self._precision is None:
            return states, observations
        return compiled_room().on_device(states, observations, self._precision)

    def _make_backend(self) -> Backend:
        if self._precision is None:
            return super()._make_backend()
        return compiled_room().compiled_backend(self, self._precision, self._make_watch())

    def host_motion(self) -> Motion:
        """Return how states move, on NumPy arrays; a compiled transition is wrapped."""
        if self._precision is None:
            return super().host_motion()
        return replace(self._motion(), transition=compiled_room().on_host(self.transition, self._precision))

    def _backward_features(self, motion: Motion) -> Features:
        if self._precision is None:
            return super()._backward_features(motion)
        known = compiled_room().remembered(self.backend_)  # a compiled backward pass belongs to its features
        if "features" not in known:
            known["features"] = super()._backward_features(motion)
        found: Features = known["features"]
        return found

    def _backward_random(self) -> Any:
        return None if self._precision is None else compiled_room().backward_keys(self.seed_)

    def _smoothed_together(self, smoother: Smoother, filtered: Any) -> Any:
        return None if self._precision is None else compiled_room().smoothed_together(smoother, filtered)

    def _mover(self) -> Mover:
        if self._precision is None:
            return super()._mover()
        mover: Mover = compiled_room().mover(self.transition, self._precision)
        return mover
