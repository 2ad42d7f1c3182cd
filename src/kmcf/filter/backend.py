"""What carries a fitted filter through time, behind one contract: NumPy on the host, or a compiled loop on JAX arrays.

The filter that owns a backend hands everything on to it. The compiled one lives in a room below this, and is looked
up by name where a filter was fitted on JAX arrays; nothing here imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from kmcf.filter.belief import Belief
from kmcf.filter.run import FilterRun

COMPILED = "kmcf.compiled"
"""The room whose ``compiled_backend`` and ``precision_of`` serve filters fitted on JAX arrays."""


class Backend(Protocol):
    """Carries a fitted filter through time."""

    @property
    def motion(self) -> tuple[Any, Any]:
        """The user's functions that it was made for: how states move, and how they start."""

    def start(self, stream: Any) -> Belief:
        """Return the belief before the first observation."""
        ...

    def step(self, belief: Belief, y: Any, control: Any) -> Belief:
        """Return the belief after one more observation."""
        ...

    def filter(self, observations: Any, controls: Any, *, progress: bool, keep_beliefs: bool | None) -> FilterRun:
        """Filter one sequence, or a batch."""
        ...

    def filter_many(
        self, sequences: Sequence[Any], controls: Any, *, progress: bool, keep_beliefs: bool | None
    ) -> list[FilterRun]:
        """Filter several sequences."""
        ...

    def forecast(self, belief: Belief, steps: int, controls: Any) -> FilterRun:
        """Predict without observations."""
        ...


def compiled_room() -> Any:
    """Import the compiled backend; it needs JAX, which whoever passes JAX arrays has."""
    return import_module(COMPILED)
