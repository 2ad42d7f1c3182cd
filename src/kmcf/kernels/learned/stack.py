"""Several predictors of the same targets, combined by how well they predict examples they have not seen."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from kmcf.kernels.learned.inputs import pooled, with_magnitudes
from kmcf.kernels.learned.naive_bayes import NaiveBayes
from kmcf.kernels.learned.ridge import RidgeRegression
from kmcf.kernels.learned.trend_posterior import TrendPosterior
from kmcf.numerics.arrays import Array, FloatArray, array_namespace
from kmcf.support.estimators import clone

FEWEST_COLUMNS_TO_POOL = 3
MOST_COLUMNS_FOR_DENSITIES = 200
LARGEST_COEFFICIENT = 10.0
"""A larger one would blow up predictions that hardly vary, and with them what is chance in them."""
ROWS_AT_ONCE = 4096
"""Predictions are made in blocks, so that memory does not grow with their number times that of training examples."""


class Predictor(Protocol):
    """A fitted predictor of targets, with predictions for its training points made without having seen them."""

    out_of_sample: FloatArray

    def predict(self, z: FloatArray) -> FloatArray:
        """Predict the targets of new inputs."""
        ...


class Stack:
    """Predictors combined per target by non-negative least squares on their out-of-sample predictions."""

    def __init__(self, predictors: list[Predictor], targets: FloatArray) -> None:
        from scipy.optimize import nnls

        self._predictors = predictors
        found = [
            nnls(np.stack([predictor.out_of_sample[:, k] for predictor in predictors], axis=1), targets[:, k])[0]
            for k in range(targets.shape[1])
        ]
        self.coefficients = np.minimum(np.reshape(found, (targets.shape[1], len(predictors))), LARGEST_COEFFICIENT)
        """(K, number of predictors)"""
        self.out_of_sample = self._combined([predictor.out_of_sample for predictor in predictors])

    def predict(self, z: Array) -> Array:
        """Predict the targets of new inputs, for any array library that the predictors support."""
        blocks = [z[start : start + ROWS_AT_ONCE] for start in range(0, max(len(z), 1), ROWS_AT_ONCE)]
        parts = [self._combined([one.predict(block) for one in self._predictors]) for block in blocks]
        return parts[0] if len(parts) == 1 else array_namespace(z).concat(parts)

    def _combined(self, predictions: list[Array]) -> Array:
        total = predictions[0] * self.coefficients[:, 0]
        for k, part in enumerate(predictions[1:], start=1):
            total = total + part * self.coefficients[:, k]
        return total


class CrossFitted:
    """Any scikit-learn regressor: fitted on everything, and for the training points on the other folds.

    A regressor without a random state gets the one given here; one that predicts a single target is fitted per target.
    """

    def __init__(self, regressor: Any, z: FloatArray, targets: FloatArray, *, folds: int, random_state: int) -> None:
        from sklearn.model_selection import KFold

        self.out_of_sample = np.zeros_like(targets)
        splits = KFold(min(folds, len(z)), shuffle=True, random_state=random_state)
        for train, held_out in splits.split(z):
            fitted = _fitted(regressor, z[train], targets[train], random_state)
            self.out_of_sample[held_out] = np.reshape(fitted.predict(z[held_out]), (len(held_out), -1))
        self._regressor = _fitted(regressor, z, targets, random_state)

    def predict(self, z: FloatArray) -> FloatArray:
        """Predict the targets of new inputs."""
        return np.reshape(self._regressor.predict(z), (len(z), -1))


def _fitted(regressor: Any, z: FloatArray, targets: FloatArray, random_state: int) -> Any:
    from sklearn.multioutput import MultiOutputRegressor

    seeded = clone(regressor)
    unset = [name for name, value in seeded.get_params().items() if name.endswith("random_state") and value is None]
    if unset:
        seeded.set_params(**dict.fromkeys(unset, random_state))
    try:
        return clone(seeded).fit(z, targets)
    except ValueError:  # what regressors of a single target raise
        return MultiOutputRegressor(seeded).fit(z, targets)


def default_stack(z: FloatArray, targets: FloatArray, weights: FloatArray, states: FloatArray) -> Stack:
    """Return ridge regressions and naive-Bayes predictors, with and without pooling the columns, and that of trends."""
    predictors: list[Predictor] = [RidgeRegression(with_magnitudes).fit(z, targets, weights)]
    many = z.shape[1] >= FEWEST_COLUMNS_TO_POOL
    if many:
        predictors.append(RidgeRegression(pooled).fit(z, targets, weights))
    if z.shape[1] <= MOST_COLUMNS_FOR_DENSITIES:
        predictors.append(NaiveBayes(shared=False).fit(z, targets, weights, states))
        if many:
            predictors.append(NaiveBayes(shared=True).fit(z, targets, weights, states))
        predictors.append(TrendPosterior().fit(z, targets, weights, states))
    return Stack(predictors, targets)
