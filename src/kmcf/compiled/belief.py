"""A belief that lives on the device, and passes through ``jit``, ``vmap`` and ``scan``."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from kmcf.compiled.checks import is_traced
from kmcf.compiled.contract import Engine
from kmcf.compiled.records import FilterState, StepResult
from kmcf.compiled.seen import Seen
from kmcf.embedding.lazy_weights import LazyWeights
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.step_report import StepReport
from kmcf.kernels import Kernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects
from kmcf.trust.alarm import Watch
from kmcf.trust.calibration import Calibration


@jax.tree_util.register_pytree_node_class
class DeviceBelief(Belief):
    """The belief of the JAX path: arrays on the device, turned into an ordinary belief on first access.

    Inside compiled code only :meth:`mean` and, without angles, :meth:`covariance` are available.

    Parameters
    ----------
    engine : Engine
        The filter that made it.
    state : FilterState
        What the next step continues from.
    result : StepResult
        What the step that made this belief computed.
    seen : Seen, optional
        What the host knows besides.
    """

    def __init__(self, engine: Engine, state: FilterState, result: StepResult, seen: Seen | None = None) -> None:
        self.seen = Seen() if seen is None else seen
        self._engine = engine
        self._state = state
        self._result = result
        self._copy: Belief | None = None

    def to_host(self) -> Belief:
        """Return the same as an ordinary belief of NumPy arrays, made once and then kept."""
        if self._copy is None:
            self._copy = self._fetched()
        return self._copy

    def _fetched(self) -> Belief:
        if is_traced((self._state, self._result)):
            raise TypeError(
                "inside compiled code only belief.mean() and belief.covariance() are available; return the belief from "
                "the compiled function to read its states, weights and the rest."
            )
        if np.ndim(self._state.time) > 0:
            raise TypeError(
                "this belief holds a whole batch (it comes from vmap): pick one with jax.tree.map(lambda a: a[b], "
                "belief); mean() and covariance() work for all at once."
            )
        return self._engine.host_belief(self._state, self._result, self.seen)

    # What an ordinary belief consists of; everything else is derived from these.

    @property
    def states(self) -> Objects:
        """The sample X."""
        return self.to_host().states

    @property
    def weights(self) -> FloatArray:
        """The weights w, (n,)."""
        return self.to_host().weights

    @property
    def source(self) -> LazyWeights | None:
        """Where the weights come from."""
        return self.to_host().source

    @property
    def unformed(self) -> bool:
        """Whether asking for the weights would form them now."""
        return self.to_host().unformed

    @property
    def kernel(self) -> Kernel | None:
        """The kernel on states."""
        return self._engine.kernel

    @property
    def angles(self) -> tuple[int, ...]:
        """State columns that are angles."""
        return tuple(self._engine.settings.angles)

    @property
    def time(self) -> int:
        """Number of steps made."""
        return self.to_host().time

    @property
    def stream(self) -> int:
        """Which stream of random numbers the next steps use."""
        return self.to_host().stream

    @property
    def report(self) -> StepReport:
        """How the step that made this belief went."""
        return self.to_host().report

    @property
    def watch(self) -> Watch | None:
        """What raises alarms."""
        return self._engine.watch

    @property
    def resampled(self) -> IntArray | None:
        """Indices of the states that the next step propagates."""
        return self.to_host().resampled

    @property
    def rejections(self) -> int:
        """How many steps were rejected on the way here."""
        return self.to_host().rejections

    @property
    def clock(self) -> float | None:
        """The user's time of this belief."""
        return self.to_host().clock

    @property
    def elapsed(self) -> float | None:
        """Time since the step before."""
        return self.to_host().elapsed

    @property
    def calibration(self) -> Calibration | None:
        """What intervals, ellipses and probabilities are corrected by."""
        return self._engine.calibration

    @property
    def state_shape(self) -> tuple[int, ...]:
        """Shape of one state."""
        return self._engine.state_shape

    def particles(self, size: int) -> tuple[Objects, FloatArray]:
        """Return the sample that the next step moves."""
        return self.to_host().particles(size)

    @property
    def device_state(self) -> FilterState:
        """The arrays that the next step continues from."""
        return self._state

    def mean(self) -> FloatArray:
        """Posterior mean, circular in the angle columns; a JAX array inside compiled code."""
        flat = self._result.mean
        shaped = flat.reshape(*flat.shape[:-1], *self._engine.state_shape)
        return shaped if is_traced(flat) else np.asarray(shaped)

    def covariance(self, psd: bool = False) -> FloatArray:
        """Centred covariance of the flattened state; see :meth:`kmcf.Embedding.covariance`."""
        known = self._result.covariance
        if psd or known is None:
            return super().covariance(psd)
        return known if is_traced(known) else np.asarray(known)

    def tree_flatten(self) -> tuple[tuple[FilterState, StepResult], Engine]:
        """Split into arrays and the rest, for JAX."""
        return (self._state, self._result), self._engine

    @classmethod
    def tree_unflatten(cls, engine: Engine, parts: tuple[FilterState, StepResult]) -> DeviceBelief:
        """Put the parts back together, for JAX."""
        return cls(engine, *parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return _host_copy, (self.to_host(),)


def _host_copy(belief: Belief) -> Belief:
    """Return the belief: a pickled one comes back as an ordinary belief."""
    return belief
