"""Numbers about the service, as Prometheus reads them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from kmcf.live.objects import Answered, Request
from kmcf.live.requests import Refusal

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
SHARES = (0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)


class Histogram:
    """How many values lie below some bounds.

    Examples
    --------
    >>> seconds = Histogram((0.1, 1.0))
    >>> for value in (0.05, 0.5, 2.0):
    ...     seconds.add(value)
    >>> print(seconds.text("wait"))
    wait_bucket{le="0.1"} 1
    wait_bucket{le="1"} 2
    wait_bucket{le="+Inf"} 3
    wait_sum 2.55
    wait_count 3
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def text(self, name: str) -> str:
        """Return the lines that describe it."""
        lines, below = [], 0
        for bound, count in zip((*(f"{b:g}" for b in self.bounds), "+Inf"), self.counts, strict=True):
            below += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {below}')
        return "\n".join([*lines, f"{name}_sum {self.total:g}", f"{name}_count {below}"])


class Metrics:
    """Counts what a server does; a desk's watcher."""

    def __init__(self, gauges: dict[str, tuple[str, Callable[[], float]]] | None = None) -> None:
        self.steps = self.rejected = self.missing = 0
        self.alarms: Counter[str] = Counter()
        self.refused: Counter[int] = Counter()
        self.seconds, self.coverage = Histogram(SECONDS), Histogram(SHARES)
        self.gauges = gauges or {}

    def __call__(self, requests: list[Request], outcomes: list[Any], seconds: list[float]) -> None:
        """Count a group of requests."""
        for request, outcome, took in zip(requests, outcomes, seconds, strict=True):
            if isinstance(outcome, Refusal):
                self.refused[outcome.status] += 1
            elif request.kind in ("observe", "observe_all"):
                for one in outcome if isinstance(outcome, list) else [outcome]:
                    self._step(one, took)

    def _step(self, answered: Answered, took: float) -> None:
        if not answered.new:
            return
        told = answered.told
        self.steps += 1
        self.rejected += told["rejected"]
        self.missing += told["missing"]
        self.seconds.add(took)
        if told["coverage"] is not None:
            self.coverage.add(told["coverage"])
        if told["alarm"]:
            self.alarms[told["reason"]] += 1

    def text(self) -> str:
        """Return everything in Prometheus' text format."""
        parts = [
            *_named("kmcf_steps_total", "counter", "Observations used or predicted through.", [("", self.steps)]),
            *_named("kmcf_rejected_total", "counter", "Observations that no example resembles.", [("", self.rejected)]),
            *_named("kmcf_missing_total", "counter", "Steps without an observation.", [("", self.missing)]),
            *_named("kmcf_alarms_total", "counter", "Estimates not to be believed.", _labelled("reason", self.alarms)),
            *_named("kmcf_refused_total", "counter", "Requests refused.", _labelled("status", self.refused)),
        ]
        for name, (help_text, value) in self.gauges.items():
            parts += _named(name, "gauge", help_text, [("", value())])
        for name, help_text, histogram in (
            ("kmcf_step_seconds", "From the arrival of an observation to its answer.", self.seconds),
            ("kmcf_coverage", "Similarity of steps to the closest examples.", self.coverage),
        ):
            parts += [f"# HELP {name} {help_text}", f"# TYPE {name} histogram", histogram.text(name)]
        return "\n".join(parts) + "\n"


def _labelled(label: str, counts: Counter[Any]) -> list[tuple[str, float]]:
    return [(f'{{{label}="{value}"}}', count) for value, count in sorted(counts.items())]


def _named(name: str, kind: str, help_text: str, values: list[tuple[str, float]]) -> list[str]:
    lines = [f"{name}{labels} {value:g}" for labels, value in values]
    return [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}", *lines]
