"""Kernel Herding with every score from scratch, and how far points are from an embedding."""

import math

import numpy as np


def algorithm_4(mean, kernel, candidates, size):
    """Pick, line by line; ``mean`` and ``kernel`` are functions of single points."""
    picks = []
    for p in range(1, size + 1):
        values = [mean(z) - sum(kernel(z, candidates[j]) for j in picks) / p for z in candidates]
        picks.append(int(np.argmax(values)))
    return picks


def algorithm_2(weights, G, size):
    """Algorithm 4 where the candidates are the weighted points themselves, with their kernel matrix."""
    points = range(len(weights))
    means = [sum(weights[i] * G[x, i] for i in points) for x in points]
    return algorithm_4(means.__getitem__, lambda a, b: G[a, b], points, size)


def resampling_loss(weights, G, picks):
    """The RKHS distance of the picks' uniform mean to the weighted mean, all three double sums written out."""
    n, size = len(weights), len(picks)
    square = sum(weights[i] * weights[j] * G[i, j] for i in range(n) for j in range(n))
    square -= 2.0 * sum(weights[i] * G[i, j] for i in range(n) for j in picks) / size
    square += sum(G[i, j] for i in picks for j in picks) / size**2
    return math.sqrt(max(square, 0.0))
