"""Ratios of errors on the same data sets, and verdicts that say what size of effect they can see.

A claim holds if the 95 % interval of the ratio lies beyond a bound that is clearly different from 1, and does not hold
if the interval lies on the other side of that bound; otherwise the data cannot tell. Every verdict comes with the
smallest ratio that these data, with their number of repetitions and their spread, could have shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kmcf.report import Verdict
from kmcf_lab.ratios import Side, as_ratio, written
from kmcf_lab.statistics import Interval
from kmcf_lab.synthetic.measured import Measured, pool, values_of


@dataclass(frozen=True)
class Comparison:
    """Ratios of errors on some models: for each model, and their geometric mean."""

    each: Mapping[str, Interval]
    pooled: Interval
    strict: Mapping[str, Interval]
    """The intervals whose error probability is 5 % for all models together."""

    def verdict(self, side: Side, bound: float) -> Verdict:
        """Judge the claim that all ratios are on one side of a bound; one clear exception refutes it."""
        every = [self.pooled, *self.strict.values()]
        if any(one.low > bound if side == "below" else one.high < bound for one in every):
            return Verdict.FAILS
        inside = self.pooled.high < bound if side == "below" else self.pooled.low > bound
        return Verdict.HOLDS if inside else Verdict.UNCLEAR

    def __str__(self) -> str:
        parts = [f"{model} {written(one)}" for model, one in self.each.items()]
        return "; ".join(parts if len(parts) == 1 else [*parts, f"geometric mean {written(self.pooled)}"])


def compare(
    errors: Measured, first: str, second: str, models: Sequence[str], sizes: Sequence[int] | None = None
) -> Comparison | None:
    """Compare two methods on the same data sets; None if nothing was computed."""
    logs = {
        model: ratios
        for model in models
        if (ratios := errors.log_ratios(model, first, second, errors.sizes if sizes is None else sizes))
    }
    return _comparison(logs)


def compare_models(errors: Measured, method: str, pairs: Sequence[tuple[str, str]]) -> Comparison | None:
    """Compare a method's errors on models with controls and without, at equal numbers of examples."""
    logs = {f"{after} ÷ {before}": across(errors, method, before, after) for before, after in pairs}
    return _comparison({name: ratios for name, ratios in logs.items() if ratios})


def across(errors: Measured, method: str, before: str, after: str) -> dict[int, float]:
    """Return log(error on one model ÷ error on another) by repetition, averaged over numbers of examples."""
    collected: dict[int, list[float]] = {}
    for n in errors.sizes:
        one, other = errors.values.get((after, n, method), {}), errors.values.get((before, n, method), {})
        for repetition in one.keys() & other.keys():  # the data are independent: any pairing will do
            collected.setdefault(repetition, []).append(float(np.log(one[repetition] / other[repetition])))
    return {repetition: float(np.mean(values)) for repetition, values in sorted(collected.items())}


def _comparison(logs: Mapping[str, Mapping[int, float]]) -> Comparison | None:
    pooled = values_of(pool(list(logs.values())))
    if not len(pooled):
        return None
    values = {name: values_of(ratios) for name, ratios in logs.items()}
    level = 1.0 - 0.05 / len(values)
    return Comparison(
        {name: as_ratio(ratios) for name, ratios in values.items()},
        as_ratio(pooled),
        {name: as_ratio(ratios, level) for name, ratios in values.items()},
    )
