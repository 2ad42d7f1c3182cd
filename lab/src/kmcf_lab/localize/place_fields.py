"""The model-based rival for spikes: Poisson counts with place fields, in a particle filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from kmcf.baselines import ParticleFilter
from kmcf.kernels.distances import squared_euclidean
from kmcf.numerics.arrays import FloatArray

CELLS_PER_WIDTH = 2.0
LEAST_OCCUPANCY = 0.5
"""Cells with fewer examples nearby, smoothed, were not visited: no state is there."""
LEAST_RATE = 1e-3


class PlaceFields:
    """Rates of all units on a grid over the example states, smoothed; the log-likelihood of counts in the plane.

    Parameters
    ----------
    states : array (n, d)
        Where the examples were.
    counts : array (n, units)
        Their spikes.
    width : float
        Standard deviation of the smoothing, in the unit of the states.

    Examples
    --------
    >>> places = np.arange(100.0)[:, None]
    >>> fields = PlaceFields(places, np.hstack([places < 50.0, places >= 50.0]) * 2.0, width=5.0)
    >>> logs = fields(np.array([[20.0], [80.0], [500.0]]), np.array([2.0, 0.0]))
    >>> bool(logs[0] > logs[1]), float(logs[2])
    (True, -inf)
    """

    def __init__(self, states: FloatArray, counts: FloatArray, width: float) -> None:
        self._step = width / CELLS_PER_WIDTH
        self._low = states.min(axis=0) - width
        self._shape = tuple(np.ceil((states.max(axis=0) + width - self._low) / self._step).astype(int) + 1)
        axes = [low + self._step * np.arange(size) for low, size in zip(self._low, self._shape, strict=True)]
        cells = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, states.shape[1])
        self.cells: FloatArray = cells
        closeness = np.exp(-0.5 * squared_euclidean(cells / width, states / width))
        occupancy = closeness.sum(axis=1)
        rates = np.maximum(closeness @ counts / np.maximum(occupancy, 1e-12)[:, None], LEAST_RATE)
        self._log_rates = np.log(rates)
        self._total = np.where(occupancy >= LEAST_OCCUPANCY, rates.sum(axis=1), np.inf)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells the grid has along each axis."""
        return tuple(int(size) for size in self._shape)

    @property
    def step(self) -> float:
        """Width of a cell."""
        return float(self._step)

    def __call__(self, states: FloatArray, counts: FloatArray) -> FloatArray:
        """Return log p(counts | state) for each state, up to a constant; −∞ where no example was near."""
        numbers = np.rint((states - self._low) / self._step)
        inside = np.all((numbers >= 0) & (numbers < self._shape), axis=1)
        flat = np.ravel_multi_index(tuple(np.where(inside, numbers.T, 0.0).astype(int)), self._shape)
        logs = (self._log_rates @ np.asarray(counts, dtype=np.float64))[flat] - self._total[flat]
        return np.asarray(np.where(inside, logs, -np.inf))


class PoissonParticleFilter(ParticleFilter):
    """Particle filter that knows that counts are Poisson, with place fields smoothed from the examples.

    Parameters
    ----------
    transition : callable
        How states move.
    width : float
        Standard deviation of the smoothing of the place fields, in the unit of the states.
    n_particles : int
        Number of particles.
    angles : sequence of int
        State columns that are angles.
    random_state : int, Generator or None
        Seed of all random numbers.
    """

    def __init__(
        self,
        transition: Callable[[Any, Any, np.random.Generator], Any],
        width: float = 12.0,
        n_particles: int = 2000,
        angles: Sequence[int] = (),
        random_state: Any = None,
    ) -> None:
        super().__init__(transition, _nothing, n_particles=n_particles, angles=angles, random_state=random_state)
        self.width = width

    def fit(self, states: Any = None, observations: Any = None) -> Self:
        """Smooth the place fields."""
        counts = np.asarray(observations, dtype=np.float64)
        if counts.ndim != 2 or not (counts >= 0).all():
            raise ValueError("the Poisson filter is for vectors of counts, which these observations are not.")
        self.log_likelihood = PlaceFields(np.asarray(states, dtype=np.float64), counts, self.width)
        return super().fit(states, observations)


def _nothing(states: Any, _counts: Any) -> FloatArray:
    return np.zeros(len(states))
