"""A naive-Bayes predictor: conditional densities of single observation columns, multiplied and tempered."""

from __future__ import annotations

import numpy as np

from kmcf.kernels.distances import squared_euclidean
from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace

BINS = 128
PLACES = 60
STATE_WIDTHS = (0.1, 0.2, 0.4)
COLUMN_WIDTHS = (0.1, 0.2, 0.4)
TEMPERS = (0.3, 0.5, 0.7, 1.0)
FLOOR = 1e-3


class NaiveBayes:
    r"""Average the targets over places in state space, weighted by :math:`\prod_j (p(z_j \mid x_g) / p(z_j))^\tau`.

    The densities are Nadaraya–Watson estimates on a grid of z: for each place x_g a histogram of column j, weighted by
    the examples' closeness to x_g and smoothed. Training points are left out of their own densities. Widths and the
    temper τ are chosen by the resulting error.

    Parameters
    ----------
    shared : bool
        One density for all columns (many sensors of one kind) instead of one each.
    """

    def __init__(self, *, shared: bool) -> None:
        self._shared = shared

    def fit(self, z: FloatArray, targets: FloatArray, weights: FloatArray, states: FloatArray) -> NaiveBayes:
        """Fit; ``out_of_sample`` then holds the leave-one-out predictions."""
        n = len(z)
        spread = states.std(axis=0)
        rows = (states - states.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        places = _places(rows)
        self._targets = targets[places]
        scale = z.std(axis=0)
        self._scale = np.where(scale > 0, scale, 1.0)
        scaled = z / self._scale
        self._edges = float(scaled.min()), float(scaled.max())
        bins = self._bins(z)
        self._per = z.shape[1] if self._shared else 1  # numbers of one example that enter one density
        distances = squared_euclidean(rows[places], rows)
        best = np.inf
        for state_width in STATE_WIDTHS:
            closeness = np.exp(-0.5 * distances / state_width**2)
            for column_width in COLUMN_WIDTHS:
                conditional, marginal = self._smoothed(bins, closeness, column_width)
                evidence = self._evidence_left_out(bins, closeness, conditional, marginal, column_width)
                for temper in TEMPERS:
                    predictions = _weighted(evidence, temper) @ self._targets
                    error = float(np.mean(((predictions - targets) * weights) ** 2))
                    if error < best:
                        best, self.out_of_sample, self._temper = error, predictions, temper
                        total = closeness.sum(axis=1)[:, None]
                        self._log_ratio = _log_ratio(
                            conditional / self._per, total, marginal[:, None] / (n * self._per)
                        )
        return self

    def predict(self, z: Array) -> Array:
        """Predict the targets of new inputs."""
        bins, log_ratio = self._bins(z), array_namespace(z).asarray(self._log_ratio)
        evidence = sum(log_ratio[0 if self._shared else j][:, bins[:, j]] for j in range(z.shape[1]))
        return _weighted(evidence.T, self._temper) @ self._targets

    def _bins(self, z: Array) -> Array:
        low, high = self._edges
        xp = array_namespace(z)
        position = (z / self._scale - low) / max(high - low, 1e-12) * (BINS - 1)
        return xp.clip(xp.rint(position), 0, BINS - 1).astype(np.intp)

    def _smoother(self, width: float) -> FloatArray:
        grid = np.linspace(*self._edges, BINS)
        return np.exp(-0.5 * ((grid[:, None] - grid[None, :]) / width) ** 2)

    def _smoothed(self, bins: IntArray, closeness: FloatArray, width: float) -> tuple[FloatArray, FloatArray]:
        """Return smoothed histograms weighted by closeness to each place, (densities, places, bins), and unweighted."""
        columns = [np.eye(BINS)[bins[:, j]] for j in range(bins.shape[1])]
        if self._shared:
            columns = [np.sum(columns, axis=0)]
        smoother = self._smoother(width)
        conditional = np.stack([closeness @ column for column in columns]) @ smoother
        marginal = np.stack([column.sum(axis=0) for column in columns]) @ smoother
        return conditional, marginal

    def _evidence_left_out(
        self, bins: IntArray, closeness: FloatArray, conditional: FloatArray, marginal: FloatArray, width: float
    ) -> FloatArray:
        """Return Σ_j log p(z_j | x_g) / p(z_j) for every example, left out of the densities, (n, places)."""
        n, d = bins.shape
        total = closeness.sum(axis=1)[:, None] - closeness
        smoother = self._smoother(width)
        evidence = np.zeros((n, closeness.shape[0]))
        for j in range(d):
            k = 0 if self._shared else j
            own = smoother[bins[:, j, None], bins].sum(axis=1) if self._shared else np.ones(n)
            numerator = (conditional[k][:, bins[:, j]] - closeness * own) / self._per
            overall = (marginal[k][bins[:, j]] - own) / ((n - 1) * self._per)
            evidence += _log_ratio(numerator, total, overall[None, :]).T
        return evidence


def _places(rows: FloatArray) -> IntArray:
    """Choose examples that represent the states: quantiles in one dimension, a fixed random draw otherwise."""
    count = min(PLACES, len(rows))
    if rows.shape[1] == 1:
        quantiles = ((np.arange(count) + 0.5) / count * len(rows)).astype(np.intp)
        return np.argsort(rows[:, 0], kind="stable")[quantiles]
    order = np.lexsort(rows.T[::-1])
    return order[np.random.default_rng(0).choice(len(rows), min(4 * count, len(rows)), replace=False)]


def _log_ratio(numerator: FloatArray, total: FloatArray, marginal: FloatArray) -> FloatArray:
    """Return log p(z | x_g) / p(z); where no example is close, the conditional density falls back to the marginal."""
    marginal = np.maximum(marginal, 1e-12)
    density = (np.maximum(numerator, 0.0) + FLOOR * marginal) / (np.maximum(total, 0.0) + FLOOR)
    return np.log(np.maximum(density, 1e-15)) - np.log(marginal)


def _weighted(evidence: Array, temper: float) -> Array:
    scores = temper * evidence
    weights = array_namespace(scores).exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
