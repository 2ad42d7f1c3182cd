"""Kernels for special kinds of data, each with a generator of such data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.kernels import (
    ChiSquared,
    Constant,
    Hellinger,
    HistogramIntersection,
    Kernel,
    LandmarkSet,
    LaserScan,
    PlacedLandmarks,
    PlacedScan,
    SpatialPyramid,
    Spectrum,
)


@dataclass(frozen=True)
class Case:
    """A kernel, ``make(rng)`` for one object it compares, and objects it must refuse."""

    kernel: Kernel
    make: Callable[[np.random.Generator], Any]
    wrong: tuple[Any, ...]

    def objects(self, seed: int, count: int) -> list[Any]:
        rng = np.random.default_rng(seed)
        return [self.make(rng) for _ in range(count)]


def histogram(rng):
    """Counts with many zeros; now and then none at all."""
    return rng.poisson(1.5, size=6).astype(float) * rng.integers(0, 2, size=6)


def landmarks(rng):
    """Landmarks in view, possibly none, possibly one twice."""
    return [(int(rng.integers(5)), rng.gamma(2.0), rng.uniform(-4, 4)) for _ in range(rng.integers(0, 5))]


def points(rng):
    return rng.normal(size=(rng.integers(0, 4), 2))


def string(rng):
    return "".join(rng.choice(list("abc"), size=rng.integers(0, 12)))


def scan(rng):
    """Ranges, some without return."""
    return np.where(rng.random(20) < 0.1, np.nan, rng.gamma(4.0, size=20))


def image(rng):
    """Random pictures of different sizes, grey or coloured; now and then a constant one."""
    channels = [(), (3,)][rng.integers(2)]
    shape = (*rng.integers(40, 60, size=2), *channels)
    return np.full(shape, 90, np.uint8) if rng.random() < 0.1 else rng.integers(0, 256, size=shape, dtype=np.uint8)


NOT_NUMBERS = (["left"] * 6, None)
NOT_SETS = (3.0, "text", None, {"a": 1})
CASES = {
    "HistogramIntersection": Case(HistogramIntersection(), histogram, NOT_NUMBERS),
    "HistogramIntersection normalised": Case(HistogramIntersection(normalize=True), histogram, NOT_NUMBERS),
    "ChiSquared": Case(ChiSquared(gamma=0.2), histogram, NOT_NUMBERS),
    "ChiSquared learnt": Case(ChiSquared(normalize=True), histogram, NOT_NUMBERS),
    "Hellinger": Case(Hellinger(), histogram, NOT_NUMBERS),
    "LandmarkSet match": Case(LandmarkSet(angles=[2]), landmarks, NOT_SETS),
    "LandmarkSet mean": Case(LandmarkSet(angles=[2], method="mean"), landmarks, NOT_SETS),
    "LandmarkSet mean, not normalised": Case(
        LandmarkSet(None, method="mean", bandwidth=0.8, normalize=False), points, NOT_SETS
    ),
    "Spectrum": Case(Spectrum(2), string, (3.0, None, {"a": 1})),
    "Spectrum, not normalised": Case(Spectrum(2, normalize=False), string, (3.0, None, {"a": 1})),
    "Spectrum mismatch": Case(Spectrum(3, mismatches=1), string, (3.0, None, {"a": 1})),
    "LaserScan": Case(LaserScan(), scan, NOT_NUMBERS),
    "LaserScan full circle": Case(LaserScan(5.0, rotation=1, full_circle=True), scan, NOT_NUMBERS),
    "PlacedLandmarks": Case(PlacedLandmarks(bandwidth=0.7), landmarks, NOT_SETS),
    "PlacedScan": Case(PlacedScan(max_range=5.0, rotation=2), scan, NOT_NUMBERS),
    "SpatialPyramid": Case(SpatialPyramid(words=8), image, (3.0, None, np.zeros(4))),
    "composition": Case(0.5 * Spectrum(2) * Constant(2.0) + Spectrum(1), string, (3.0, None)),
}
