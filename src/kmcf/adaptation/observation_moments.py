"""What the sensor would say, on average and give or take, where a filter predicts the state to be.

Mean and variance of each column, given the state, are kernel ridge regressions of the examples with the filter's own
kernel and ε: with λ the weights of a prior on the examples they are Σ λ_i Y_i and Σ λ_i Y_i² − (Σ λ_i Y_i)².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kmcf.bayes_rule import Prior
from kmcf.bayes_rule.defaults import default_epsilon
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.linalg import cholesky

MOST_EXAMPLES = 1500
"""More examples than this are represented by evenly spaced ones."""
LEAST_VARIANCE = 0.05
"""No variance counts as less than this share of the average one."""


@dataclass(frozen=True, eq=False)
class ObservationMoments:
    """Means and variances of the observation's columns, as functions of the state."""

    kernel: ExampleKernel
    coefficients: FloatArray
    """(n, 2q), of the columns and their squares."""
    centre: FloatArray
    least: FloatArray

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
        some = np.unique(np.linspace(0, len(states) - 1, min(len(states), MOST_EXAMPLES)).astype(np.intp))
        states, observations = states[some], observations[some]
        on_examples = kernel.on_examples(states)
        gram = on_examples.matrix()
        epsilon = default_epsilon(float(np.diagonal(gram).mean())) if epsilon is None else epsilon
        centre = observations.mean(axis=0)
        rows = observations - centre
        factor = cholesky(gram, shift=len(gram) * epsilon, name="G_X + n epsilon I", remedy="epsilon")
        coefficients = np.asarray(factor.solve(np.concatenate([rows, rows**2], axis=1)))
        mean, squares = np.split(gram @ coefficients, 2, axis=1)
        variances = np.maximum(squares - mean**2, 0.0)
        least = np.maximum(LEAST_VARIANCE * variances.mean(axis=0), 1e-9 * np.maximum(rows.var(axis=0), 1e-12))
        return cls(on_examples, coefficients, centre, least)

    def __call__(self, prior: Prior) -> tuple[FloatArray, FloatArray]:
        """Return the columns' means and variances under a distribution of the state, (q,) each."""
        mean, squares = np.split((self.kernel.against(prior.states) @ prior.weights) @ self.coefficients, 2)
        return self.centre + mean, np.maximum(squares - mean**2, self.least)

    def at(self, states: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return them at each of some states, (m, q) each."""
        mean, squares = np.split(self.kernel.against(states).T @ self.coefficients, 2, axis=1)
        return self.centre + mean, np.maximum(squares - mean**2, self.least)
