"""Observations made of positions, seen from a pose: placed in the world, they say what other poses would see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray

FITTING = 0.4
"""A smaller fit on average means that a filter may be lost, or does not know its start yet."""
LOST = 0.2
"""The probability that it is."""
JOINING = 300
"""Number of poses that then join the prediction."""
AROUND = 0.5
"""In units of length: how far from the examples' positions the pose is looked for."""
MOST_POSES = 10**6
"""More poses to try than this would take gigabytes in a step."""


class Placed(ABC):
    """The examples' observations, placed in the world by the examples' poses."""

    resemblance: float = 0.0
    """Share of the likelihood that goes by how much the observation resembles those of examples around the pose."""

    anywhere: FloatArray
    """Poses to try where predicted ones do not fit, (K, 3)."""

    def elsewhere(self, poses: FloatArray, weights: FloatArray, observation: Any) -> tuple[FloatArray, FloatArray]:
        """Return the best of all poses to try where given ones, with weights, fit badly, and their weights."""
        if len(self.anywhere) == 0 or float(weights @ self.fit(poses, observation)) >= FITTING:
            return np.empty((0, 3)), np.empty(0)
        fits = self.fit(self.anywhere, observation)
        best = np.argsort(-fits, kind="stable")[:JOINING]
        return self.anywhere[best], np.full(len(best), LOST / len(self.anywhere))

    def fit(self, poses: FloatArray, observation: Any) -> FloatArray:
        """Return how well an observation fits on a scale that does not depend on how much it consists of."""
        return self.likelihood(poses, observation, None)

    def unit(self, observation: Any) -> float:
        """Return the unit of a filter's background: how small likelihoods are because an observation says much."""
        return 1.0

    @abstractmethod
    def likelihood(self, poses: FloatArray, observation: Any, logs: FloatArray | None) -> FloatArray:
        """Return how well an observation fits if it was made at each of some poses, in [0, 1].

        Parameters
        ----------
        poses : array (m, 3)
            x, y, heading.
        observation : object
            One observation, prepared by the kernel.
        logs : array (n, m), optional
            Logarithms of the similarities of the example poses and these poses. None: all are equal.
        """


class PlacingKernel(ABC):
    """A kernel whose observations consist of positions in the frame of whoever made them.

    A posterior on particles then does not ask what the examples around a particle looked like, but what they would
    have looked like *from the particle*.
    """

    @abstractmethod
    def placed(self, poses: FloatArray, prepared: Any) -> Placed:
        """Place the examples' observations, prepared by the kernel, in the world by the examples' poses (n, 3)."""


def refuse_combined(kernel: Any) -> None:
    """Refuse a kernel made of others if one of them places observations: their likelihoods would be lost."""
    parts = [value for value in vars(kernel).values() if hasattr(value, "on_examples")]
    for part in parts:
        if isinstance(part, PlacingKernel):
            raise ValueError(
                f"{type(part).__name__} cannot be scaled, added or multiplied where the posterior lives on particles: "
                "what is seen from a particle is no kernel. Use it alone; its width says how much it counts."
            )
        refuse_combined(part)


def as_poses(states: Any, kernel: str) -> FloatArray:
    """Read states as poses (n, 3).

    Examples
    --------
    >>> as_poses([[1, 2, 0.5]], "PlacedLandmarks")
    array([[1. , 2. , 0.5]])
    """
    try:
        poses = np.asarray(states, dtype=np.float64)
    except (TypeError, ValueError):
        poses = np.empty(0)
    if poses.ndim != 2 or poses.shape[1] != 3:
        raise ValueError(
            f"{kernel} places observations by poses, rows (x, y, heading), but states have the shape "
            f"{np.shape(states)}; use it with such states and support='particles', or a kernel that does not."
        )
    return poses


def in_world(poses: FloatArray, ahead: FloatArray, left: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where positions seen from poses are, x and y; ``ahead`` and ``left`` are broadcast against the poses.

    Examples
    --------
    >>> x, y = in_world(np.array([[1.0, 2.0, np.pi / 2]]), np.array([3.0]), np.array([0.0]))
    >>> x.round(2), y.round(2)
    (array([1.]), array([5.]))
    """
    cosine, sine = np.cos(poses[..., 2]), np.sin(poses[..., 2])
    return poses[..., 0] + cosine * ahead - sine * left, poses[..., 1] + sine * ahead + cosine * left


def poses_around(poses: FloatArray, count: int) -> FloatArray:
    """Return poses around the positions of given ones, with any heading; always the same.

    Examples
    --------
    >>> poses_around(np.zeros((2, 3)), 1000).std(axis=0).round(1)
    array([0.5, 0.5, 1.8])
    """
    rng = np.random.default_rng(0)
    around = poses[rng.integers(len(poses), size=count), :2] + AROUND * rng.normal(size=(count, 2))
    return np.column_stack([around, rng.uniform(-np.pi, np.pi, size=count)])


def checked_search(search: Any, kernel: str) -> int:
    """Return a number of poses to try.

    Examples
    --------
    >>> checked_search(100, "PlacedScan")
    100
    """
    if not (isinstance(search, int | np.integer) and 0 <= search <= MOST_POSES):
        raise ValueError(f"{kernel} has search = {search!r}; it must be an integer, at least 0, at most {MOST_POSES}.")
    return int(search)
