"""Decoding a kernel mean by a Gaussian mixture (Section 4.4, "other methods"; McCalman, O'Callaghan and Ramos 2013).

For a Gaussian kernel of bandwidth σ the kernel mean of a Gaussian is known in closed form,

    ⟨k(·, x), m_N(μ, S)⟩ = Π_j σ / √(σ² + s_j²) · exp(−(x_j − μ_j)² / 2(σ² + s_j²)),

so the squared RKHS distance between m̂ and a mixture with diagonal covariances is an explicit function of the mixture,
which is minimised. Signed weights need no special care.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from kmcf.embedding.kernel_mean import KernelMean
from kmcf.kernels.stationary import Gaussian
from kmcf.numerics.arrays import FloatArray

NARROWEST = 1e-3
"""Standard deviations start, and stay, above this share of the sample's."""


class GaussianMixture(NamedTuple):
    """A mixture of K Gaussians with diagonal covariances."""

    weights: FloatArray
    """(K,), positive, summing to one; largest first."""
    means: FloatArray
    """(K, d)"""
    deviations: FloatArray
    """Standard deviations, (K, d)."""
    distance: float
    """RKHS distance of its kernel mean to the embedding."""

    def density(self, points: FloatArray) -> FloatArray:
        """Return the density at some points (m, d), (m,)."""
        z = (points[:, None, :] - self.means) / self.deviations
        logs = -0.5 * np.sum(z**2 + np.log(2.0 * np.pi * self.deviations**2), axis=2)
        return np.exp(logs) @ self.weights


def fit_mixture(mean: KernelMean, components: int, random_state: int = 0) -> GaussianMixture:
    """Fit a mixture to an embedding with a Gaussian kernel.

    Parameters
    ----------
    mean : KernelMean
        m̂.
    components : int
        K.
    random_state : int
        Seed of the starting points (k-means on the states with positive weights).
    """
    kernel = mean.kernel_or_error()
    if type(kernel) is not Gaussian or mean.angles:
        raise TypeError(f"a mixture is fitted under a Gaussian kernel on states without angles, not {kernel!r}.")
    if not isinstance(components, int | np.integer) or components < 1:
        raise ValueError(f"components = {components!r}; it must be a positive integer.")
    rows = np.asarray(mean.states, dtype=np.float64).reshape(len(mean), -1)
    d, widths = rows.shape[1], np.broadcast_to(np.asarray(kernel.fitted_bandwidth()) ** 2, (rows.shape[1],))
    scale = np.maximum(rows.std(axis=0), 1e-12)
    squared_norm = mean.squared_norm()

    def unpacked(flat: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        logits, rest = flat[:components], flat[components:].reshape(2, components, d)
        return softmax(logits), rest[0] * scale, (np.exp(rest[1]) + NARROWEST) * scale

    def squared_distance(flat: FloatArray) -> float:
        pi, mu, sd = unpacked(flat)
        cross = mean.weights @ _gaussian_means(rows, mu, sd**2, widths) @ pi
        return float(squared_norm - 2.0 * cross + pi @ _inner_products(mu, sd**2, widths) @ pi)

    from scipy.optimize import minimize

    result = minimize(squared_distance, _start(rows / scale, mean.weights, components, random_state))
    pi, mu, sd = unpacked(result.x)
    order = np.argsort(-pi, kind="stable")
    return GaussianMixture(pi[order], mu[order], sd[order], float(np.sqrt(max(result.fun, 0.0))))


def _start(rows: FloatArray, weights: FloatArray, components: int, random_state: int) -> FloatArray:
    from sklearn.cluster import KMeans

    positive = np.maximum(weights, 0.0)
    found = KMeans(components, n_init=3, random_state=random_state).fit(rows, sample_weight=positive)
    shares = np.bincount(found.labels_, weights=positive, minlength=components)
    spread = np.full((components, rows.shape[1]), np.log(0.3))
    return np.concatenate([np.log(shares / shares.sum() + 1e-3), found.cluster_centers_.ravel(), spread.ravel()])


def _gaussian_means(points: FloatArray, mu: FloatArray, variances: FloatArray, widths: FloatArray) -> FloatArray:
    """Return the components' kernel means at some points, (m, K)."""
    total = widths + variances
    z = (points[:, None, :] - mu) ** 2 / total
    return np.exp(-0.5 * np.sum(z, axis=2)) * np.prod(np.sqrt(widths / total), axis=1)


def _inner_products(mu: FloatArray, variances: FloatArray, widths: FloatArray) -> FloatArray:
    """Return the inner products of the components' kernel means, (K, K)."""
    total = widths + variances[:, None, :] + variances[None, :, :]
    z = (mu[:, None, :] - mu[None, :, :]) ** 2 / total
    return np.exp(-0.5 * np.sum(z, axis=2)) * np.prod(np.sqrt(widths / total), axis=2)
