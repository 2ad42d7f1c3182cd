"""What a fitted filter chose, why, what a step costs and what it does when lost, in four lines."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from kmcf.bayes_rule.accuracy import CHEAP_NANOSECONDS
from kmcf.bayes_rule.fitted import Decision, FittedRule
from kmcf.filter.fitting.learnt import Learnt
from kmcf.filter.host import HostBackend
from kmcf.filter.relocation import in_words

REPEATED = 7


class ExplainedFilter:
    """What filters with a Bayes' rule can say about it."""

    sensors_: Any
    learnt_: Learnt

    @property
    def fit_times_(self) -> dict[str, float]:
        """How many seconds each part of the last fit took; nothing for a filter from a file."""
        parts = [self] if self.sensors_ is None else list(self.sensors_.values())
        names = dict.fromkeys(name for part in parts for name in part.learnt_.seconds)
        return {name: sum(part.learnt_.seconds.get(name, 0.0) for part in parts) for name in names}

    def explain(self, measure: bool = True) -> str:
        """Say in four lines which engine, ranks and tolerance were chosen, why, what a step costs, and what if lost.

        Parameters
        ----------
        measure : bool
            Whether to time a few steps; not with JAX arrays, which would be compiled for it.
        """
        backend = self._fitted_backend()
        if self.sensors_ is not None:
            lines = [
                f"sensor {name!r}: {line}"
                for name, part in self.sensors_.items()
                for line in explain_learnt(part.learnt_)
            ]
            return "\n".join([*lines, explain_time(None, self.fit_times_), in_words(self)])
        seconds = None
        if measure and isinstance(backend, HostBackend):
            start, seen = backend.start(0), _some_observation(self.learnt_)
            seconds = measured(lambda: backend.step(start, seen, None))
        lines = explain_learnt(self.learnt_)
        return "\n".join([*lines, explain_time(seconds, self.fit_times_), in_words(self)])

    def _fitted_backend(self) -> Any:
        raise NotImplementedError


def _some_observation(learnt: Learnt) -> Any:
    """Return an example observation as users give it, with the columns that the filter's own rule leaves out."""
    if learnt.incomplete is None:
        return learnt.all_observations.objects[0]
    return learnt.incomplete.observations.objects[int(learnt.incomplete.served.rows[0])]


def explain_learnt(learnt: Learnt) -> list[str]:
    """Say which engine with how many features, for what, and why."""
    return explain_rule(learnt.fitted, len(learnt.example_states), learnt.made_up)


def explain_rule(fitted: FittedRule, n: int, made_up: int = 0) -> list[str]:
    """Say which engine with how many features, and why.

    Parameters
    ----------
    fitted : FittedRule
        The rule.
    n : int
        Number of examples that it knows.
    made_up : int
        Number of pairs that were made up from them.

    Examples
    --------
    >>> why = Decision({"exact": 2e6, "compressed": 1e5}, (1e-8, 1e-8), by_cost=True)
    >>> for line in explain_rule(FittedRule(None, "compressed", (30, 20), (0.0, 0.0), why), 900):
    ...     print(line)
    engine compressed, 30 features of the states and 20 of the observations, for 900 examples
    why: cheapest by the cost model (compressed 0.1 ms, exact 2 ms); tolerance 1e-08, because a step is cheap with it
    """
    p, q = fitted.ranks
    features = "no features: kernel matrices as they are"
    if fitted.engine in ("lowrank", "compressed"):
        features = f"{p} features of the states and {q} of the observations"
    return [
        f"engine {fitted.engine}, {features}, for {n} examples{beside_examples(made_up)}",
        f"why: {_reason(fitted.why, fitted.engine)}",
    ]


def beside_examples(made_up: int) -> str:
    """Say how many pairs were made up, after the number of examples; nothing where there are none."""
    return f" and {made_up} pairs made up from them" if made_up else ""


def explain_time(seconds: float | None, fit_seconds: Mapping[str, float]) -> str:
    """Say what a step costs, and what fitting took.

    Examples
    --------
    >>> explain_time(4.2e-4, {"rule": 1.5, "observation kernel": 0.5})
    'a step takes 0.42 ms without the transition (measured); fit took 2.0 s (rule 1.5, observation kernel 0.5)'
    """
    step = "the time of a step was not measured"
    if seconds is not None:
        step = f"a step takes {1e3 * seconds:.2f} ms without the transition (measured)"
    if not fit_seconds:
        return step
    parts = ", ".join(f"{name} {value:.1f}" for name, value in fit_seconds.items())
    return f"{step}; fit took {sum(fit_seconds.values()):.1f} s ({parts})"


def measured(step: Callable[[], object]) -> float:
    """Return how many seconds a function takes: the least of several calls, after a first one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        step()
        return min(_timed(step) for _ in range(REPEATED))


def _timed(step: Callable[[], object]) -> float:
    start = perf_counter()
    step()
    return perf_counter() - start


def _reason(why: Decision | None, engine: str) -> str:
    if why is None:
        return "it was asked for, it is the only one for this posterior, or an earlier version chose it"
    costs = sorted(why.nanoseconds.items(), key=lambda pair: pair[1])
    cheapest = engine == costs[0][0]
    listed = ", ".join(f"{name} {value / 1e6:.2g} ms" for name, value in costs)
    first = f"{'cheapest by the cost model' if cheapest else 'asked for, or the cheapest allowed'} ({listed})"
    return f"{first}; {_accuracy(why)}"


def _accuracy(why: Decision) -> str:
    if why.tolerance is not None:
        given = " and ".join(f"{value:g}" for value in dict.fromkeys(why.tolerance))
        return f"tolerance {given}" + (", because a step is cheap with it" if why.by_cost else ", as set")
    asked = "" if not why.by_cost else f" (1e-08 would take more than {CHEAP_NANOSECONDS / 1e6:g} ms)"
    found = ""
    if why.change is not None and why.error is not None:
        found = f": left-out means move by {why.change:.1%} of their sd, their error by {why.error:+.1%}"
    return f"the tolerance follows the regularisers{asked}{found}"
