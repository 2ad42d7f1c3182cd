"""A naive-Bayes predictor: conditional densities of single observation columns, multiplied and tempered."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from kmcf.kernels.distances import squared_euclidean
from kmcf.kernels.learned.inputs import compared
from kmcf.kernels.learned.places import representative, weighted
from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace, positive_or_one

BINS = 128
STATE_WIDTHS = (0.1, 0.2, 0.4)
COLUMN_WIDTHS = (0.1, 0.2, 0.4)
TEMPERS = (0.3, 0.5, 0.7, 1.0)
FLOOR, LEAST_DENSITY = 1e-3, 1e-15
ROWS_AT_ONCE, FACTORS_AT_ONCE = 128, 8
"""Densities are multiplied for so many examples at once, which fit the cache, and so many columns before a logarithm
is taken, which cannot underflow."""
GATHERED = 1_000_000
"""Predictions look up so many numbers at once."""


class Densities(NamedTuple):
    """Smoothed histograms of all examples."""

    conditional: FloatArray
    """Weighted by closeness to each place, (densities, bins, places)."""
    marginal: FloatArray
    """Unweighted, (densities, bins)."""
    smoother: FloatArray
    """What one example adds to each bin, (bins, bins)."""


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
        rows = (states - states.mean(axis=0)) / positive_or_one(spread)
        places = representative(rows)
        self._targets = targets[places]
        scale = z.std(axis=0)
        self._scale = positive_or_one(scale)
        scaled = z / self._scale
        self._edges = float(scaled.min()), float(scaled.max())
        bins = self._bins(z)
        per = z.shape[1] if self._shared else 1  # numbers of one example that enter one density
        hits = _hits(bins, self._shared)
        distances = squared_euclidean(rows, rows[places])
        some, everything = compared(np.hstack([rows, z])), np.arange(n)
        best = np.inf
        for state_width in STATE_WIDTHS:
            closeness = np.exp(-0.5 * distances / state_width**2)
            histograms = (hits.T @ closeness).reshape(-1, BINS, len(places))
            for column_width in COLUMN_WIDTHS:
                densities = self._densities(histograms, hits, column_width)
                evidence = self._evidence_left_out(bins, closeness, densities, some)
                for temper in TEMPERS:
                    predictions = weighted(evidence, temper) @ self._targets
                    error = float(np.mean(((predictions - targets[some]) * weights) ** 2))
                    if error < best:
                        best, self._temper, chosen = error, temper, (closeness, densities)
        closeness, densities = chosen
        evidence = self._evidence_left_out(bins, closeness, densities, everything)
        self.out_of_sample = weighted(evidence, self._temper) @ self._targets
        marginal = densities.marginal[:, :, None] / (n * per)
        self._table = _log_ratio(densities.conditional / per, closeness.sum(axis=0), marginal).astype(np.float32)
        return self

    def predict(self, z: Array) -> Array:
        """Predict the targets of new inputs."""
        xp = array_namespace(z)
        bins, table = self._bins(z), xp.asarray(self._table)
        density = np.zeros(z.shape[1], dtype=np.intp) if self._shared else np.arange(z.shape[1])
        if bins.size * table.shape[2] <= GATHERED:
            evidence = xp.sum(table[density, bins], axis=1, dtype=z.dtype)
        else:
            evidence = sum(table[density[j]][bins[:, j]].astype(z.dtype) for j in range(z.shape[1]))
        return weighted(evidence, self._temper) @ self._targets

    def _bins(self, z: Array) -> Array:
        low, high = self._edges
        xp = array_namespace(z)
        position = (z / self._scale - low) / max(high - low, 1e-12) * (BINS - 1)
        return xp.clip(xp.rint(position), 0, BINS - 1).astype(np.intp)

    def _smoother(self, width: float) -> FloatArray:
        grid = np.linspace(*self._edges, BINS)
        return np.exp(-0.5 * ((grid[:, None] - grid[None, :]) / width) ** 2)

    def _densities(self, histograms: FloatArray, hits: csr_array, width: float) -> Densities:
        smoother = self._smoother(width)
        return Densities(smoother @ histograms, hits.sum(axis=0).reshape(-1, BINS) @ smoother, smoother)

    def _evidence_left_out(
        self, all_bins: IntArray, all_closeness: FloatArray, densities: Densities, rows: IntArray
    ) -> FloatArray:
        """Return Σ_j log p(z_j | x_g) / p(z_j) for some examples, each left out of the densities, (rows, places)."""
        n, d = all_bins.shape
        bins, closeness = all_bins[rows], all_closeness[rows]
        own, per = np.ones(bins.shape), 1
        if self._shared:
            counts = _hits(bins, shared=True).toarray()
            own, per = np.take_along_axis(counts @ densities.smoother, bins, axis=1), d
        density = np.zeros(d, dtype=np.intp) if self._shared else np.arange(d)
        overall = np.maximum((densities.marginal[density, bins] - own) / ((n - 1) * per), 1e-12)
        inverse = 1.0 / (per * (np.maximum(all_closeness.sum(axis=0) - closeness, 0.0) + FLOOR))
        floor = FLOOR * per * overall
        evidence = np.empty_like(closeness)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            evidence[part] = -np.log(overall[part]).sum(axis=1)[:, None]
            product = np.ones_like(closeness[part])
            for j in range(d):
                factor = densities.conditional[density[j]][bins[part, j]]
                factor -= closeness[part] * own[part, j, None]
                np.maximum(factor, 0.0, out=factor)
                factor += floor[part, j, None]
                factor *= inverse[part]
                product *= np.maximum(factor, LEAST_DENSITY, out=factor)
                if j % FACTORS_AT_ONCE == FACTORS_AT_ONCE - 1 or j == d - 1:
                    evidence[part] += np.log(product)
                    product.fill(1.0)
        return evidence

    def to_store(self) -> dict[str, Any]:
        """Store what predictions need."""
        return {name: value for name, value in vars(self).items() if name != "out_of_sample"}

    def from_store(self, state: dict[str, Any]) -> None:
        """Fill a blank object from what a file holds; earlier versions had the table in another order."""
        self.__dict__.update(state)
        if "_log_ratio" in state:
            self._table = np.ascontiguousarray(np.swapaxes(self.__dict__.pop("_log_ratio"), 1, 2))


def _hits(bins: IntArray, shared: bool) -> csr_array:
    """Return how often each example falls into each bin of each density, (n, densities · bins)."""
    n, d = bins.shape
    columns = bins if shared else bins + BINS * np.arange(d)
    shape = n, BINS if shared else BINS * d
    return csr_array((np.ones(n * d), columns.ravel(), np.arange(0, n * d + 1, d)), shape=shape)


def _log_ratio(numerator: FloatArray, total: FloatArray, marginal: FloatArray) -> FloatArray:
    """Return log p(z | x_g) / p(z); where no example is close, the conditional density falls back to the marginal."""
    marginal = np.maximum(marginal, 1e-12)
    density = (np.maximum(numerator, 0.0) + FLOOR * marginal) / (np.maximum(total, 0.0) + FLOOR)
    return np.log(np.maximum(density, LEAST_DENSITY)) - np.log(marginal)
