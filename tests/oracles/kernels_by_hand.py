"""Kernels and the scales they use, one pair of points at a time."""

import math

import numpy as np


def gaussian(bandwidth):
    """exp(−‖a − b‖² / 2σ²), as a function of two points."""

    def value(a, b):
        difference = np.ravel(a) - np.ravel(b)
        return math.exp(-float(np.sum(difference**2)) / (2.0 * bandwidth**2))

    return value


def matrix(kernel, A, B):
    """The kernel matrix, entry by entry."""
    return np.array([[kernel(a, b) for b in B] for a in A])


def gaussian_matrix(A, B, bandwidth):
    """The kernel matrix of the Gaussian kernel."""
    return matrix(gaussian(bandwidth), A, B)


def median_distance(rows):
    """The median over all pairs i < j."""
    return float(np.median([math.dist(rows[i], rows[j]) for i in range(len(rows)) for j in range(i)]))


def asinh_scaled(examples):
    """z = asinh((y − median) / MAD) per column, MAD unscaled and 1 where it is zero; a function of observations."""
    centre = np.median(examples, axis=0)
    mad = np.median(np.abs(examples - centre), axis=0)
    mad = np.where(mad == 0, 1.0, mad)
    return lambda y: np.arcsinh((np.asarray(y) - centre) / mad)
