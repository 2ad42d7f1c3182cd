"""What the page shows of one step: weights, particles, herded points, estimate, region, truth, as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kmcf.filter import Belief
from kmcf.live.model import LiveModel
from kmcf.live.pictures import seen_beside_match
from kmcf.support.plain_json import without_nan

MOST_WEIGHTS, MOST_PARTICLES, MOST_EXAMPLES = 300, 250, 3000
TRAIL, PATH = 300, 60
"""Steps that the strips show, and those that the path on the map shows."""


class Moment(NamedTuple):
    """One step as it was made."""

    before: Belief
    after: Belief
    observation: Any
    """As the filter was shown it."""
    control: Any
    time: float | None
    answer: dict[str, Any]
    seconds: float
    truth: Sequence[float] | None = None


@dataclass(frozen=True)
class Axes:
    """Which coordinates of the state are drawn."""

    columns: tuple[int, ...]

    @classmethod
    def of(cls, model: LiveModel, names: Sequence[str] = ()) -> Axes:
        """Return the axes with these names; none: the first two coordinates, or the only one."""
        unknown = [name for name in names if name not in model.states]
        if unknown or len(names) > 2 or len(set(names)) != len(names):
            wanted = ", ".join(names)
            raise ValueError(f"--axes {wanted}: name one or two different states of {', '.join(model.states)}.")
        if names:
            return cls(tuple(list(model.states).index(name) for name in names))
        return cls(tuple(range(min(2, len(model.states)))))

    def points(self, states: Any, heights: Any = None) -> dict[str, list[float]]:
        """Return states as ``x`` and ``y``; on one axis ``y`` is a height."""
        if len(states) == 0:
            return {"x": [], "y": []}
        rows = np.asarray(states, dtype=np.float64).reshape(len(states), -1)[:, self.columns]
        if len(self.columns) == 2:
            return {"x": _short(rows[:, 0]), "y": _short(rows[:, 1])}
        return {"x": _short(rows[:, 0]), "y": _short(np.zeros(len(rows)) if heights is None else heights)}


def frame(model: LiveModel, axes: Axes, moment: Moment, trail: Sequence[Moment]) -> dict[str, Any]:
    """Return everything that the page shows of a step.

    Parameters
    ----------
    model : LiveModel
        The filter.
    axes : Axes
        What is drawn.
    moment : Moment
        The step.
    trail : sequence of Moment
        The steps up to it, itself included.
    """
    told: dict[str, Any] = {
        "answer": moment.answer,
        "seconds": moment.seconds,
        "layers": {
            **_weights(axes, moment.after),
            "particles": _particles(model, axes, moment),
            "herded": _herded(axes, moment.after),
            **_estimate(axes, moment),
            **_paths(axes, trail),
            **_strips(trail),
        },
        "seen": seen_beside_match(model, moment.observation),
    }
    plain: dict[str, Any] = without_nan(told)
    return plain


def examples_of(model: LiveModel, axes: Axes) -> dict[str, list[float]]:
    """Return where example states are; of very many, evenly chosen ones."""
    states = model.filter.states_
    step = max(1, -(-len(states) // MOST_EXAMPLES))
    return axes.points(states[::step])


def _weights(axes: Axes, belief: Belief) -> dict[str, Any]:
    empty: dict[str, Any] = {"x": [], "y": [], "size": []}
    signs = {"positive": empty, "negative": empty}
    if belief.corrected:
        weights = np.asarray(belief.weights)
        heaviest = np.argsort(-np.abs(weights), kind="stable")[:MOST_WEIGHTS]
        largest = max(float(np.max(np.abs(weights))), 1e-300)
        for name, some in (("positive", weights > 0), ("negative", weights < 0)):
            chosen = heaviest[some[heaviest]]
            sizes = 3.0 + 13.0 * np.sqrt(np.abs(weights[chosen]) / largest)
            signs[name] = {**axes.points(belief.states[chosen], weights[chosen]), "size": _short(sizes)}
    if len(axes.columns) == 1:
        stems = {f"{name}_stems": {"x": layer["x"], "y": layer["y"]} for name, layer in signs.items()}
        return {**signs, **stems}
    return signs


def _particles(model: LiveModel, axes: Axes, moment: Moment) -> dict[str, Any]:
    """Return the prediction that was corrected: the same random numbers give it again."""
    backend = model.filter.backend_
    if not hasattr(backend, "predicted"):
        return {"x": [], "y": []}
    time = moment.time if model.timed else None
    states = backend.predicted(moment.before, moment.control, time).states
    step = max(1, -(-len(states) // MOST_PARTICLES))
    return axes.points(states[::step])


def _herded(axes: Axes, belief: Belief) -> dict[str, Any]:
    if belief.resampled is None:
        return {"x": [], "y": []}
    return axes.points(belief.states[np.unique(belief.resampled)])


def _estimate(axes: Axes, moment: Moment) -> dict[str, Any]:
    mean, truth = np.array(moment.answer["mean"]), moment.truth
    known = truth is not None and not np.isnan(np.asarray(truth, dtype=float)[list(axes.columns)]).any()
    if len(axes.columns) == 2:
        outline = moment.after.ellipse(0.95, axes.columns).outline()
        return {
            "estimate": axes.points(mean[None]),
            "truth": axes.points(np.asarray(truth)[None]) if known else {"x": [], "y": []},
            "region": {"x": _short(outline[:, 0]), "y": _short(outline[:, 1])},
        }
    (column,) = axes.columns
    weights = np.asarray(moment.after.weights)
    low, high = float(min(weights.min(), 0.0)), float(max(weights.max(), 1e-12))
    lower, upper = (bound[column] for bound in moment.answer["interval"])

    def upright(x: Any) -> dict[str, list[float]]:
        return {"x": [float(x)], "low": [low], "high": [high]}

    return {
        "estimate": upright(mean[column]),
        "truth": upright(np.asarray(truth)[column]) if known else {"x": [], "low": [], "high": []},
        "region": {"left": [lower], "right": [upper], "low": [low], "high": [high]},
    }


def _paths(axes: Axes, trail: Sequence[Moment]) -> dict[str, Any]:
    means = np.array([moment.answer["mean"] for moment in trail], dtype=float)
    width = means.shape[1]
    unknown = [np.nan] * width
    truths = np.array([unknown if moment.truth is None else moment.truth for moment in trail], dtype=float)
    if len(axes.columns) == 2:
        return {"path": axes.points(means[-PATH:]), "truth_path": axes.points(truths[-PATH:])}
    (column,) = axes.columns
    steps = [moment.answer["step"] for moment in trail]
    bounds = np.array([moment.answer["interval"] for moment in trail], dtype=float)[:, :, column]
    return {
        "path": {"x": steps, "y": _short(means[:, column])},
        "truth_path": {"x": steps, "y": _short(truths[:, column])},
        "band": {"x": steps, "lower": _short(bounds[:, 0]), "upper": _short(bounds[:, 1])},
    }


def _strips(trail: Sequence[Moment]) -> dict[str, Any]:
    steps = [moment.answer["step"] for moment in trail]
    columns = {
        "ess": [moment.answer["ess"] for moment in trail],
        "coverage": [moment.answer["coverage"] for moment in trail],
        "latency": [1e3 * moment.seconds for moment in trail],
    }
    alarms = [k for k, moment in enumerate(trail) if moment.answer["alarm"]]
    layers: dict[str, Any] = {}
    for name, values in columns.items():
        short = _short(np.array([np.nan if value is None else value for value in values], dtype=float))
        layers[name] = {"x": steps, "y": short}
        layers[f"{name}_alarms"] = {"x": [steps[k] for k in alarms], "y": [short[k] for k in alarms]}
    return layers


def _short(values: Any) -> list[float]:
    """Return numbers with as many digits as a screen can show."""
    return [float(f"{value:.5g}") for value in values]
