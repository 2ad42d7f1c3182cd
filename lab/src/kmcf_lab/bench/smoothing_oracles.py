"""Smoothers that know the model, on a grid: forward–backward for the paper's models, and for spikes on a track."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

from kmcf.baselines.poisson import PlaceFields
from kmcf.datasets.synthetic import StateSpaceModel
from kmcf.numerics.arrays import FloatArray

CELLS = 601
EDGE, FAR = 3.0, 9.0
TINY = 1e-300

Move = Callable[[FloatArray, int], FloatArray]
"""Takes what the cells hold and the number of a step."""


class OracleRun(NamedTuple):
    """Posterior means of both, (T, d)."""

    filtered: FloatArray
    smoothed: FloatArray


def forward_backward(
    start: FloatArray, likelihoods: FloatArray, forward: Move, backward: Move, cells: FloatArray
) -> OracleRun:
    """Filter and smooth on cells.

    Parameters
    ----------
    start : array (cells,)
        Probabilities before the first observation.
    likelihoods : array (T, cells)
        Of each observation, up to a factor per step.
    forward : callable
        Moves probabilities to step t.
    backward : callable
        Returns, for each cell, the expectation of a function after the move to step t.
    cells : array (cells, d)
        Where they are.

    Examples
    --------
    >>> stay = lambda values, t: values
    >>> seen = np.array([[0.5, 0.5], [0.1, 0.9]])
    >>> run = forward_backward(np.array([0.5, 0.5]), seen, stay, stay, np.array([[0.0], [1.0]]))
    >>> run.filtered.ravel().tolist(), run.smoothed.ravel().round(9).tolist()
    ([0.5, 0.9], [0.9, 0.9])
    """
    steps = len(likelihoods)
    probabilities: list[FloatArray] = []
    predicted = [start]
    for t in range(steps):
        if t:
            predicted.append(forward(probabilities[-1], t))
        joint = predicted[-1] * likelihoods[t]
        probabilities.append(joint / joint.sum())
    smoothed = [probabilities[-1]]
    for t in range(steps - 1, 0, -1):
        ratio = smoothed[-1] / np.maximum(predicted[t], TINY)
        joint = probabilities[t - 1] * backward(ratio, t)
        smoothed.append(joint / joint.sum())
    return OracleRun(np.array(probabilities) @ cells, np.array(smoothed[::-1]) @ cells)


def model_oracle(model: StateSpaceModel, observations: FloatArray, controls: FloatArray | None) -> OracleRun:
    """Filter and smooth one of the paper's models with its true equations."""
    jumps = model.name.startswith("4")
    line = np.linspace(-EDGE, EDGE, CELLS) if jumps else np.linspace(-FAR, FAR, CELLS)
    cells = line[:, None]
    start = np.ones(CELLS) if jumps else _normal(line, 1.0 / np.sqrt(1.0 - 0.81))
    always = _moves(model, line, None) if controls is None else None

    def table(t: int) -> FloatArray:
        return _moves(model, line, float(controls[t])) if always is None else always  # type: ignore[index]

    logs = np.array([model.log_likelihood(cells, y) for y in observations])
    likelihoods = np.exp(logs - logs.max(axis=1, keepdims=True))
    return forward_backward(
        start / start.sum(), likelihoods, lambda p, t: p @ table(t), lambda f, t: table(t) @ f, cells
    )


def _moves(model: StateSpaceModel, line: FloatArray, control: float | None) -> FloatArray:
    """Return the probabilities of moves between cells, rows by where they start."""
    if model.name.startswith("4"):
        centre, scale = (line, np.sqrt(2.0)) if control is None else (line + control, 1.0)
    else:
        pushed, scale = (0.0, 1.0) if control is None else (control / np.sqrt(2.0), 1.0 / np.sqrt(2.0))
        centre = 0.9 * line + pushed
    table = _normal(line[None] - centre[:, None], scale) * (line[1] - line[0])
    if model.name.startswith("4"):  # what would leave at either edge comes back at the left one
        table[:, [0, -1]] *= 0.5
        table[:, 0] += np.maximum(1.0 - table.sum(axis=1), 0.0)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _normal(values: Any, scale: float) -> FloatArray:
    return np.exp(-0.5 * (np.asarray(values) / scale) ** 2) / (scale * np.sqrt(2.0 * np.pi))


def spikes_oracle(
    states: FloatArray, counts: FloatArray, observations: FloatArray, scale: FloatArray, width: float = 12.0
) -> OracleRun:
    """Filter and smooth Poisson counts with place fields learnt from the examples, on the grid of these fields.

    Parameters
    ----------
    states, counts : arrays (n, 2), (n, units)
        The examples.
    observations : array (T, units)
        What is followed.
    scale : array (2,)
        Standard deviations of a step of the random walk.
    width : float
        Smoothing of the place fields.
    """
    fields = PlaceFields(states, counts, width)
    cells, shape, step = fields.cells, fields.shape, fields.step
    logs = np.array([fields(cells, y) for y in observations])
    likelihoods = np.exp(logs - logs.max(axis=1, keepdims=True))
    visited = np.isfinite(logs[0]).astype(float)
    deviations = np.broadcast_to(scale, (len(shape),)) / step
    reach = gaussian_filter(visited.reshape(shape), deviations, mode="constant").ravel()

    def forward(probabilities: FloatArray, _t: int) -> FloatArray:
        spread = probabilities / np.maximum(reach, TINY)
        return visited * gaussian_filter(spread.reshape(shape), deviations, mode="constant").ravel()

    def backward(values: FloatArray, _t: int) -> FloatArray:
        smooth = gaussian_filter((visited * values).reshape(shape), deviations, mode="constant").ravel()
        return np.asarray(smooth / np.maximum(reach, TINY))

    return forward_backward(visited / visited.sum(), likelihoods, forward, backward, cells)
