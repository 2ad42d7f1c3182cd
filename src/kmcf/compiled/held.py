"""What the compiled loop returned for a batch, brought to the host column by column, when it is asked for."""

from __future__ import annotations

from typing import Any

import jax

from kmcf.compiled.records import StepResult

MOST_HELD = 0.25
"""Share of a device's memory up to which results may stay there."""


class HeldResults:
    """The results of a batch, (B, T, ...), on the device or on the host; columns come to the host on first use.

    Most of a step's numbers (coefficients of the posterior, herded candidates) are needed for beliefs only, and moving
    them takes about as long as computing them.

    Parameters
    ----------
    results : StepResult
        Arrays (B, T, ...).
    """

    def __init__(self, results: StepResult) -> None:
        self._elsewhere = results._asdict()
        self._here: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or (name not in self._here and name not in self._elsewhere):
            raise AttributeError(name)
        if name not in self._here:
            self._here[name] = jax.device_get(self._elsewhere.pop(name))
        return self._here[name]

    def where_it_is(self, name: str) -> Any:
        """Return a column without moving it."""
        return self._elsewhere[name] if name in self._elsewhere else self._here[name]

    @property
    def has_covariance(self) -> bool:
        """Whether the loop computed covariances."""
        return self.where_it_is("covariance") is not None

    def whole(self) -> StepResult:
        """Return all columns, on the host."""
        return StepResult(**{name: getattr(self, name) for name in StepResult._fields})

    def at(self, b: int, t: int) -> StepResult:
        """Return one step of one sequence."""
        found: StepResult = jax.tree.map(lambda array: array[b, t], self.whole())
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Bring everything to the host."""
        return {"_elsewhere": {}, "_here": self.whole()._asdict()}


def may_stay(device: Any) -> bool:
    """Say whether the results just computed may stay on the device: not where they would crowd out the next batch."""
    statistics = device.memory_stats() or {}
    if "bytes_limit" not in statistics:  # a CPU, where they are on the host already
        return True
    return bool(statistics.get("bytes_in_use", 0) <= MOST_HELD * statistics["bytes_limit"])
