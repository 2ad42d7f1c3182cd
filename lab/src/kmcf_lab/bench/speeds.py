"""How long kernels take: the matrix of many objects, and one object against many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.kernels import (
    AsinhScaled,
    ChiSquared,
    Gaussian,
    Hellinger,
    HistogramIntersection,
    Kernel,
    LandmarkSet,
    LaserScan,
    Learned,
    Pose,
    Spectrum,
)

NEW = 5
"""New objects compared with the n others."""


@dataclass(frozen=True)
class SpeedRow:
    """One kernel on n objects."""

    kernel: str
    objects: str
    n: int
    matrix_seconds: float
    """The n × n matrix of prepared objects."""
    step_milliseconds: float
    """One new object, prepared and compared with n prepared ones."""


def measure_speeds(n: int, report: Callable[[str], None] = print) -> list[SpeedRow]:
    """Time each kernel on n simulated objects of its kind, on one thread."""
    rows = []
    with threadpool_limits(limits=1):
        for name, kernel, kind, objects, states in _problems(n + NEW, np.random.default_rng(0)):
            report(name)
            examples = kernel.fit(objects[:n], None if states is None else states[:n]).on_examples(objects[:n])
            began = perf_counter()
            examples.matrix()
            matrix = perf_counter() - began
            steps = []
            for k in range(n, n + NEW):
                began = perf_counter()
                examples.against(objects[k : k + 1])
                steps.append(1000.0 * (perf_counter() - began))
            rows.append(SpeedRow(name, kind, n, matrix, float(np.median(steps))))
    return rows


def _problems(n: int, rng: np.random.Generator) -> list[tuple[str, Kernel, str, Any, Any]]:
    vectors = rng.normal(size=(n, 10))
    states = vectors[:, :1]
    sparse = rng.poisson(2.0, size=(n, 4200)) * (rng.random((n, 4200)) < 0.3).astype(float)
    letters = rng.choice(list("abcdefghij"), size=(n, 100))
    sets = [
        [(int(i), *row) for i, row in zip(rng.choice(20, size, replace=False), rng.normal(size=(size, 2)), strict=True)]
        for size in rng.integers(0, 11, size=n)
    ]
    scans = rng.uniform(0.5, 8.0, size=(n, 180))
    words = ["".join(row) for row in letters]
    return [
        ("AsinhScaled(Gaussian())", AsinhScaled(Gaussian()), "10 numbers", vectors, None),
        ("Learned()", Learned(), "10 numbers", vectors, states),
        ("Pose()", Pose(), "x, y, heading", vectors[:, :3], None),
        ("Hellinger()", Hellinger(), "4200 bins, 30 % filled", sparse, None),
        ("HistogramIntersection()", HistogramIntersection(), "4200 bins, 30 % filled", sparse, None),
        ("ChiSquared()", ChiSquared(), "4200 bins, 30 % filled", sparse, None),
        ("LandmarkSet(identity=0)", LandmarkSet(identity=0), "up to 10 elements", sets, None),
        ("LandmarkSet(method='mean')", LandmarkSet(identity=0, method="mean"), "up to 10 elements", sets, None),
        ("Spectrum(5)", Spectrum(5), "100 letters", words, None),
        ("Spectrum(5, mismatches=1)", Spectrum(5, mismatches=1), "100 letters", words, None),
        ("LaserScan()", LaserScan(), "180 beams", scans, None),
    ]
