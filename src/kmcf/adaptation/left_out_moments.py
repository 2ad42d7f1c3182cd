"""What the sensor shows at a state, as smooth as blocks of examples that were left out ask for.

Each column's mean is a constant or linear trend with a kernel ridge regression of what is left, with the filter's own
kernel on states; the logarithm of its variance is another, of the squared residuals *of examples left out*. How smooth
they are is chosen column by column: the smoothest whose squared errors on blocks left out are within a standard error
of the least. Residuals of the examples that a regression was fitted to would be too small, so that a change of scale
would be seen where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import eigh

from kmcf.adaptation.observation_moments import IN_REACH, LEAST_SHARE, Moments
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray, positive_or_one
from kmcf.numerics.linalg import cholesky
from kmcf.numerics.objects import evenly_spaced

MOST_EXAMPLES = 600
"""More examples than this are represented by evenly spaced ones."""
BLOCKS = 10
RIDGES = (np.inf, 1.0, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4)
"""The regularisers ε that are tried, the smoothest first; the first is the trend alone."""
DOUBT = 0.5
"""Beyond the examples the mean is known to this part of what the trend makes of the way there."""
REACH = 1e-3
"""The regulariser of the regression of 1, which says how far the examples reach."""


class Regression(NamedTuple):
    """A trend and a kernel ridge regression, by column."""

    trend: FloatArray
    """(1 + d, q)."""
    coefficients: FloatArray
    """(n, q)."""
    left: FloatArray
    """(n, q), the residuals of examples left out."""

    def at(self, features: FloatArray, similarities: FloatArray) -> FloatArray:
        """Return the values at states, given their features (m, 1 + d) and kernel values (m, n)."""
        return features @ self.trend + similarities @ self.coefficients


@dataclass(frozen=True, eq=False)
class LeftOutMoments(Moments):
    """Means and variances of the observation's columns, as functions of the state."""

    kernel: ExampleKernel
    centre: FloatArray
    unit: FloatArray
    """(d,), what states are measured in."""
    mean: Regression
    log_variance: Regression
    offset: FloatArray
    """(q,), by which logarithms of variances are larger: residuals are then as large as told, on average."""
    ones: FloatArray
    """(n,), the regression of 1."""
    at_examples: tuple[FloatArray, FloatArray]
    """Means and logarithms of variances, (n, q) each."""
    features: FloatArray
    """(n, 1 + d)."""

    @classmethod
    def of(cls, kernel: Any, states: FloatArray, observations: FloatArray) -> Self:
        """Learn from examples without gaps, in the order of time if they have one, with a fitted kernel on states.

        Examples
        --------
        >>> from kmcf.kernels import Gaussian
        >>> states = np.random.default_rng(0).normal(size=(300, 1))
        >>> seen = 2.0 * states + np.random.default_rng(1).normal(size=(300, 1))
        >>> moments = LeftOutMoments.of(Gaussian(0.5).fit(states), states, seen)
        >>> mean, variance = moments.at(np.array([[0.5]]))
        >>> mean.round(0), variance.round(0)
        (array([[1.]]), array([[1.]]))
        """
        some = evenly_spaced(len(states), MOST_EXAMPLES)
        states, observations = states[some], observations[some]
        on_examples = kernel.on_examples(states)
        gram = on_examples.matrix()
        centre, unit = states.mean(axis=0), states.std(axis=0)
        unit = positive_or_one(unit)
        features = features_of((states - centre) / unit)
        smoother = Smoother(gram, features)
        mean = smoother.fitted(observations)
        squares = mean.left**2
        least = LEAST_SHARE * np.maximum(observations.var(axis=0), 1e-12)
        logs = np.log(np.maximum(squares, least))
        log_variance = smoother.fitted(logs)
        expected = np.exp(logs - log_variance.left)
        offset = np.log(np.mean(squares / expected, axis=0) + 1e-12)
        factor = cholesky(gram, shift=len(gram) * REACH, name="G_X + n epsilon I", remedy="the kernel")
        known = mean.at(features, gram), log_variance.at(features, gram) + offset
        return cls(
            on_examples,
            centre,
            unit,
            mean,
            log_variance,
            offset,
            np.asarray(factor.solve(np.ones(len(gram)))),
            known,
            features,
        )

    def at(self, states: Any) -> tuple[FloatArray, FloatArray]:
        """Return means and variances at some states, (m, q) each.

        Out of reach, they go on from those of the nearest example along the trend, with doubt whether it does.
        """
        similarities = self.kernel.against(states).T
        features = features_of((np.asarray(states, dtype=np.float64) - self.centre) / self.unit)
        means = self.mean.at(features, similarities)
        logs = self.log_variance.at(features, similarities) + self.offset
        outside = similarities @ self.ones <= IN_REACH
        nearest = similarities[outside].argmax(axis=1)
        further = (features[outside] - self.features[nearest]) @ self.mean.trend
        means[outside], logs[outside] = self.at_examples[0][nearest] + further, self.at_examples[1][nearest]
        variances = np.exp(logs)
        variances[outside] += (DOUBT * further) ** 2
        return means, variances


