"""Poisson rates learnt from examples of counts, and which states a vector of counts speaks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kmcf.kernels.distances import squared_euclidean
from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace, positive_or_one
from kmcf.numerics.circles import on_circles
from kmcf.numerics.objects import evenly_spaced

PLACES = 150
WIDTHS = (0.05, 0.08, 0.12, 0.2, 0.3, 0.5)
"""Widths of the smoothing over states that are tried, in standard deviations of the states."""
TEMPERS = (0.25, 0.35, 0.5, 0.7, 1.0)
FOLDS = 10
"""Successive examples are left out together: neighbours in time resemble each other more than what is to come."""
PRIOR_EXAMPLES = 1.0
"""The overall mean counts as so many examples at every place, so that no rate is zero."""


class CountInputs:
    """Counts, clipped to the range of the examples: an extreme count is treated like the most extreme example."""

    def __init__(self, rows: FloatArray) -> None:
        self.largest = rows.max(axis=0)

    def __call__(self, rows: Array) -> Array:
        """Return the counts, (n, d)."""
        return array_namespace(rows).clip(rows, 0.0, self.largest)


class PoissonProfile:
    r"""Square roots of a tempered posterior over places: :math:`s_g(y)^2 \propto \prod_j p(y_j \mid x_g)^\tau`.

    The counts are taken to be Poisson and independent given the state, with rates :math:`\lambda_j(x)` that are the
    examples' counts smoothed over the states. The width of the smoothing is the one under which left-out examples are
    most probable, the temper τ the one under which their states are. Training points have rates from other parts of
    the training sequence.

    Parameters
    ----------
    counts : array (n, d)
        The training observations.
    states : array (n, k)
        Their states.
    angles : sequence of int
        State columns that are angles in radians.

    Examples
    --------
    >>> places = np.linspace(0.0, 1.0, 60)[:, None]
    >>> counts = np.random.default_rng(0).poisson(np.hstack([9.0 * places, 9.0 * (1.0 - places)])).astype(float)
    >>> profile = PoissonProfile(counts, places)
    >>> posterior = profile.predict(np.array([[0.0, 9.0], [9.0, 0.0]])) ** 2
    >>> posterior.sum(axis=1).round(6), (posterior @ profile.places).round(1).ravel().tolist()
    (array([1., 1.]), [-1.2, 1.3])
    """

    def __init__(self, counts: FloatArray, states: FloatArray, angles: Sequence[int] = ()) -> None:
        rows = on_circles(states, angles)
        spread = rows.std(axis=0)
        rows = (rows - rows.mean(axis=0)) / positive_or_one(spread)
        chosen = evenly_spaced(len(rows), PLACES)
        self.places = rows[chosen]
        """Some of the training states, standardised."""
        folds = np.array_split(np.arange(len(rows)), min(FOLDS, len(rows)))
        self.width = _best_width(counts, rows, folds)
        closeness = _closeness(self.places, rows, self.width)
        rates = _rates(closeness, counts)
        self._log_rates, self._total_rates = np.log(rates), rates.sum(axis=1)
        logs = _logs_left_out(counts, closeness, folds)
        scores = [_log_score(logs, temper, closeness) for temper in TEMPERS]
        self.temper = TEMPERS[int(np.argmax(scores))]
        self.out_of_sample = _roots(logs, self.temper)

    def predict(self, counts: Array) -> Array:
        """Return the square roots of the tempered posterior over the places, (n, places)."""
        xp = array_namespace(counts)
        return _roots(counts @ xp.asarray(self._log_rates).T - xp.asarray(self._total_rates), self.temper)


def _closeness(places: FloatArray, rows: FloatArray, width: float) -> FloatArray:
    return np.asarray(np.exp(-0.5 * squared_euclidean(places, rows) / width**2))


def _rates(closeness: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the smoothed counts at each place, (places, d)."""
    # A unit that was silent in all examples may speak one day.
    overall = np.maximum(counts.mean(axis=0), 0.5 / len(counts))
    sums = closeness @ counts + PRIOR_EXAMPLES * overall
    return np.asarray(sums / (closeness.sum(axis=1) + PRIOR_EXAMPLES)[:, None])


def _best_width(counts: FloatArray, rows: FloatArray, folds: list[IntArray]) -> float:
    """Return the width under whose rates the examples of every fold, left out, are most probable."""
    scores = np.zeros(len(WIDTHS))
    for fold, others in _splits(folds):
        for k, width in enumerate(WIDTHS):
            rates = _rates(_closeness(rows[fold], rows[others], width), counts[others])
            scores[k] += float(np.sum(counts[fold] * np.log(rates) - rates))
    return WIDTHS[int(np.argmax(scores))]


def _logs_left_out(counts: FloatArray, closeness: FloatArray, folds: list[IntArray]) -> FloatArray:
    """Return the log-likelihood of every place for every example, with rates from the other folds, (n, places)."""
    logs = np.empty((len(counts), len(closeness)))
    for fold, others in _splits(folds):
        rates = _rates(closeness[:, others], counts[others])
        logs[fold] = counts[fold] @ np.log(rates).T - rates.sum(axis=1)
    return logs


def _splits(folds: list[IntArray]) -> Iterator[tuple[IntArray, IntArray]]:
    for k, fold in enumerate(folds):
        yield fold, np.concatenate(folds[:k] + folds[k + 1 :])


def _log_score(logs: FloatArray, temper: float, closeness: FloatArray) -> float:
    """Return the mean log density of the examples' own states under their tempered posteriors."""
    posterior = _roots(logs, temper) ** 2
    return float(np.mean(np.log(np.einsum("ig,gi->i", posterior, closeness) + 1e-12)))


def _roots(logs: Array, temper: float) -> Array:
    xp = array_namespace(logs)
    roots = xp.exp(0.5 * temper * (logs - logs.max(axis=1, keepdims=True)))
    return roots / xp.sqrt((roots**2).sum(axis=1, keepdims=True))
