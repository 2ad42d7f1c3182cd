"""What :func:`kmcf.learn_transition` returns: estimates with intervals, a filter that uses them, a table, a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from kmcf.adaptation.parameters import Parameters
from kmcf.adaptation.search import Evaluation
from kmcf.adaptation.surface import Peak
from kmcf.numerics.arrays import FloatArray
from kmcf.support.extras import require
from kmcf.support.notebooks import html_table

EDGE = 0.01
"""An estimate this close to a bound, as a part of their distance, was stopped by it."""
DOT, LINE = "#1f5fa8", "#2f8f5b"


@dataclass(frozen=True, eq=False)
class TransitionFit:
    """The parameters of a transition, learnt from observations alone.

    Attributes
    ----------
    best_filter : filter
        The filter with the transition learnt; its examples, kernels and rule are those of the filter given. It is not
        calibrated: intervals that were calibrated with another transition are no longer right.
    transition : callable
        The transition learnt.
    estimates : dict
        The parameters by name.
    method : {"evidence", "em"}
        How they were learnt.
    objective : {"score", "evidence"}
        What was maximised, or with EM what transitions are compared by.
    level : float
        Of the intervals.
    gain : float
        By how much the objective is better than at the start, in all.
    gain_error : float
        Its standard error.
    steps : int
        How many steps it was summed over.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(100, random_state=0), model.simulate(100, random_state=2)
    >>> walk = kmcf.transitions.LinearGaussian(matrix=[[0.9]], covariance=[[9.0]])
    >>> flt = kmcf.KernelMonteCarloFilter(walk, n_particles=30, random_state=0).fit(train.states, train.observations)
    >>> found = kmcf.learn_transition(flt, test.observations, {"covariance": (0.1, 10.0)})
    >>> list(found.estimates), found.steps
    (['covariance[0,0]'], 99)
    """

    best_filter: Any
    transition: Any
    estimates: dict[str, float]
    method: str
    objective: str
    level: float
    gain: float
    gain_error: float
    steps: int
    _parameters: Parameters
    _peak: Peak
    _evaluations: tuple[Evaluation, ...]

    @property
    def improved(self) -> bool:
        """Whether the transition learnt predicts clearly better than that given: by more than two standard errors."""
        return self.gain > 2.0 * self.gain_error

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Confidence intervals by name, from the objective's curvature; NaN where it has no maximum.

        With EM the curvature is that of the likelihood, by Louis's formula.

        They say what these observations tell, given that the filter's observation model is right: its own error (few
        examples, smoothing by kernels) is not in them.
        """
        found = {}
        factor = float(norm.ppf(0.5 + 0.5 * self.level))
        for k, (one, error) in enumerate(zip(self._parameters.ranges, self._errors(), strict=True)):
            ends = (self._peak.place[k] - factor * error, self._peak.place[k] + factor * error)
            known = np.isfinite(error)
            low, high = (float(one.value(float(np.clip(end, 0.0, 1.0)))) if known else np.nan for end in ends)
            found[one.name] = (low, high)
        return found

    @property
    def at_bound(self) -> tuple[str, ...]:
        """Names of parameters whose estimate is at a bound: the best value may lie beyond it."""
        close = np.minimum(self._peak.place, 1.0 - self._peak.place) <= EDGE
        return tuple(one.name for one, edge in zip(self._parameters.ranges, close, strict=True) if edge)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per transition tried: parameters, the objective in all, what went wrong."""
        return [
            {"trial": k, **self._parameters.values(one.place), "value": one.total, "error": one.error}
            for k, one in enumerate(self._evaluations)
        ]

    @property
    def table(self) -> Any:
        """The transitions tried as a pandas DataFrame (needs the extra ``kmcf[tables]``)."""
        return require("pandas", "tables").DataFrame(self.rows).set_index("trial")

    def plot(self, axes: Any = None) -> Any:
        """Draw the objective against each parameter (needs matplotlib).

        Parameters
        ----------
        axes : sequence of axes, optional
            Where to draw, one per parameter.
        """
        pyplot = require("matplotlib.pyplot", "plot")
        ranges = self._parameters.ranges
        if axes is None:
            _, grid = pyplot.subplots(1, len(ranges), sharey=True, squeeze=False, figsize=(3.4 * len(ranges), 3.2))
            axes = grid[0]
        axes = np.atleast_1d(np.asarray(axes, dtype=object))
        shown = [row for row in self.rows if np.isfinite(row["value"])]
        for ax, one in zip(axes, ranges, strict=True):
            ax.plot([row[one.name] for row in shown], [row["value"] for row in shown], ".", color=DOT)
            ax.axvline(self.estimates[one.name], color=LINE, linewidth=1.2)
            low, high = self.intervals[one.name]
            if np.isfinite(low):
                ax.axvspan(low, high, color=LINE, alpha=0.15)
            if one.logarithmic:
                ax.set_xscale("log")
            ax.set_xlabel(one.name)
        axes[0].set_ylabel({"score": "kernel score", "evidence": "log evidence"}[self.objective])
        return axes

    def _errors(self) -> FloatArray:
        if self._peak.covariance is None:
            return np.full(len(self._parameters.ranges), np.nan)
        return np.sqrt(np.diagonal(self._peak.covariance))

    def summary(self) -> dict[str, Any]:
        """Return the estimates and intervals as plain numbers, for JSON."""
        intervals = self.intervals
        return {
            "parameters": {
                name: {"estimate": value, "lower": intervals[name][0], "upper": intervals[name][1]}
                for name, value in self.estimates.items()
            },
            "level": self.level,
            "method": self.method,
            "objective": self.objective,
            "gain": self.gain,
            "gain_error": self.gain_error,
            "improved": self.improved,
            "at_bound": list(self.at_bound),
            "steps": self.steps,
            "trials": len(self._evaluations),
        }

    def __repr__(self) -> str:
        found = ", ".join(f"{name}={value:.4g}" for name, value in self.estimates.items())
        return f"TransitionFit({found}, {self.steps} steps, {len(self._evaluations)} transitions tried)"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows: dict[str, Any] = {}
        for name, value in self.estimates.items():
            low, high = self.intervals[name]
            rows[name] = f"{value:.4g} ({self.level:.0%}: {low:.4g} to {high:.4g})"
        rows["gain"] = f"{self.gain:.4g} ± {self.gain_error:.2g}"
        return html_table("TransitionFit", rows)
