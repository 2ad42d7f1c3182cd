"""What beliefs and results need from the compiled filter that made them."""

from __future__ import annotations

from typing import Any, Protocol

from kmcf.compiled.preparing import CompiledRule
from kmcf.compiled.records import FilterState, StepResult, StepSettings
from kmcf.compiled.seen import Seen
from kmcf.filter.clock import Drive
from kmcf.filter.results.belief import Belief
from kmcf.kernels import Kernel
from kmcf.numerics.objects import Objects
from kmcf.trust.alarm import Watch
from kmcf.trust.calibration import Calibration


class Engine(Protocol):
    """A filter whose steps are compiled (:class:`kmcf.compiled.engine.CompiledFilter`)."""

    @property
    def rule(self) -> CompiledRule:
        """The rule as fitted by NumPy."""

    @property
    def states(self) -> Objects:
        """The example states."""

    @property
    def kernel(self) -> Kernel:
        """The state kernel."""

    @property
    def settings(self) -> StepSettings:
        """What a step needs to know besides the fitted numbers."""

    @property
    def calibration(self) -> Calibration | None:
        """What the intervals of its beliefs are corrected by."""

    @property
    def state_shape(self) -> tuple[int, ...]:
        """Shape of one state."""

    def initial_of(self, stream: int) -> FilterState:
        """Return the initial state of a stream."""

    def replay_steps(self, state: FilterState, corrected: Any, picks: Any, drives: Drive) -> tuple[FilterState, Any]:
        """Repeat the predictions of known steps."""

    @property
    def watch(self) -> Watch | None:
        """What raises alarms."""

    def host_belief(self, state: FilterState, result: StepResult, seen: Seen) -> Belief:
        """Turn one step's arrays into an ordinary belief."""
