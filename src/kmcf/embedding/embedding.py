"""What can be read off a weighted sample, m̂ = Σ_i w_i k(·, X_i): moments, probabilities, densities (Section 4.4).

Weights sum to one and may be negative. Nothing here knows how the sample was obtained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kmcf.embedding import decoding
from kmcf.embedding.kernel_mean import KernelMean
from kmcf.embedding.mixture import GaussianMixture, fit_mixture
from kmcf.embedding.moments import weighted_covariance, weighted_mean
from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.numerics.circles import circular_mean, wrapped_columns, wrapped_difference
from kmcf.numerics.greedy import greedy_loop
from kmcf.numerics.objects import Objects, describe, is_numeric, take

MOST_CANDIDATES = 4000

Region = Callable[[Any], Any] | tuple[Any, Any]


class Embedding(KernelMean):
    """An empirical kernel mean Σ w_i k(·, X_i).

    Parameters
    ----------
    states : array (n, ...) or list of n objects
        The sample X.
    weights : array (n,) or LazyWeights
        The weights w; they sum to one and may be negative.
    kernel : Kernel, optional
        The (fitted) kernel on states. Needed for distances, pre-images and herded samples only.
    angles : sequence of int
        Columns of the states that are angles in radians; means, covariances and distances are circular there.

    Examples
    --------
    >>> belief = Embedding(np.array([[0.0], [1.0], [2.0]]), np.array([0.25, 0.5, 0.25]))
    >>> belief.mean(), belief.covariance(), float(belief.probability(lambda x: x[:, 0] > 0.5))
    (array([1.]), array([[0.5]]), 0.75)
    """

    def mean(self) -> FloatArray:
        """Posterior mean Σ w_i X_i, circular in the angle columns."""
        known = None if self.source is None else self.source.mean()
        flat = weighted_mean(self._rows(), self.weights, self.angles) if known is None else known
        return flat.reshape(self.states.shape[1:])

    def covariance(self, psd: bool = False) -> FloatArray:
        """Centred covariance Σ w_i (X_i − mean)(X_i − mean)ᵀ of the flattened state, (d, d).

        Signed weights can make it indefinite; it is returned as computed unless ``psd`` asks for the nearest positive
        semi-definite matrix (negative eigenvalues set to zero).
        """
        known = None if self.source is None else self.source.covariance()
        covariance = known
        if covariance is None:
            covariance = weighted_covariance(self._rows(), self.weights, np.ravel(self.mean()), self.angles)
        if not psd:
            return covariance
        values, vectors = np.linalg.eigh(covariance)
        return (vectors * np.maximum(values, 0.0)) @ vectors.T

    def scatter(self) -> FloatArray:
        """Return a covariance that is always positive semi-definite, (d, d): that of the truncated weights.

        Negative weights are set to zero, and the others are normalised. Small weights of both signs far away, which
        make :meth:`covariance` noisy and sometimes negative, only widen it a little: the one to draw ellipses with.
        """
        positive = np.maximum(self.weights, 0.0)
        positive = positive / positive.sum()
        rows = self._rows()
        return weighted_covariance(rows, positive, weighted_mean(rows, positive, self.angles), self.angles)

    def second_moment(self) -> FloatArray:
        """Uncentred second moment Σ w_i X_i X_iᵀ of the flattened state, (d, d): the paper's "covariance"."""
        rows = self._rows()
        moment: FloatArray = (rows * self.weights[:, None]).T @ rows
        return 0.5 * (moment + moment.T)

    def expectation(self, function: Callable[[Any], Any]) -> FloatArray:
        """Return the expectation Σ w_i f(X_i).

        Parameters
        ----------
        function : callable
            Takes all n states at once, returns an array whose first axis has length n.
        """
        known = None if self.source is None else self.source.expectation(function)
        if known is not None:
            return known
        if not callable(function):
            raise TypeError(f"expectation takes a function of the states, not {function!r}.")
        values = np.asarray(function(self.states), dtype=np.float64)
        if values.ndim == 0 or values.shape[0] != len(self.weights):
            raise ValueError(
                f"the function must return one value per state: an array whose first axis has length "
                f"{len(self.weights)}, not shape {values.shape}."
            )
        return np.tensordot(self.weights, values, axes=1)

    def probability(self, region: Region) -> float:
        """Probability of a region, Σ w_i 1[X_i ∈ A]; as computed, so signed weights may leave [0, 1].

        Parameters
        ----------
        region : callable or pair
            A function of all n states that returns n booleans, or a box ``(lower, upper)`` with scalars or one bound
            per coordinate.
        """
        return float(self.weights @ self._inside(region))

    def mode(self, method: str = "weight", bandwidth: float | FloatArray | None = None) -> Any:
        """Most probable state.

        Parameters
        ----------
        method : {"weight", "density"}
            "weight": the state with the largest weight (Section 4.4); where several share it, as all particles do after
            a missing observation, the one of them where the smoothed density is largest. "density": maximiser of the
            smoothed density.
        bandwidth : float or array (d,), optional
            Smoothing of the density.
        """
        if method == "weight":
            return self.states[decoding.heaviest_state(self)]
        if method == "density":
            best = decoding.density_mode(self._rows(), self.weights, bandwidth, self.angles)
            best[list(self.angles)] = wrapped_difference(best[list(self.angles)])
            return best.reshape(self.states.shape[1:])
        raise ValueError(f"method = {method!r}; it must be 'weight' or 'density'.")

    def density(self, points: Any, bandwidth: float | FloatArray | None = None) -> FloatArray:
        """Density Σ w_i J_h(x − X_i) at some points, with a Gaussian smoothing kernel J_h (Section 4.4).

        Parameters
        ----------
        points : array (m, d) or (m,)
            Where to evaluate the density.
        bandwidth : float or array (d,), optional
            h. None: a rule of thumb from the spread and the effective sample size.
        """
        rows = self._rows()
        where = np.asarray(points, dtype=np.float64)
        if where.ndim <= 1 and rows.shape[1] == 1:
            where = where.reshape(-1, 1)
        where = where.reshape(-1, rows.shape[1]) if where.shape == self.states.shape[1:] else where
        if where.ndim == 0 or where.reshape(where.shape[0], -1).shape[1] != rows.shape[1]:
            raise ValueError(f"points of shape {where.shape} do not match states with {rows.shape[1]} columns.")
        return decoding.density(where.reshape(where.shape[0], -1), rows, self.weights, bandwidth, self.angles)

    def quantile(self, q: float | Sequence[float] | FloatArray) -> Any:
        """Quantiles of each coordinate.

        For one-dimensional states the result has the shape of ``q``; otherwise it has one more axis, of length d, with
        the quantiles of each coordinate's marginal. Angles are unrolled around their circular mean.
        """
        levels = np.asarray(q, dtype=np.float64)
        if not np.all((levels >= 0) & (levels <= 1)):
            raise ValueError(f"q = {q!r}; quantile levels lie between 0 and 1.")
        rows = self._rows().copy()
        for j in self.angles:
            centre = circular_mean(rows[:, j], self.weights)
            rows[:, j] = centre + wrapped_difference(rows[:, j] - centre)
        columns = [decoding.quantile(column, self.weights, levels) for column in rows.T]
        if len(columns) == 1:
            return float(columns[0]) if levels.ndim == 0 else columns[0]
        return np.stack(columns, axis=-1)

    def interval(self, level: float = 0.95) -> FloatArray:
        """Return the central credible interval of each coordinate, lower and upper bounds, (2, d).

        Read off the quantiles, it is better calibrated than the signed covariance, whose noise from small weights far
        away can even make variances negative.
        """
        return np.reshape(self.quantile([0.5 - 0.5 * level, 0.5 + 0.5 * level]), (2, -1))

    def preimage(self) -> Any:
        """Return the state whose feature is closest to the embedding, argmin_x ‖k(·, x) − m̂‖.

        Gaussian kernels: fixed-point iteration from the best state of the sample. Other kernels: the best state itself.
        """
        return decoding.preimage(self)

    def mixture(self, components: int, random_state: int = 0) -> GaussianMixture:
        """Fit a mixture of Gaussians whose kernel mean is closest to the embedding (Section 4.4, other methods).

        For Gaussian kernels on vectors. The result has ``weights``, ``means``, ``deviations`` (diagonal covariances),
        ``density(points)`` and the RKHS ``distance`` that remains.

        Parameters
        ----------
        components : int
            How many Gaussians.
        random_state : int
            Seed of the starting points.
        """
        return fit_mixture(self, components, random_state)

    def sample(self, size: int, random_state: Any = 0) -> Objects:
        """Pseudo-samples by Kernel Herding (Section 3.5): ``size`` states of the sample, with repetitions.

        Candidates are all states, or the 4000 with the largest absolute weights.

        The picks are deterministic; ``random_state`` only shuffles their order, because herding goes from coarse to
        fine and the first few picks alone would not be a fair sample.
        """
        if not isinstance(size, int | np.integer) or size < 1:
            raise ValueError(f"size = {size!r}; it must be a positive integer.")
        candidates = self.heaviest(MOST_CANDIDATES)
        points = take(self.states, candidates)
        gram = np.asarray(self.kernel_or_error()(points), dtype=np.float64)
        picks, _ = greedy_loop()(self.evaluate(points), gram, int(size))
        return take(self.states, np.random.default_rng(random_state).permutation(candidates[picks]))

    def deviations(self, centre: FloatArray) -> FloatArray:
        """Return the flattened states minus a state, (n, d), wrapped to (−π, π] in the angle columns."""
        return wrapped_columns(self._rows() - np.ravel(centre), self.angles)

    def _rows(self) -> FloatArray:
        if not is_numeric(self.states):
            raise TypeError(
                f"the states are {describe(self.states)}, for which no mean, covariance, density or quantile is "
                "defined; use mode(), probability(), expectation() or sample()."
            )
        return np.asarray(self.states, dtype=np.float64).reshape(len(self.states), -1)

    def _inside(self, region: Region) -> BoolArray:
        if callable(region):
            inside = np.asarray(region(self.states))
            if inside.shape != (len(self.states),) or not np.isin(inside, (0, 1)).all():
                raise ValueError(
                    f"the region must return one boolean per state, shape {(len(self.states),)}, but returned an "
                    f"array of shape {inside.shape} and type {inside.dtype}."
                )
            return inside.astype(bool)
        if not isinstance(region, tuple | list) or len(region) != 2:
            raise TypeError("a region is a function of the states that returns booleans, or a box (lower, upper).")
        rows = self._rows()
        lower, upper = np.ravel(region[0]), np.ravel(region[1])
        if not {lower.size, upper.size} <= {1, rows.shape[1]}:
            raise ValueError(
                f"a box of {lower.size} lower and {upper.size} upper bounds does not match states with "
                f"{rows.shape[1]} columns; give scalars, or one bound per column."
            )
        return np.all((rows >= lower) & (rows <= upper), axis=1)
