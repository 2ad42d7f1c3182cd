"""What the sensor would say, on average and give or take, where a filter predicts the state to be.

The mean of each column, given the state, is a kernel ridge regression of the examples with the filter's own kernel and
ε; the logarithm of its variance is another, of the logarithms of the squared residuals, so that it may vary by orders
of magnitude. Both are divided by the regression of 1, which is below one where examples are sparse; a state out of
reach of the examples gets the values of the nearest one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from kmcf.bayes_rule import Prior
from kmcf.bayes_rule.defaults import default_epsilon
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.numerics.linalg import cholesky
from kmcf.numerics.objects import evenly_spaced

MOST_EXAMPLES = 1500
"""More examples than this are represented by evenly spaced ones."""
LEAST_SHARE = 1e-6
"""No squared residual counts as less than this share of the column's variance."""
EDGE = 0.1
"""The outermost examples, on each side."""
IN_REACH = 0.5
"""Where the regression of 1 is below this, the nearest example stands in."""


class Moments(ABC):
    """Means and variances of the observation's columns."""

    @abstractmethod
    def at(self, states: Any) -> tuple[FloatArray, FloatArray]:
        """Return them at each of some states, (m, q) each."""

    def __call__(self, prior: Prior) -> tuple[FloatArray, FloatArray]:
        """Return the columns' means and variances under a distribution of the state, (q,) each."""
        means, variances = self.at(prior.states)
        mean = prior.weights @ means
        spread = prior.weights @ (variances + (means - mean) ** 2)
        return mean, np.maximum(spread, variances.min(axis=0))  # weights may be signed


@dataclass(frozen=True, eq=False)
class ObservationMoments(Moments):
    """Means and variances of the observation's columns, as functions of the state."""

    kernel: ExampleKernel
    coefficients: FloatArray
    """(n, 2q + 1), of the columns, the logarithms of their variances, and 1."""
    centre: FloatArray
    """(2q,), what the regressions are about."""
    at_examples: FloatArray
    """(n, 2q), the regressions at the examples."""

    @classmethod
    def of(cls, kernel: Any, states: FloatArray, observations: FloatArray, epsilon: float | None) -> Self:
        """Learn from examples without gaps, with a fitted kernel on states.

        Examples
        --------
        >>> from kmcf.bayes_rule import Sample
        >>> from kmcf.kernels import Gaussian
        >>> states = np.random.default_rng(0).normal(size=(300, 1))
        >>> seen = 2.0 * states + np.random.default_rng(1).normal(size=(300, 1))
        >>> moments = ObservationMoments.of(Gaussian(0.5).fit(states), states, seen, 1e-3)
        >>> mean, variance = moments(Sample(np.array([[0.5]]), np.ones(1)))
        >>> mean.round(0), bool(0.5 < variance[0] < 2.0)
        (array([1.]), True)
        """
        some = evenly_spaced(len(states), MOST_EXAMPLES)
        states, observations = states[some], observations[some]
        on_examples = kernel.on_examples(states)
        gram = on_examples.matrix()
        epsilon = default_epsilon(float(np.diagonal(gram).mean())) if epsilon is None else epsilon
        factor = cholesky(gram, shift=len(gram) * epsilon, name="G_X + n epsilon I", remedy="epsilon")
        ones = np.asarray(factor.solve(np.ones((len(gram), 1))))
        reach = gram @ ones
        centre = observations.mean(axis=0)
        means = np.asarray(factor.solve(observations - centre))
        squares = (observations - centre - gram @ means / reach) ** 2
        least = LEAST_SHARE * np.maximum(observations.var(axis=0), 1e-12)
        logs = np.log(np.maximum(squares, least))
        middle = logs.mean(axis=0)
        spreads = np.asarray(factor.solve(logs - middle))
        # The mean of a logarithm is not the logarithm of the mean: on average, residuals should be as large as told.
        middle = middle + np.log(np.mean(squares / np.exp(middle + gram @ spreads / reach), axis=0) + 1e-12)
        both = np.concatenate([means, spreads], axis=1)
        shift = np.concatenate([centre, middle])
        return cls(on_examples, np.concatenate([both, ones], axis=1), shift, shift + gram @ both / reach)

    @cached_property
    def range(self) -> tuple[FloatArray, FloatArray]:
        """Between which means, and logarithms of variances, all but the outermost tenths of the examples are, (2q,)."""
        low, high = np.quantile(self.at_examples, [EDGE, 1.0 - EDGE], axis=0)
        return low, high

    def inside(self, means: FloatArray, variances: FloatArray) -> BoolArray:
        """Say which predictions (T, q) are not at the examples' edge, where a filter cannot follow the state."""
        low, high = self.range
        width = len(low) // 2
        within = (means >= low[:width]) & (means <= high[:width])
        # Predictions are wider than single states: only too small a variance is at the edge by itself.
        return np.asarray(within & (np.log(variances) >= low[width:]))

    def at(self, states: Any) -> tuple[FloatArray, FloatArray]:
        """Return them at each of some states, (m, q) each."""
        similarities = self.kernel.against(states).T
        found = similarities @ self.coefficients
        reach = found[:, -1]
        inside = reach > IN_REACH
        values = self.centre + found[:, :-1] / np.where(inside, reach, 1.0)[:, None]
        values[~inside] = self.at_examples[similarities[~inside].argmax(axis=1)]
        means, logs = np.split(values, 2, axis=1)
        return means, np.exp(logs)
