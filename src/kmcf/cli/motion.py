"""The motion model of commands that are given examples only: a random walk fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.arrays import FloatArray
from kmcf.circles import wrapped_difference


@dataclass(frozen=True)
class RandomWalk:
    """x' = x + B u + noise, with normal noise.

    Attributes
    ----------
    gain : array (k, d)
        Bᵀ; no rows without controls.
    root : array (d, d)
        The noise is ``root`` times standard normal numbers.
    """

    gain: FloatArray
    root: FloatArray

    def __call__(self, states: FloatArray, control: Any, rng: np.random.Generator) -> FloatArray:
        """Move the states."""
        moved: FloatArray = states + rng.normal(size=states.shape) @ self.root.T
        return moved if control is None or len(self.gain) == 0 else moved + np.ravel(control) @ self.gain


def fit_random_walk(
    states: FloatArray, controls: FloatArray | None, groups: Sequence[Any] | None, angles: Sequence[int]
) -> RandomWalk:
    """Fit a random walk to the steps between consecutive examples of the same group, by least squares.

    Parameters
    ----------
    states : array (n, d)
        In order of time.
    controls : array (n, k), optional
        ``controls[t]`` drove the move to step t.
    groups : sequence, optional
        Which sequence each example belongs to.
    angles : sequence of int
        Columns that are angles.
    """
    steps = np.diff(states, axis=0)
    steps[:, list(angles)] = wrapped_difference(steps[:, list(angles)])
    labels = (
        np.zeros(len(states), dtype=int) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    )
    inside = labels[1:] == labels[:-1]
    steps = steps[inside]
    if len(steps) < 2:
        raise ValueError("a random walk needs at least three consecutive examples of one sequence to be fitted.")
    gain = np.zeros((0, states.shape[1]))
    if controls is not None:
        inputs = controls[1:][inside]
        gain = np.linalg.lstsq(inputs, steps, rcond=None)[0]
        steps = steps - inputs @ gain
    values, vectors = np.linalg.eigh(steps.T @ steps / len(steps))
    return RandomWalk(gain, vectors * np.sqrt(np.maximum(values, 0.0)))
