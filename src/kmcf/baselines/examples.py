"""What the baselines share when they are shown examples: reading them, and a kernel on their states."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from kmcf.defaults import STATE_MULTIPLIER, default_state_kernel
from kmcf.filter.inputs import ObservationReader, read_examples, read_seed
from kmcf.filter.learning import wrapped
from kmcf.filter.sequential import SequentialFilter
from kmcf.filter.settings import check_angles, check_draws
from kmcf.kernels import Kernel, Precomputed, as_kernel
from kmcf.objects import Objects


class ExampleFilter(SequentialFilter):
    """Base of the filters that keep the example states and learn something from their observations."""

    state_kernel_: Kernel | None

    def _read_examples(
        self,
        states: Any,
        observations: Any,
        *,
        structured: tuple[bool, bool] = (False, False),
        handles_missing: bool = False,
    ) -> Objects:
        """Check and keep the example states; return the example observations."""
        check_draws(self)
        read_states, examples = read_examples(
            states, observations, structured=structured, handles_missing=handles_missing
        )
        check_angles(self.angles, read_states)
        self.states_ = wrapped(read_states, self.angles)
        self._reader = ObservationReader.of(observations, examples, handles_missing=handles_missing)
        self.seed_ = read_seed(self.random_state)
        return examples

    def _fit_state_kernel(self, kernel: Kernel | None, multiplier: float = STATE_MULTIPLIER) -> Kernel:
        """Return the kernel on states, by default Gaussian at a multiple of the median distance."""
        chosen = default_state_kernel(self.states_, self.angles, multiplier) if kernel is None else clone(kernel)
        fitted: Kernel = chosen.fit(self.states_)
        return fitted


def given_kernel(kernel: Any, name: str) -> Kernel | None:
    """Read a kernel that may be None; on states it must be able to compare new objects."""
    if kernel is None:
        return None
    read = as_kernel(kernel, name)
    if name == "state_kernel" and isinstance(read, Precomputed):
        raise TypeError("state_kernel='precomputed' cannot work: new states must be compared with the examples.")
    return read
