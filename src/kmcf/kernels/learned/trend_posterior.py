"""A predictor from trends: observations that follow a trend over the states, with noise whose size follows another."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.kernels.distances import squared_euclidean
from kmcf.kernels.learned.places import representative, weighted
from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace
from kmcf.numerics.noisy_trends import NoisyTrend

FOLDS = 5
TEMPERS = (0.3, 0.5, 0.7, 1.0)
MOST_SCALED = 50.0
"""Inputs are used up to ± this (beyond, they were 10²¹ times as far from the centre as usual): squares stay finite."""


class TrendPosterior:
    r"""Average the targets over places in state space, weighted by a Gaussian density to the power τ.

    The density has the mean :math:`m(x)` and the variances :math:`s(x) v_j` of columns j, where m and log s are trends
    (:class:`~kmcf.numerics.noisy_trends.NoisyTrend`). A few numbers are learnt, so that few examples suffice; where
    they do not describe the observations, other predictors get the say. Training points are predicted from trends of
    the other four fifths; τ is chosen by the resulting error.
    """

    def fit(self, z: FloatArray, targets: FloatArray, weights: FloatArray, states: FloatArray) -> TrendPosterior:
        """Fit; ``out_of_sample`` then holds the cross-fitted predictions."""
        rows = _unscaled(z)
        chosen = representative(states)
        self._targets = targets[chosen] - targets[chosen].mean(axis=0)  # nothing is predicted where trends say nothing
        places = states[chosen]
        evidence = np.empty((len(z), len(chosen)))
        for held_out in _folds(np.hstack([states, z])):
            train = np.setdiff1d(np.arange(len(z)), held_out)
            self._describe(NoisyTrend.fit(states[train], rows[train]), places)
            evidence[held_out] = self._evidence(rows[held_out])
        best = np.inf
        for temper in TEMPERS:
            predictions = weighted(evidence, temper) @ self._targets
            error = float(np.mean(((predictions - targets) * weights) ** 2))
            if error < best:
                best, self._temper, self.out_of_sample = error, temper, predictions
        self._describe(NoisyTrend.fit(states, rows), places)
        return self

    def predict(self, z: Array) -> Array:
        """Predict the targets of new inputs."""
        return weighted(self._evidence(_unscaled(z)), self._temper) @ self._targets

    def to_store(self) -> dict[str, Any]:
        """Store what predictions need."""
        return {name: value for name, value in vars(self).items() if name != "out_of_sample"}

    def from_store(self, state: dict[str, Any]) -> None:
        """Fill a blank object from what a file holds."""
        self.__dict__.update(state)

    def _describe(self, model: NoisyTrend, places: FloatArray) -> None:
        """Keep what the model says at the places."""
        self._scale = np.sqrt(model.variances)
        self._means = model.mean(places) / self._scale
        self._log_squares = model.log_square(places)[:, 0]

    def _evidence(self, rows: Array) -> Array:
        """Return logarithms of the density at each place, up to a constant, (m, places)."""
        xp = array_namespace(rows)
        squares = squared_euclidean(rows / self._scale, xp.asarray(self._means))
        log_squares = xp.asarray(self._log_squares)
        return -0.5 * (squares * xp.exp(-log_squares) + rows.shape[1] * log_squares)


def _unscaled(z: Array) -> Array:
    """Undo the asinh of the inputs: trends and sizes of noise are those of the observations themselves."""
    xp = array_namespace(z)
    return xp.sinh(xp.clip(z, -MOST_SCALED, MOST_SCALED))


def _folds(rows: FloatArray) -> list[IntArray]:
    """Divide the rows at random, in a way that does not depend on their order."""
    order = np.lexsort(rows.T[::-1])
    return np.array_split(order[np.random.default_rng(0).permutation(len(rows))], FOLDS)
