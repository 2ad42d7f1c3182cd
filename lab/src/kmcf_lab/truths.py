"""Kernel means known in closed form, on the line and on the circle, and the exact errors of their estimates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcf.numerics.arrays import FloatArray


@dataclass(frozen=True)
class NormalMean:
    """The kernel mean of N(mean, variance) on the line under the kernel exp(−(x − x')²/2γ²).

    Examples
    --------
    >>> truth = NormalMean(0.0, 0.0, bandwidth=1.0)  # a point mass at zero
    >>> truth.squared_error(np.zeros(1), np.ones(1)), NormalMean(0.0, 1.5, bandwidth=1.0).squared_norm
    (0.0, 0.5)
    """

    mean: float
    variance: float
    bandwidth: float

    def __call__(self, points: FloatArray) -> FloatArray:
        """Evaluate m(x) = γ/√(γ² + v) exp(−(x − μ)²/2(γ² + v))."""
        return smoothed_kernel(points - self.mean, self.bandwidth, self.variance)

    def inner(self, other: NormalMean) -> FloatArray:
        """Return the inner product with the mean of another normal distribution."""
        return smoothed_kernel(np.asarray(self.mean - other.mean), self.bandwidth, self.variance + other.variance)

    @property
    def squared_norm(self) -> float:
        """‖m‖²."""
        return float(self.inner(self))

    def squared_error(self, points: FloatArray, weights: FloatArray) -> float:
        """‖Σ w_i k(·, x_i) − m‖² of a weighted sample."""
        gram = smoothed_kernel(points[:, None] - points, self.bandwidth, 0.0)
        return float(weights @ gram @ weights - 2.0 * weights @ self(points) + self.squared_norm)


def smoothed_kernel(differences: FloatArray, bandwidth: float, variance: float) -> FloatArray:
    """Return E k(x + e, x') with e ~ N(0, variance), which is ⟨m_P, m_Q⟩ for normals whose variances sum to it."""
    total = bandwidth**2 + variance
    return bandwidth / np.sqrt(total) * np.exp(-(differences**2) / (2.0 * total))


@dataclass(frozen=True)
class Circle:
    """Kernel means on the circle under k(x, x') = Σ_j a_j cos j(x − x'), with a_j ∝ exp(−j²γ²/2) and k(x, x) = 1.

    There a distribution is a sequence of coefficients E exp(ijx), j = 0, 1, …; those of a normal distribution wrapped
    around the circle are exp(ijμ − j²v/2). All sums stop where the terms fall below rounding.

    Examples
    --------
    >>> circle = Circle(0.5)
    >>> point = circle.empirical(np.array([1.0]), np.ones(1))
    >>> bool(circle.squared_distance(point, circle.wrapped_normal(1.0, 0.0)) < 1e-12)
    True
    """

    bandwidth: float

    @property
    def orders(self) -> FloatArray:
        """The numbers j whose coefficients matter."""
        return np.arange(int(np.ceil(9.0 / self.bandwidth)) + 1, dtype=np.float64)

    @property
    def spectrum(self) -> FloatArray:
        """The coefficients a_j; they sum to one."""
        weights = np.exp(-0.5 * (self.orders * self.bandwidth) ** 2)
        weights[1:] *= 2.0
        return weights / weights.sum()

    def empirical(self, points: FloatArray, weights: FloatArray) -> np.ndarray:
        """Return the coefficients Σ_i w_i exp(ijx_i) of weighted samples, for points of shape (…, n)."""
        return np.exp(1j * self.orders[:, None] * points[..., None, :]) @ weights

    def wrapped_normal(self, mean: float, variance: float) -> np.ndarray:
        """Return the coefficients of a wrapped normal distribution."""
        return np.exp(1j * self.orders * mean - 0.5 * self.orders**2 * variance)

    def squared_distance(self, one: np.ndarray, other: np.ndarray) -> FloatArray:
        """‖m_P − m_Q‖² = Σ_j a_j |φ_P(j) − φ_Q(j)|², over the last axis."""
        return np.abs(one - other) ** 2 @ self.spectrum

    def kernel(self, differences: FloatArray, variance: float = 0.0) -> FloatArray:
        """Evaluate the kernel, smoothed by a random turn of this variance."""
        damped = self.spectrum * np.exp(-0.5 * self.orders**2 * variance)
        return np.cos(differences[..., None] * self.orders) @ damped


def theta_norm(variance: float) -> float:
    """‖θ‖ in H ⊗ H for a random turn by N(0, variance) on the circle.

    θ(x, x') = Σ_j a_j e^{−j²v} cos j(x − x'), and 1, cos jx, sin jx are orthogonal in H with squared norms 1/a_j, so
    ‖θ‖² = 1 + 2 Σ_{j≥1} e^{−2j²v} for every bandwidth.

    Examples
    --------
    >>> theta_norm(100.0), round(theta_norm(0.01), 3)
    (1.0, 3.54)
    """
    orders = np.arange(1, int(np.ceil(5.0 / np.sqrt(variance))) + 2)
    return float(np.sqrt(1.0 + 2.0 * np.sum(np.exp(-2.0 * orders**2 * variance))))
