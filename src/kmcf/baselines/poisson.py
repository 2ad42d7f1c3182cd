"""The model-based rival for counts: Poisson, with rates smoothed over the examples, in a particle filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from kmcf.baselines.particle_base import Likelihood, ParticleBase
from kmcf.filter.inputs import Accepts
from kmcf.filter.settings import check_positive
from kmcf.kernels.distances import squared_euclidean
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects
from kmcf.support.search_space import LogNormal, Parameter

CELLS_PER_WIDTH = 2.0
LEAST_OCCUPANCY = 0.5
"""Cells with fewer examples nearby, smoothed, were not visited: no state is there."""
LEAST_RATE = 1e-3
SHARES = (0.02, 0.035, 0.06, 0.1, 0.17, 0.3)
"""Widths that are tried, as shares of the extent of the example states."""
FOLDS = 5
MOST_CELLS = 200_000
"""Grids with more cells are not tried: the rates of many units on them would not fit into memory."""
MOST_RATES = 2**28
"""A width that was given may ask for more cells, but not for more rates than this: they would take gigabytes."""
BLOCK_NUMBERS = 2**28
"""Of similarities between cells and examples that are computed at once."""


class PlaceFields:
    """Rates of all units on a grid over the example states, smoothed; the log-likelihood of counts in the plane.

    Parameters
    ----------
    states : array (n, d)
        Where the examples were.
    counts : array (n, units)
        Their spikes; NaN where they were not counted.
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
        self._shape = _grid_shape((states.max(axis=0) + width - self._low) / self._step, counts.shape[1], width)
        axes = [low + self._step * np.arange(size) for low, size in zip(self._low, self._shape, strict=True)]
        cells = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, states.shape[1])
        self.cells: FloatArray = cells
        block = max(1, BLOCK_NUMBERS // len(states))
        parts = [_smoothed(cells[i : i + block] / width, states / width, counts) for i in range(0, len(cells), block)]
        self._rates, occupancy = (np.concatenate(column) for column in zip(*parts, strict=True))
        self._visited = occupancy >= LEAST_OCCUPANCY

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
        given = np.asarray(counts, dtype=np.float64)
        known = np.isfinite(given)
        rates = self._rates[:, known]
        logs = (np.log(rates) @ given[known] - rates.sum(axis=1))[flat]
        return np.asarray(np.where(inside & self._visited[flat], logs, -np.inf))


def _grid_shape(extent: FloatArray, units: int, width: float) -> tuple[int, ...]:
    """Return how many cells a grid has along each axis, if the rates of all units on it fit into memory."""
    sizes = np.ceil(extent) + 1.0
    with np.errstate(over="ignore"):
        cells = float(np.prod(sizes))
    if not cells * max(units, len(sizes)) <= MOST_RATES:
        raise ValueError(
            f"with width = {width:g}, the rates would lie on a grid of {cells:.3g} cells over the example states, too "
            "many to keep; give a larger width, or name the columns that the rates depend on."
        )
    return tuple(sizes.astype(int))


def _smoothed(cells: FloatArray, states: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rates in some cells, and by how many examples, smoothed, they were visited; in units of the width."""
    closeness = np.exp(-0.5 * squared_euclidean(cells, states))
    seen = closeness @ np.isfinite(counts)  # where a count is missing, the other examples say what the rate is
    rates = np.maximum(closeness @ np.nan_to_num(counts) / np.maximum(seen, 1e-12), LEAST_RATE)
    return rates, closeness.sum(axis=1)


class PoissonParticleFilter(ParticleBase):
    """Particle filter that knows that counts are Poisson, with rates smoothed over the example states.

    For neurons this is the usual decoder: place fields and a state-space model. The state must have few coordinates,
    since the rates lie on a grid, or rates must depend on few of its ``columns``.

    Parameters
    ----------
    transition : callable
        ``(states, control, rng) -> states``: draws the next state of each of m states.
    initial : callable, optional
        ``(size, rng) -> states``: draws initial states. None: i.i.d. draws from the example states.
    width : float, optional
        Standard deviation of the smoothing, in the unit of the states. None: the one, of six, under which blocks of
        examples that were left out are most likely.
    columns : sequence of int, optional
        The state columns on which the rates depend; the others, such as velocities, only move. None: all.
    n_particles : int
        Number of particles.
    resampling : {"systematic", "stratified", "multinomial"}
        How particles are resampled.
    resample_threshold : float
        Resample when the effective sample size is below this share of the particles.
    angles : sequence of int
        State columns that are angles in radians.
    random_state : int, Generator or None
        Seed of all random numbers.

    Examples
    --------
    >>> from kmcf.transitions import GaussianRandomWalk
    >>> rng = np.random.default_rng(0)
    >>> places = rng.uniform(0.0, 100.0, size=(400, 1))
    >>> counts = rng.poisson(5.0 * np.exp(-0.5 * ((places - np.arange(0.0, 101.0, 20.0)) / 10.0) ** 2))
    >>> flt = PoissonParticleFilter(GaussianRandomWalk(3.0), random_state=0).fit(places, counts)
    >>> flt.filter(counts[:3]).mean.shape, flt.width_ < 20.0
    ((3, 1), True)
    """

    floor = None

    def __init__(
        self,
        transition: Callable[[Any, Any, np.random.Generator], Any],
        initial: Callable[[int, np.random.Generator], Any] | None = None,
        width: float | None = None,
        columns: Sequence[int] | None = None,
        n_particles: int = 2000,
        resampling: str = "systematic",
        resample_threshold: float = 0.5,
        angles: Sequence[int] = (),
        random_state: Any = None,
    ) -> None:
        self.transition = transition
        self.initial = initial
        self.width = width
        self.columns = columns
        self.n_particles = n_particles
        self.resampling = resampling
        self.resample_threshold = resample_threshold
        self.angles = angles
        self.random_state = random_state

    def fit(self, states: Any, observations: Any = None) -> Self:
        """Smooth the rates.

        Parameters
        ----------
        states : array (n, d)
            Where the examples were.
        observations : array (n, units)
            Their counts, not negative; NaN where they are missing.
        """
        self._check_settings()
        self._read_examples(states, observations, accepts=Accepts(missing=True))
        return self._finish_fit()

    def _check_settings(self) -> None:
        super()._check_settings()
        check_positive("width", self.width, optional=True)

    def search_space(self) -> dict[str, Parameter]:
        """Return the width of the smoothing."""
        return {"width": LogNormal(float(self.width_), sd=0.5)} if self._is_fitted else {}

    def _learn(self, kept: Mapping[str, Any] | None) -> None:
        self.state_kernel_ = self._fit_state_kernel(kept)
        states, counts = self._judged(self.states_), _checked_counts(self._observations)
        if kept is not None:
            check_positive("width_", kept["width_"])
            self.width_ = float(kept["width_"])
        else:
            self.width_ = chosen_width(states, counts) if self.width is None else float(self.width)
        self.fields_ = PlaceFields(states, counts, self.width_)

    def _kept(self) -> dict[str, Any]:
        return {**super()._kept(), "width_": self.width_}

    def _likelihood(self, particles: Objects, observation: Objects) -> Likelihood:
        counts = np.asarray(observation[0], dtype=np.float64)
        if (counts < 0).any():
            raise ValueError(f"an observation has {counts[counts < 0][0]:g} in it; counts are not negative.")
        return Likelihood(self.fields_(self._judged(particles), counts))

    def _judged(self, states: Objects) -> FloatArray:
        """Return the columns on which the rates depend."""
        rows = np.asarray(states, dtype=np.float64)
        if self.columns is None:
            return rows
        chosen = np.asarray(self.columns)
        if (
            chosen.ndim != 1
            or not len(chosen)
            or chosen.dtype.kind not in "iu"
            or not (abs(chosen) < rows.shape[1]).all()
            or len(set((chosen % rows.shape[1]).tolist())) < len(chosen)
        ):
            raise ValueError(
                f"columns = {self.columns!r}; these must be columns of the states, 0 to {rows.shape[1] - 1}, each once."
            )
        return rows[:, chosen]


def _checked_counts(observations: Objects) -> FloatArray:
    """Return the example observations, if they are vectors of counts; NaN where they are missing."""
    counts = np.asarray(observations)
    known = counts[~np.isnan(counts)] if counts.dtype.kind == "f" else counts
    if counts.ndim != 2 or counts.dtype.kind not in "biuf" or (known < 0).any() or (known != np.rint(known)).any():
        raise ValueError(
            "the Poisson filter is for vectors of counts, which these observations are not: counts are whole numbers."
        )
    return np.asarray(counts, dtype=np.float64)


def chosen_width(states: FloatArray, counts: FloatArray) -> float:
    """Return the width under which the counts of left-out blocks of examples are most likely.

    Parameters
    ----------
    states : array (n, d)
        Where the examples were, in order, since neighbouring ones resemble each other.
    counts : array (n, units)
        Their counts.
    """
    extent = float(np.max(np.ptp(states, axis=0))) or 1.0
    blocks = np.array_split(np.arange(len(states)), min(FOLDS, len(states)))
    best, found = -np.inf, SHARES[-1] * extent
    for share in SHARES:
        width = share * extent
        if np.prod(np.ptp(states, axis=0) / width * CELLS_PER_WIDTH + 2.0 * CELLS_PER_WIDTH + 1.0) > MOST_CELLS:
            continue
        total = sum(_held_out(states, counts, block, width) for block in blocks)
        if total > best:
            best, found = total, width
    return found


def _held_out(states: FloatArray, counts: FloatArray, block: Any, width: float) -> float:
    """Return the log-likelihood of a block under rates smoothed from the rest, at least that of the rest's means."""
    rest = np.delete(np.arange(len(states)), block)
    counts = np.where(np.isfinite(counts), counts, np.nanmean(counts, axis=0))  # good enough to choose a width
    closeness = np.exp(-0.5 * squared_euclidean(states[block] / width, states[rest] / width))
    prior = LEAST_OCCUPANCY * counts[rest].mean(axis=0)  # where nothing is near, the average rates
    near = closeness.sum(axis=1, keepdims=True)
    rates = np.maximum((closeness @ counts[rest] + prior) / (near + LEAST_OCCUPANCY), LEAST_RATE)
    return float(np.sum(counts[block] * np.log(rates) - rates))
