"""A weighted sample as an element of the RKHS, m̂ = Σ_i w_i k(·, X_i): its value anywhere, its norm, distances.

Weights sum to one and may be negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from kmcf.embedding.lazy_weights import LazyWeights
from kmcf.kernels import Kernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects

BLOCK_NUMBERS = 4_000_000


class KernelMean:
    """An empirical kernel mean Σ w_i k(·, X_i) as a point of the RKHS.

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
    >>> from kmcf.kernels import Gaussian
    >>> mean = KernelMean(np.array([[0.0], [2.0]]), np.array([0.5, 0.5]), Gaussian(1.0))
    >>> mean.evaluate(np.array([[0.0]])).round(4), round(mean.squared_norm(), 4), mean.distance(mean)
    (array([0.5677]), 0.5677, 0.0)
    """

    def __init__(
        self,
        states: Objects,
        weights: FloatArray | LazyWeights,
        kernel: Kernel | None = None,
        angles: Sequence[int] = (),
    ) -> None:
        self._states = states
        self._source: LazyWeights | None = None
        self._weights: FloatArray | None = None
        if isinstance(weights, LazyWeights):
            self._source = weights
            self._weights = weights.weights() if weights.formed else None
        else:
            self._weights = np.asarray(weights, dtype=np.float64)
            if self._weights.shape != (len(states),):
                raise ValueError(
                    f"{len(states)} states but {self._weights.size} weights, of shape {self._weights.shape}."
                )
        self._kernel = kernel
        self._angles = tuple(angles)

    @property
    def states(self) -> Objects:
        """The sample X, an array (n, ...) or a list of n objects."""
        return self._states

    @property
    def weights(self) -> FloatArray:
        """The weights w, (n,); they sum to one and may be negative."""
        if self._weights is None:
            assert self._source is not None
            self._weights = self._source.weights()
            self._weights.flags.writeable = False
        return self._weights

    @property
    def source(self) -> LazyWeights | None:
        """Where the weights come from, and what is known without them; None where they were given as numbers."""
        return self._source

    @property
    def unformed(self) -> bool:
        """Whether asking for the weights would form them now."""
        return self._weights is None

    @property
    def kernel(self) -> Kernel | None:
        """The kernel on states."""
        return self._kernel

    @property
    def angles(self) -> tuple[int, ...]:
        """Columns of the states that are angles in radians."""
        return self._angles

    @property
    def ess(self) -> float:
        """Effective sample size, 1 / Σ w² (Section 5.1)."""
        known = self.source.sum_of_squares() if self.source is not None and self.unformed else None
        return float(1.0 / (np.sum(self.weights**2) if known is None else known))

    @property
    def negative_mass(self) -> float:
        """The total of the negative weights, as a positive number."""
        return float(0.0 - np.minimum(self.weights, 0.0).sum())  # zero without a sign

    def evaluate(self, points: Objects) -> FloatArray:
        """Evaluate the kernel mean m̂(x) = Σ w_i k(x, X_i) at some points, (m,), block by block."""
        kernel = self.kernel_or_error()
        width = max(1, BLOCK_NUMBERS // max(len(self.states), 1))
        blocks = [
            np.asarray(kernel(points[start : start + width], self.states), dtype=np.float64) @ self.weights
            for start in range(0, len(points), width)
        ]
        return np.concatenate(blocks) if blocks else np.zeros(0)

    def heaviest(self, most: int) -> IntArray:
        """Return the indices, in increasing order, of at most ``most`` states with the largest absolute weights."""
        if len(self.states) <= most:
            return np.arange(len(self.states))
        return np.sort(np.argpartition(-np.abs(self.weights), most)[:most])

    def squared_norm(self) -> float:
        """‖m̂‖² = Σ_ij w_i w_j k(X_i, X_j)."""
        return float(self.weights @ self.evaluate(self.states))

    def distance(self, other: KernelMean) -> float:
        """RKHS distance to another embedding with the same kernel (the maximum mean discrepancy)."""
        cross = float(self.weights @ other.evaluate(self.states))
        return float(np.sqrt(max(self.squared_norm() + other.squared_norm() - 2.0 * cross, 0.0)))

    def kernel_or_error(self) -> Kernel:
        """Return the kernel; an error if there is none."""
        if self._kernel is None:
            raise ValueError("this embedding was made without a kernel; pass kernel=... to use it this way.")
        return self._kernel

    def __copy__(self) -> Self:
        """Copy without forming the weights."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the weights rather than what could form them, which knows all examples."""
        return {**self.__dict__, "_weights": self.weights, "_source": None}

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} states, effective sample size {self.ess:.1f})"