def features_of(states: FloatArray) -> FloatArray:
    """Return 1 and the states' coordinates, (m, 1 + d)."""
    return np.concatenate([np.ones((len(states), 1)), states], axis=1)


class Smoother:
    """Regressions on the same examples; the Gram matrix is decomposed once."""

    def __init__(self, gram: FloatArray, features: FloatArray) -> None:
        values, self.vectors = eigh(gram)
        self.values = np.maximum(values, 0.0)
        self.features = features
        self.blocks = np.array_split(np.arange(len(gram)), min(BLOCKS, len(gram)))

    def fitted(self, targets: FloatArray) -> Regression:
        """Return the smoothest regression of each column (n, q) that is among the best on blocks left out."""
        tried = [self._tried(targets, linear, ridge) for ridge in RIDGES for linear in (True, False)]
        losses = np.stack([one.left**2 for one in tried])
        parts = np.stack([losses[:, block].mean(axis=1) for block in self.blocks], axis=1)  # (candidates, blocks, q)
        best = parts.mean(axis=1).argmin(axis=0)
        worse = parts - np.take_along_axis(parts, best[None, None], axis=0)
        error = worse.std(axis=1) / np.sqrt(len(self.blocks))
        chosen = (worse.mean(axis=1) <= error).argmax(axis=0)  # the first that is good enough
        columns = list(enumerate(chosen))
        return Regression(*(np.stack([tried[k][part][:, c] for c, k in columns], axis=1) for part in range(3)))

    def _tried(self, targets: FloatArray, linear: bool, ridge: float) -> Regression:
        features = self.features if linear else self.features[:, :1]
        trend = np.linalg.lstsq(features, targets, rcond=None)[0]
        rest = targets - features @ trend
        left = np.empty_like(rest)
        coefficients = np.zeros_like(rest)
        if np.isinf(ridge):
            for block in self.blocks:
                kept = np.delete(np.arange(len(targets)), block)
                left[block] = (
                    targets[block] - features[block] @ np.linalg.lstsq(features[kept], targets[kept], rcond=None)[0]
                )
        else:
            shifted = self.values + len(targets) * ridge
            inside = self.vectors.T @ rest
            coefficients = self.vectors @ (inside / shifted[:, None])
            residual = len(targets) * ridge * coefficients  # rest − H rest, with H the smoothing matrix
            for block in self.blocks:
                rows = self.vectors[block]
                kept_share = (rows * (len(targets) * ridge / shifted)) @ rows.T  # I − H, on the block
                left[block] = np.linalg.solve(kept_share, residual[block])
        padded = np.pad(trend, ((0, self.features.shape[1] - len(trend)), (0, 0)))
        return Regression(padded, coefficients, left)
