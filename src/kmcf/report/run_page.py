"""The page about runs of filters on a user's own data: scores, map, path, beliefs, worst moments, alarms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.circles import wrapped_columns
from kmcf.report.blocks import Block, Text
from kmcf.report.content import Section
from kmcf.report.page import Report
from kmcf.report.run_pictures import belief_maps, errors_over_time, path_map, states_over_time
from kmcf.report.table import Table

MOMENTS, APART = 8, 10
"""So many of the worst moments are listed, no two of them within so many steps."""
SHOWN = {
    "mean_error": "mean error",
    "median_error": "median error",
    "rmse": "root mean square",
    "inside": "inside 95 % intervals",
    "crps": "CRPS",
    "alarms": "alarms",
    "steps": "steps",
}
"""Scores in tables, with their headings."""
IN_UNITS = ("mean_error", "median_error", "rmse", "crps")


class Labels(NamedTuple):
    """What the user calls things."""

    states: tuple[str, ...]
    """Names of the coordinates of the state."""
    unit: str = ""
    """Unit of the state, if all coordinates have the same."""
    time: str = "step"
    time_unit: str = ""


@dataclass(frozen=True)
class Followed:
    """One sequence, followed by one filter or several.

    Attributes
    ----------
    name : str
        What it is called.
    runs : dict
        A run by the name of its method; the first is the one looked into.
    times : array (T,)
        When the steps were.
    truth : array (T, d) or None
        The true states, NaN where unknown; if they have fewer columns than states, only these, the first, are judged.
    examples : array (n, d) or None
        Where examples were taken.
    scores : dict
        Scores by the name of the method.
    """

    name: str
    runs: Mapping[str, Any]
    times: FloatArray
    truth: FloatArray | None = None
    examples: FloatArray | None = None
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def run(self) -> Any:
        """The run looked into."""
        return next(iter(self.runs.values()))

    def errors(self, method: str | None = None) -> FloatArray:
        """Return the distances of the mean to the truth, (T,); NaN where it is unknown."""
        run = self.run if method is None else self.runs[method]
        mean = np.asarray(run.mean).reshape(len(self.times), -1)
        if self.truth is None:
            return np.full(len(mean), np.nan)
        return self._distances(mean[:, : self.truth.shape[1]] - self.truth)

    def distances(self, states: FloatArray, step: int) -> FloatArray:
        """Return the distances of states to the true one of a step."""
        assert self.truth is not None
        return self._distances(states[:, : self.truth.shape[1]] - self.truth[step])

    def _distances(self, differences: FloatArray) -> FloatArray:
        angles = [column for column in self.run.angles if column < differences.shape[1]]
        return np.asarray(np.linalg.norm(wrapped_columns(differences, angles), axis=1))


def run_report(
    sequences: Sequence[Followed],
    labels: Labels,
    *,
    title: str,
    command: str = "",
    overall: Mapping[str, Mapping[str, float]] | None = None,
    settings: Mapping[str, str] | None = None,
) -> Report:
    """Put together the page about some runs.

    Parameters
    ----------
    sequences : sequence of Followed
        What was filtered.
    labels : Labels
        Names and units.
    title, command : str
        Heading, and what was typed.
    overall : mapping, optional
        Scores over all sequences, by method.
    settings : mapping, optional
        What else to say about the filters.
    """
    shown = typical(sequences)
    judged = any(one.truth is not None for one in sequences)
    sections = [Section("Scores", score_tables(sequences, labels, overall or {}))] if judged else []
    sections.append(Section("Path", [*path_map(shown, labels), *states_over_time(shown, labels)]))
    if judged:
        sections.append(Section("Error over time", errors_over_time(shown, labels)))
    sections.append(Section("Where the belief was", belief_maps(shown, labels)))
    sections += [Section("Worst moments", worst_moments(sequences, labels))] if judged else []
    sections.append(Section("Alarms", alarm_table(sequences)))
    if settings:
        sections.append(Section("Settings", [Table(["what", "value"], [list(row) for row in settings.items()])]))
    return Report(title, command, sections, summary=_summary(sequences, labels, overall or {}))


def typical(sequences: Sequence[Followed]) -> Followed:
    """Return the sequence of median error, not the best; the longest where nothing is known of errors."""
    means = [float(np.nanmean(e)) if np.isfinite(e := one.errors()).any() else np.nan for one in sequences]
    if not np.isfinite(means).any():
        return max(sequences, key=lambda one: len(one.times))
    order = [k for k in np.argsort(means) if np.isfinite(means[k])]
    return sequences[order[len(order) // 2]]


def score_tables(
    sequences: Sequence[Followed], labels: Labels, overall: Mapping[str, Mapping[str, float]]
) -> list[Block]:
    """Compare the methods over all sequences, and list the errors of every sequence."""
    unit = f" ({labels.unit})" if labels.unit else ""
    heads = [f"{words}{unit if name in IN_UNITS else ''}" for name, words in SHOWN.items()]
    rows = [[method, *(score.get(name) for name in SHOWN)] for method, score in overall.items()]
    words = "Over all sequences. Errors are distances of the posterior mean to the true state."
    blocks: list[Block] = [Table(["method", *heads], rows, words)]
    methods = list(overall)
    if len(sequences) > 1:
        own = [[one.name, *(one.scores.get(m, {}).get("mean_error") for m in methods)] for one in sequences]
        blocks.append(Table(["sequence", *methods], own, f"Mean error{unit} by sequence.", best="lowest", within="row"))
    return blocks


def worst_moments(sequences: Sequence[Followed], labels: Labels) -> list[Block]:
    """List the largest errors, with what the filter knew about them."""
    found = sorted(((error, one, step) for one in sequences for error, step in _peaks(one)), key=lambda item: -item[0])
    rows: list[list[Any]] = []
    for error, one, step in found[:MOMENTS]:
        assert one.truth is not None
        place, truth = np.asarray(one.run.mean).reshape(len(one.times), -1)[step], one.truth[step]
        rows.append([one.name, float(one.times[step]), error, _place(truth), _place(place), _why(one, step)])
    unit = f" ({labels.unit})" if labels.unit else ""
    heads = ["sequence", _with_unit(labels.time, labels.time_unit), f"error{unit}", "true state", "estimate", "why"]
    words = f"The largest errors, at least {APART} steps apart; states are {', '.join(labels.states)}."
    return [Table(heads, rows, words)] if rows else [Text("No true state is known.")]


def _peaks(one: Followed) -> list[tuple[float, int]]:
    errors = one.errors()
    peaks: list[tuple[float, int]] = []
    while len(peaks) < MOMENTS and np.isfinite(errors).any():
        step = int(np.nanargmax(errors))
        peaks.append((float(errors[step]), step))
        errors[max(0, step - APART + 1) : step + APART] = np.nan
    return peaks


def _why(one: Followed, step: int) -> str:
    """Say what explains an error: nothing observed, an alarm, no example near, an interval that was wide enough."""
    run = one.run
    if run.missing[step]:
        return "nothing was observed"
    if run.rejected[step]:
        return "the observation was not used: no example resembles it"
    reasons = [f"alarm: {run.alarm_reason[step]}"] if run.alarm[step] else []
    assert one.truth is not None
    if one.examples is not None and len(one.examples):
        gaps = one.distances(one.examples, step)
        if gaps.min() > float(one.errors()[step]) / 2:
            reasons.append(f"the nearest example is {gaps.min():.3g} away")
    lower, upper = run.interval[step, :, : one.truth.shape[1]]
    inside = bool(np.all((one.truth[step] >= lower) & (one.truth[step] <= upper)))
    reasons += ["the 95 % interval held the truth"] if inside else []
    return "; ".join(reasons) or "the filter was sure of the wrong place"


def alarm_table(sequences: Sequence[Followed]) -> list[Block]:
    """Count the alarms by reason, with the errors that they announced."""
    reasons, errors = (
        np.concatenate([np.asarray(one.run.alarm_reason, dtype=str) for one in sequences]),
        np.concatenate([one.errors() for one in sequences]),
    )
    counts = Counter(reasons.tolist())
    rows: list[list[Any]] = []
    for reason, count in sorted(counts.items(), key=lambda item: -item[1]):
        own = errors[(reasons == reason) & np.isfinite(errors)]
        rows.append([reason or "no alarm", count, float(own.mean()) if len(own) else None])
    words = "Steps that raised an alarm should not be believed; the mean error shows whether they deserved it."
    return [Table(["alarm", "steps", "mean error"], rows, words)]


def _summary(sequences: Sequence[Followed], labels: Labels, overall: Mapping[str, Mapping[str, float]]) -> str:
    steps = sum(len(one.times) for one in sequences)
    words = f"{steps} steps of {len(sequences)} sequence{'s' * (len(sequences) != 1)}."
    parts = [
        f"{method}: mean error {score['mean_error']:.3g}, median {score['median_error']:.3g}"
        for method, score in overall.items()
        if np.isfinite(score.get("mean_error", np.nan))
    ]
    unit = f" (in {labels.unit})" if labels.unit and parts else ""
    return f"{words} {'; '.join(parts)}{unit}." if parts else words


def _place(state: FloatArray) -> str:
    return ", ".join(f"{value:.4g}" for value in np.ravel(state))


def _with_unit(words: str, unit: str) -> str:
    return f"{words} ({unit})" if unit else words
