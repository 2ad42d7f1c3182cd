"""The result of a study: settings made of its best trials, the filter fitted with them, a table, a picture."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.filter.sequential import SequentialFilter
from kmcf.support.notebooks import html_table
from kmcf.support.search_space import Integer, LogNormal, Parameter
from kmcf.tuning.figure import plot_trials
from kmcf.tuning.space import Space, position
from kmcf.tuning.trials import Proposal, Trial, ranked


def combined(trials: Sequence[Trial], space: Space, n_best: int) -> Proposal:
    """Combine the best trials: the single best one is often just the luckiest.

    Geometric mean for positive numbers, rounded median for whole numbers, majority for categories (ties: the option of
    the better trial). The variant is the majority's, and only its trials among the best are combined.

    Parameters
    ----------
    trials : sequence of Trial
        All trials.
    space : Space
        What was searched.
    n_best : int
        How many of the best to combine; of few trials only the best third, or the mean would include bad ones.
    """
    best = ranked(trials)[: max(1, min(n_best, len(trials) // 3))]
    variant = _majority([trial.proposal.variant for trial in best])
    chosen = [trial.proposal.settings for trial in best if trial.proposal.variant == variant]
    settings = {
        name: _combined(parameter, [one[name] for one in chosen])
        for name, parameter in space.parameters[variant].items()
    }
    return Proposal(variant, settings)


def _combined(parameter: Parameter, values: Sequence[Any]) -> Any:
    if len(values) == 1:
        return values[0]
    if isinstance(parameter, LogNormal):
        if min(values) <= 0:
            return float(np.median(values))
        return math.exp(float(np.mean(np.log(values))))
    if isinstance(parameter, Integer):
        return round(float(np.median(values)))
    return parameter.options[_majority([position(parameter, value) for value in values])]


def _majority(values: Sequence[Any]) -> Any:
    return Counter(values).most_common(1)[0][0]  # among equals the first seen


@dataclass(frozen=True)
class TuningResult:
    """What :func:`kmcf.tune` returns.

    Attributes
    ----------
    best_filter : filter
        Fitted on all examples with the settings found.
    best_params : dict
        These settings by name.
    best_value : float
        Validation error of the best single trial.
    untuned_value : float
        Validation error of the untuned defaults; NaN if they failed.
    metric : str
        What the values are.
    trials : tuple of Trial
        All trials, in order of their numbers.

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> recorded = model.simulate(40, random_state=0)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, n_particles=30)
    >>> result = kmcf.tune(flt, recorded.states, recorded.observations, n_trials=2, random_state=0)
    >>> len(result.trials), result.metric, result.best_value <= result.untuned_value
    (2, 'rmse', True)
    """

    best_filter: SequentialFilter
    best_params: dict[str, Any]
    best_value: float
    untuned_value: float
    metric: str
    trials: tuple[Trial, ...]
    _space: Space

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per trial: number, status, value, settings, seconds, error."""
        names = self._space.names()
        rows = []
        for trial in self.trials:
            settings = self._space.described(trial.proposal)
            row: dict[str, Any] = {"trial": trial.number, "status": trial.status, "value": trial.value}
            row |= {name: settings.get(name) for name in names}
            rows.append({**row, "seconds": trial.seconds, "error": trial.error})
        return rows

    @property
    def table(self) -> Any:
        """One row per trial: a pandas DataFrame, or without pandas a NumPy record array with the same columns."""
        rows = self.rows
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        try:
            import pandas
        except ImportError:
            arrays = {name: _column(values) for name, values in columns.items()}
            records = np.recarray(len(rows), dtype=[(name, array.dtype) for name, array in arrays.items()])
            for name, array in arrays.items():
                records[name] = array
            return records
        return pandas.DataFrame(columns)

    def plot(self, axes: Any = None) -> Any:
        """Draw the validation error of the trials against each parameter (needs the extra ``kmcf[plot]``).

        Parameters
        ----------
        axes : sequence of matplotlib axes, optional
            Where to draw, one per parameter.

        Returns
        -------
        array of axes
        """
        return plot_trials(self.trials, self._space, self.best_params, self.metric, axes)

    def _repr_html_(self) -> str:
        best = f"best of {len(self.trials)} trials"
        values = {f"{self.metric}, {best}": self.best_value, f"{self.metric}, untuned": self.untuned_value}
        return html_table("TuningResult", {**values, **self.best_params}, "settings made of the best trials")

    def __repr__(self) -> str:
        counts = Counter(trial.status for trial in self.trials)
        ends = ", ".join(f"{counts[status]} {status}" for status in ("complete", "pruned", "failed") if counts[status])
        values = f"{self.metric} {self.best_value:.4g} (untuned {self.untuned_value:.4g})"
        return f"TuningResult({len(self.trials)} trials: {ends}; best {values})"


def _column(values: list[Any]) -> Any:
    if all(isinstance(value, int | float) for value in values):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
