"""A belief that lives on the device, and passes through ``jit``, ``vmap`` and ``scan``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from kmcf.compiled.checks import is_traced
from kmcf.compiled.step import FilterState, StepResult
from kmcf.filter.belief import Belief
from kmcf.numerics.arrays import FloatArray

if TYPE_CHECKING:
    from kmcf.compiled.engine import CompiledFilter


@jax.tree_util.register_pytree_node_class
class DeviceBelief(Belief):
    """The belief of the JAX path: arrays on the device, which become an ordinary belief when someone looks at them.

    Inside compiled code only :meth:`mean` and, without angles, :meth:`covariance` are available.
    """

    def __init__(self, engine: CompiledFilter, state: FilterState, result: StepResult) -> None:
        self._engine = engine
        self._state = state
        self._result = result

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not there yet: the fields of an ordinary belief, all copied at the first look.
        if not name.startswith("_") or name.startswith("__") or "_result" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__.update(vars(self.to_host()))
        return self.__dict__[name]

    def to_host(self) -> Belief:
        """Return the same as an ordinary belief of NumPy arrays."""
        if is_traced((self._state, self._result)):
            raise TypeError(
                "inside compiled code only belief.mean() and belief.covariance() are known; return the belief from the "
                "compiled function to read its states, weights and the rest."
            )
        if np.ndim(self._state.time) > 0:
            raise TypeError(
                "this belief holds a whole batch (it comes from vmap): pick one with jax.tree.map(lambda a: a[b], "
                "belief); mean() and covariance() work for all at once."
            )
        return self._engine.host_belief(self._state, self._result)

    @property
    def device_state(self) -> FilterState:
        """The arrays that the next step goes on with."""
        return self._state

    def mean(self) -> FloatArray:
        """Posterior mean, circular in the angle columns; a JAX array inside compiled code."""
        flat = self._result.mean
        shaped = flat.reshape(*flat.shape[:-1], *self._engine.state_shape)
        mean: FloatArray = shaped if is_traced(flat) else np.asarray(shaped)
        return mean

    def covariance(self, psd: bool = False) -> FloatArray:
        """Centred covariance of the flattened state; see :meth:`kmcf.Embedding.covariance`."""
        known = self._result.covariance
        if psd or known is None:
            return super().covariance(psd)
        covariance: FloatArray = known if is_traced(known) else np.asarray(known)
        return covariance

    def tree_flatten(self) -> tuple[tuple[FilterState, StepResult], CompiledFilter]:
        """Say which parts are arrays (for JAX)."""
        return (self._state, self._result), self._engine

    @classmethod
    def tree_unflatten(cls, engine: CompiledFilter, parts: tuple[FilterState, StepResult]) -> DeviceBelief:
        """Put the parts together again (for JAX)."""
        return cls(engine, *parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return _host_copy, (self.to_host(),)


def _host_copy(belief: Belief) -> Belief:
    """Return an unpickled belief: it comes back as an ordinary one."""
    return belief
