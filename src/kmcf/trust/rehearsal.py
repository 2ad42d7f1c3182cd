"""A rehearsal on left-out examples: what signals look like when all is well.

A rule fitted to most of the examples filters the observations of the others. The true states walk over the left-out
examples: each next one is that nearest to a draw from the transition, so predictions, posteriors and the evidence come
out as they do in use. Examples are left out in blocks, since neighbours in a recording are alike. If the transition
cannot move states without a control, a random walk stands in for it, with steps like those from one example to the
next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kmcf.bayes_rule import BayesRule, Examples, Posterior, Prior, Sample
from kmcf.bayes_rule.evidence import LEAST_SIMILARITY_SUM
from kmcf.embedding.moments import weighted_mean
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.circles import wrapped_columns, wrapped_difference
from kmcf.numerics.objects import Objects, evenly_spaced, is_numeric, take
from kmcf.trust.distances import RawDistances, guard_of, kernel_distance
from kmcf.trust.hull import Hull
from kmcf.trust.residuals import Expected
from kmcf.trust.signals import running_means, shift_sizes

MOST_EXAMPLES, FEWEST_EXAMPLES = 320, 20
"""So many examples take part at most; with fewer than the second number there is no rehearsal."""
BLOCKS, FOLDS = 32, 4
"""They are taken in so many blocks; every fourth is left out, each once."""
SEQUENCES, STEPS = 3, 32
"""So many sequences of so many steps walk over the examples left out."""
LONG_SEQUENCES, LONG_STEPS, LONG_EXAMPLES = 16, 200, 256
"""Longer walks, over fewer examples, tell how long observations that are rare may follow each other."""
MOST_PARTICLES = 250
UNCOUNTED = 2
"""The first steps of a sequence do not count: its prior is still spread over all examples."""
NAMES = ("observation_distance", "innovation", "rarity", "relative_evidence", "ess", "support_size", "negative_mass",
         "state_coverage", "observation_shift", "residual_shift", "edge")  # fmt: skip

Mover = Callable[[Objects, np.random.Generator], Objects]
"""Moves states once, without a control."""


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """What a rehearsal needs of a filter."""

    states: Objects
    """The example states that the filter's rule knows."""
    observations: Objects
    """All example observations, in the order in which they were recorded."""
    recorded: IntArray
    """Which of these belongs to each state."""
    prepare: Callable[[IntArray], Examples]
    """Prepares some of the examples for both kernels."""
    fit: Callable[[IntArray, int], BayesRule]
    """Fits the filter's rule to the examples with some indices, for a number of particles."""
    move: Mover
    n_particles: int
    angles: Sequence[int]
    seed: int
    covered: Callable[[Prior], float]
    """How well the filter's own rule covers predicted states: one fitted to fewer examples may compare with others."""

    def columns(self, distances: RawDistances | None) -> dict[str, FloatArray]:
        """Return the columns of the steps, as :func:`~kmcf.trust.thresholds.thresholds_from` takes them."""
        n = len(self.states)
        if n < FEWEST_EXAMPLES:
            return blank_columns(0)
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(0, 0, 1)))
        places = chosen(n)
        move = self._mover(take(self.states, places[0][: 2 * SEQUENCES]), rng)
        if move is None:
            return left_out_distances(distances, self.recorded)
        try:
            with np.errstate(all="ignore"):
                return self._rehearsed(places, move, distances, rng)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):  # alarms must not fail where the filter works
            return left_out_distances(distances, self.recorded)

    def _rehearsed(
        self, places: Sequence[IntArray], move: Mover, distances: RawDistances | None, rng: np.random.Generator
    ) -> dict[str, FloatArray]:
        """Filter along all folds."""
        parts = [self._fold(places, fold, move, distances, rng) for fold in range(FOLDS)]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in NAMES}
        columns["running"] = running_means(*(columns[name] for name in NAMES[:3]))
        flat = {name: values[:, UNCOUNTED:].reshape(-1, *values.shape[2:]) for name, values in columns.items()}
        return {**flat, **self._long(np.concatenate(places), move, distances, rng)}

    def _long(
        self, places: IntArray, move: Mover, distances: RawDistances | None, rng: np.random.Generator
    ) -> dict[str, FloatArray]:
        """Return running means of the observations' distance and rarity along long walks over some examples."""
        some = places[evenly_spaced(len(places), LONG_EXAMPLES)]
        examples = self.prepare(some)
        gram = examples.observation_kernel.matrix()
        apart = np.abs(np.subtract.outer(some, some)) > guard_of(len(self.states))
        spread = (gram * apart).sum(axis=1) / np.maximum(apart.sum(axis=1), 1)
        rarity = -np.log(np.maximum(spread, LEAST_SIMILARITY_SUM))
        near = np.zeros(len(some)) if distances is None else distances.logs_left_out(self.recorded[some])
        path = np.searchsorted(some, self._path(some, move, rng, (LONG_SEQUENCES, LONG_STEPS)))
        means = running_means(near[path], np.zeros(path.shape), rarity[path])[:, LONG_STEPS // 4 :]
        long = {"long_rarity": (means[..., 2] / means[..., 4]).ravel()}
        if distances is None:
            return long
        shifts = shift_sizes(distances.coordinates_of(self.recorded[some[path]]))[:, LONG_STEPS // 4 :]
        return {**long, "long_drift": (means[..., 0] / means[..., 3]).ravel(), "long_shift": shifts.ravel()}

    def _fold(
        self, blocks: Sequence[IntArray], fold: int, move: Mover, distances: RawDistances | None,
        rng: np.random.Generator,
    ) -> dict[str, FloatArray]:  # fmt: skip
        """Leave every fourth block out, and filter along it; return columns (SEQUENCES, STEPS)."""
        left_out = np.concatenate([block for k, block in enumerate(blocks) if k % FOLDS == fold])
        kept = np.concatenate([block for k, block in enumerate(blocks) if k % FOLDS != fold])
        path = self._path(left_out, move, rng, (SEQUENCES, STEPS))
        size = min(self.n_particles, MOST_PARTICLES)
        rule, some = self.fit(kept, size), take(self.states, kept)
        found = [self._sequence(rule, some, self.recorded[places], move, size, rng) for places in path]
        columns = {name: np.array([[row[name] for row in rows] for rows in found]) for name in NAMES}
        if distances is not None:
            columns["observation_distance"] = distances.logs_left_out(self.recorded[path])
            coordinates = distances.coordinates_of(self.recorded[path])
            columns["observation_shift"] = shift_sizes(coordinates)
            columns["residual_shift"] = self._residual_shifts(found, coordinates, kept, distances)
        return columns

    def _residual_shifts(
        self, rows: Sequence[Sequence[Mapping[str, Any]]], coordinates: FloatArray, kept: IntArray,
        distances: RawDistances,
    ) -> FloatArray:  # fmt: skip
        """Return the running means of residuals from what observations are like around the examples kept."""
        expected = Expected.of(take(self.states, kept), distances.coordinates_of(self.recorded[kept]), self.angles)
        if expected is None:
            return np.full(coordinates.shape[:2], np.nan)
        means = np.array([[row["mean"] for row in some] for some in rows])
        flat = expected.residuals(means.reshape(-1, means.shape[-1]), coordinates.reshape(-1, coordinates.shape[-1]))
        return shift_sizes(flat.reshape(coordinates.shape))

    def _mover(self, states: Objects, rng: np.random.Generator) -> Mover | None:
        """Return the transition if it moves states without a control, else a random walk; None if there is none."""
        try:
            self.move(states, rng)
            return self.move
        except Exception:  # whatever the user's function raises without a control
            return random_walk(self.states, self.angles)

    def _path(self, places: IntArray, move: Mover, rng: np.random.Generator, shape: tuple[int, int]) -> IntArray:
        """Walk over some of the examples: several sequences of several steps."""
        kernel = self.prepare(places).state_kernel
        path = np.empty(shape, dtype=np.intp)
        path[:, 0] = rng.choice(places, size=shape[0])
        for t in range(1, shape[1]):
            moved = move(take(self.states, path[:, t - 1]), rng)
            path[:, t] = places[kernel.log_against(moved).argmax(axis=0)]
        return path

    def _sequence(
        self, rule: BayesRule, states: Objects, places: IntArray, move: Mover, size: int, rng: np.random.Generator
    ) -> list[dict[str, float]]:
        """Filter the observations of some left-out examples, one after the other."""
        prior = Sample(take(states, rng.integers(len(states), size=size)), np.full(size, 1.0 / size))
        rows, hull = [], Hull.of(states, self.angles)
        for t, place in enumerate(places):
            if t > 0:
                prior = Sample(move(prior.states, rng), prior.weights)
            posterior = rule.correct(prior, take(self.observations, np.array([place])))
            coverage = np.fmin(posterior.state_coverage, self.covered(prior))
            rows.append({**_row(posterior, hull, self.angles), "state_coverage": float(coverage)})
            if posterior.usable:
                prior = _resampled(posterior, size, rng)
        return rows


def chosen(n: int) -> list[IntArray]:
    """Choose the examples that take part, in blocks spread over all of them.

    Examples
    --------
    >>> blocks = chosen(1000)
    >>> len(blocks), len(blocks[0]), blocks[1][:3].tolist()
    (32, 10, [31, 32, 33])
    """
    blocks = min(BLOCKS, n // 2)
    edges = np.linspace(0, n, blocks + 1).astype(np.intp)
    return [np.arange(start, min(stop, start + MOST_EXAMPLES // blocks)) for start, stop in pairwise(edges)]


def random_walk(states: Objects, angles: Sequence[int]) -> Mover | None:
    """Return a random walk whose steps are like those from one example to the next; None if states are objects."""
    if not is_numeric(states):
        return None
    rows = np.asarray(states, dtype=np.float64)
    steps = np.diff(rows, axis=0)
    columns = list(angles)
    if columns:
        steps[:, columns] = wrapped_difference(steps[:, columns])
    spread = rows.std(axis=0)
    width = np.clip(np.median(np.abs(steps), axis=0), 0.05 * spread, 0.3 * spread)
    return lambda given, rng: wrapped_columns(given + width * rng.normal(size=given.shape), angles)


def left_out_distances(distances: RawDistances | None, recorded: IntArray) -> dict[str, FloatArray]:
    """Return columns that hold the distances of left-out observations only.

    There are no running means: without a path, nobody knows how long a state stays where examples are sparse.
    """
    if distances is None:
        return blank_columns(0)
    places = evenly_spaced(len(recorded), MOST_EXAMPLES)
    columns = blank_columns(len(places))
    columns["observation_distance"] = distances.logs_left_out(recorded[places])
    return columns


def blank_columns(steps: int) -> dict[str, FloatArray]:
    """Return columns of which nothing is known."""
    columns = {name: np.full(steps, np.nan) for name in NAMES}
    return {**columns, "running": np.full((steps, 5), np.nan)}


def _row(posterior: Posterior, hull: Hull | None, angles: Sequence[int]) -> dict[str, Any]:
    weights = posterior.weights() if posterior.usable else np.full(1, np.nan)
    mean = np.full(np.shape(posterior.support)[1:], np.nan).ravel() if is_numeric(posterior.support) else np.empty(0)
    if len(mean) and posterior.usable:
        mean = weighted_mean(np.reshape(posterior.support, (len(weights), -1)), weights, angles)
    edge = np.nan if hull is None or not posterior.usable else float(hull.beyond(mean[None])[0])
    return {
        "observation_distance": kernel_distance(posterior.observation_coverage),
        "innovation": posterior.evidence.innovation,
        "rarity": -posterior.evidence.spread,
        "relative_evidence": posterior.evidence.ratio,
        "ess": 1.0 / float(np.sum(weights**2)),
        "support_size": len(weights),
        "negative_mass": -float(np.minimum(weights, 0.0).sum()),
        "observation_shift": np.nan,
        "residual_shift": np.nan,
        "edge": edge,
        "mean": mean,
    }


def _resampled(posterior: Posterior, size: int, rng: np.random.Generator) -> Sample:
    indices, _ = posterior.resample(size, rng)
    if indices is None:
        return Sample(posterior.support, posterior.weights())
    return Sample(take(posterior.support, np.resize(indices, size)), np.full(size, 1.0 / size))
