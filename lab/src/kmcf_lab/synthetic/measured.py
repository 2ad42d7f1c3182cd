"""The errors and times of Section 6.2, arranged for comparisons of methods on the same data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kmcf.datasets import PAPER_MODELS
from kmcf.numerics.arrays import FloatArray
from kmcf.report import Estimate
from kmcf_lab.cells import Result
from kmcf_lab.statistics import estimate
from kmcf_lab.synthetic.methods import METHODS
from kmcf_lab.synthetic.times import timed_names
from kmcf_lab.tables import rows_of

ORACLE = "oracle"
WITH_MORE = ", given more"
Key = tuple[str, int, str]
"""Model, number of examples, method."""


@dataclass(frozen=True)
class Measured:
    """One quantity by model, number of examples, method and repetition.

    Attributes
    ----------
    values : mapping
        By key, then by repetition.
    """

    values: Mapping[Key, Mapping[int, float]]

    @property
    def models(self) -> list[str]:
        """The models that were computed, in the paper's order."""
        return [name for name in PAPER_MODELS if any(key[0] == name for key in self.values)]

    @property
    def sizes(self) -> list[int]:
        """The numbers of examples that were computed."""
        return sorted({key[1] for key in self.values})

    @property
    def methods(self) -> list[str]:
        """The methods that were computed, in the order of the table of methods."""
        return [name for name in timed_names(list(METHODS)) if any(key[2] == name for key in self.values)]

    @property
    def counts(self) -> dict[int, int]:
        """The data sets that every model and method has, by number of examples."""
        return {n: min(len(values) for key, values in self.values.items() if key[1] == n) for n in self.sizes}

    @property
    def few(self) -> dict[int, int]:
        """Those that are fewer than with another number of examples."""
        most = max(self.counts.values(), default=0)
        return {n: count for n, count in self.counts.items() if count < most}

    def at(self, n: int) -> Measured:
        """Return what was measured with one number of examples."""
        return Measured({key: values for key, values in self.values.items() if key[1] == n})

    def mean(self, model: str, n: int, method: str) -> Estimate | None:
        """Return the mean over repetitions with its standard error, None where nothing was computed."""
        values = self.values.get((model, n, method), {})
        return estimate(values_of(values)) if values else None

    def curve(self, model: str, method: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the numbers of examples, the means and their standard errors."""
        points = [(n, self.mean(model, n, method)) for n in self.sizes]
        known = [(n, one.value, one.error) for n, one in points if one is not None]
        sizes, means, errors = np.array(known, dtype=np.float64).reshape(-1, 3).T
        return sizes, means, np.nan_to_num(errors)

    def log_ratios(self, model: str, first: str, second: str, sizes: Sequence[int]) -> dict[int, float]:
        """Return log(first ÷ second) for every repetition, on the same data, averaged over numbers of examples.

        Test sequences are the same for all numbers of examples, so repetitions and not sizes are independent.
        """
        collected: dict[int, list[float]] = {}
        for n in sizes:
            ours, theirs = self.values.get((model, n, first), {}), self.values.get((model, n, second), {})
            for repetition in ours.keys() & theirs.keys():
                collected.setdefault(repetition, []).append(float(np.log(ours[repetition] / theirs[repetition])))
        return {repetition: float(np.mean(values)) for repetition, values in sorted(collected.items())}

    def ratio(self, model: str, n: int, method: str, reference: str = ORACLE) -> Estimate | None:
        """Return the mean ratio to another method on the same data, with its standard error."""
        logs = self.log_ratios(model, method, reference, [n])
        return estimate(np.exp(values_of(logs))) if logs else None

    def overall_ratio(self, n: int, method: str, reference: str = ORACLE) -> Estimate | None:
        """Return the geometric mean of the ratios over models, using only the repetitions that all models have."""
        pooled = pool([self.log_ratios(model, method, reference, [n]) for model in self.models])
        if not pooled:
            return None
        logs = estimate(values_of(pooled))
        return Estimate(float(np.exp(logs.value)), float(np.exp(logs.value)) * logs.error)


def pool(logs: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Average over models, using only the repetitions that all of them have.

    Examples
    --------
    >>> pool([{0: 1.0, 1: 2.0}, {1: 4.0, 2: 5.0}])
    {1: 3.0}
    """
    common = sorted(set.intersection(*(set(one) for one in logs))) if logs else []
    return {repetition: float(np.mean([one[repetition] for one in logs])) for repetition in common}


def values_of(by_repetition: Mapping[int, float]) -> FloatArray:
    """Return the values of all repetitions."""
    return np.array(list(by_repetition.values()), dtype=np.float64)


def errors_of(results: Sequence[Result]) -> Measured:
    """Collect the root mean squared errors."""
    return _collected(results, "accuracy", "rmse")


def times_of(results: Sequence[Result]) -> Measured:
    """Collect the milliseconds per step."""
    return _collected(results, "times", "milliseconds")


def scaling_of(results: Sequence[Result]) -> Measured:
    """Collect the milliseconds of low-rank methods at large numbers of examples."""
    return _collected(results, "scaling", "milliseconds")


def more_of(results: Sequence[Result]) -> Measured:
    """Collect the errors of methods as in the paper, and of the same given more than there."""
    usual, more = (_collected(results, "more", quantity).values for quantity in ("rmse", "rmse_with_more"))
    return Measured({**usual, **{(model, n, method + WITH_MORE): one for (model, n, method), one in more.items()}})


def _collected(results: Sequence[Result], study: str, quantity: str) -> Measured:
    values: dict[Key, dict[int, float]] = {}
    for row in rows_of(results, study):
        key = (str(row["model"]), int(row["n"]), str(row["method"]))
        values.setdefault(key, {})[int(row["repetition"])] = float(row[quantity])
    return Measured(values)
