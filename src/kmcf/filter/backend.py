"""What carries a fitted filter through time, behind one contract: NumPy on the host, or a compiled loop on JAX arrays.

A filter delegates everything after ``fit`` to its backend. The compiled one lives in another room, which builds on this
one: it is imported by name only when a filter is fitted on JAX arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from kmcf.filter.results.belief import Belief
from kmcf.filter.results.run import FilterRun
from kmcf.numerics.objects import Objects
from kmcf.trust.alarm import Watch

COMPILED = "kmcf.compiled"
"""The room whose ``compiled_backend`` and ``precision_of`` serve filters fitted on JAX arrays."""

DISTRIBUTED = "kmcf.distributed"
"""The room whose ``learn_chunks`` serves filters fitted on Dask collections."""


class Reader(Protocol):
    """Reads observations of the form that the examples had."""

    def one(self, observation: Any) -> Objects | None:
        """Read one observation; None if it is missing."""
        ...

    def is_batch(self, observations: Any) -> bool:
        """Say whether an array holds several sequences."""
        ...

    def sequence(self, observations: Any) -> Any:
        """Read one sequence of observations."""
        ...


class Backend(Protocol):
    """Carries a fitted filter through time."""

    @property
    def made_for(self) -> tuple[Any, Any]:
        """The user's transition and initial draw that it was made for."""

    @property
    def watch(self) -> Watch | None:
        """What raises alarms."""

    def unwatched(self) -> Backend:
        """Return the same, with the same estimates, that looks for nothing to report."""
        ...

    def start(self, stream: Any) -> Belief:
        """Return the belief before the first observation."""
        ...

    def step(self, belief: Belief, y: Any, control: Any, time: Any = None) -> Belief:
        """Return the belief after one more observation."""
        ...

    def filter(
        self, observations: Any, controls: Any, *, times: Any, progress: bool, keep_beliefs: bool | None
    ) -> FilterRun:
        """Filter one sequence, or a batch."""
        ...

    def filter_many(
        self, sequences: Sequence[Any], controls: Any, *, times: Any, progress: bool, keep_beliefs: bool | None
    ) -> list[FilterRun]:
        """Filter several sequences."""
        ...

    def forecast(self, belief: Belief, steps: int, controls: Any, times: Any = None) -> FilterRun:
        """Predict without observations."""
        ...


def compiled_room() -> Any:
    """Import the compiled backend. It needs JAX, which anyone who passes JAX arrays has."""
    return import_module(COMPILED)


def distributed_room() -> Any:
    """Import what fits filters on Dask collections. It needs Dask, which anyone who passes such a collection has."""
    return import_module(DISTRIBUTED)
