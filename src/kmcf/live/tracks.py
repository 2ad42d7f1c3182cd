"""One tracked object: its belief, its window, and what its client was last told."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

from kmcf.datasets.windowing import Window
from kmcf.filter import Belief
from kmcf.live.model import LiveModel
from kmcf.live.requests import Observed, Refusal, numbers

EXPECTED = (ValueError, TypeError, ArithmeticError, LookupError)
"""What a filter raises about an observation that it cannot use."""


@dataclass(frozen=True, eq=False)
class Track:
    """What is known about one object; a step returns a new one."""

    belief: Belief
    window: Window | None
    clock: float | None = None
    """Time of the last observation, also where the filter is not told times."""
    answer: dict[str, Any] | None = None
    """What its client was last told."""
    touched: float = 0.0
    """When that was."""

    @classmethod
    def begin(cls, model: LiveModel, stream: int) -> Track:
        """Return an object of which nothing has been observed."""
        return cls(model.filter.start(stream=stream), model.window)

    def after(self, model: LiveModel, observed: Observed) -> Track:
        """Return the object after one more observation, without an answer yet.

        Raises
        ------
        Refusal
            The observation cannot be used; nothing has changed.
        """
        seen, control = numbers(observed.observation, "observation"), numbers(observed.control, "control")
        clock, time = self.clock, observed.time
        if clock is not None and (time is None or not time > clock):
            told = "no time" if time is None else f"the time {time:g}"
            raise Refusal(
                409, f"{observed.object} was last observed at {clock:g}, and {told} does not come after that."
            )
        if clock is None and time is not None and self.belief.time > 0:
            raise Refusal(
                409, f"{observed.object} was observed without times before; give times from the first step on."
            )
        if model.controls and control is None and self.belief.time > 0:
            raise Refusal(422, f"the control is missing: {', '.join(model.controls)}.")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # clients read of rejected observations in their answers
                window = None if self.window is None else self.window.after(seen, time)
                shown = seen if window is None else window.stacked
                belief = model.filter.step(self.belief, shown, control, time if model.timed else None)
        except EXPECTED as error:
            raise Refusal(422, f"{' '.join(str(error).split())[:400]}") from error
        except Exception as error:  # a user's transition or kernel may fail in any way
            raise Refusal(500, f"the filter failed with {type(error).__name__}: {str(error)[:200]}") from error
        return replace(self, belief=belief, window=window, clock=time, answer=None)
