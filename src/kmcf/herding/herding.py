"""Kernel Herding: points that represent an embedding (Algorithms 2 and 4).

The greedy rule picks, as the p-th of ℓ points, the candidate that maximises

    m̂(x) − (1/p) Σ_{j<p} k(x, x_j),

with repetitions. Multiplied by p this is p·m̂(x) − Σ_{j<p} k(x, x_j), which one addition of m̂ and one subtraction of a
kernel row update from pick to pick: O(N) for N candidates, not the O(N n) of the literal reading.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from kmcf.embedding.embedding import Embedding
from kmcf.herding.resampling import Resampled, Weighted, uneven
from kmcf.numerics.arrays import Array, FloatArray, IntArray
from kmcf.numerics.greedy import greedy_loop
from kmcf.numerics.objects import Objects, as_objects


class Herding(NamedTuple):
    """The outcome of Algorithm 4.

    Examples
    --------
    >>> Herding(np.array([2, 0, 2]), 0.125).loss
    0.125
    """

    indices: IntArray
    """The ℓ picks, as indices of the candidates, in order, with repetitions."""
    loss: float
    """The RKHS distance ‖m̌ − m̂‖ of the uniform mean of the picks to the embedding they represent."""


def herd(mean_values: FloatArray, gram: FloatArray, size: int, squared_norm: float) -> Herding:
    """Algorithm 4 on numbers: pick ``size`` candidates that represent a kernel mean m̂.

    Parameters
    ----------
    mean_values : array (N,)
        m̂ at the candidates.
    gram : array (N, N)
        Kernel matrix of the candidates.
    size : int
        ℓ, how many to pick.
    squared_norm : float
        ‖m̂‖², for the reported loss.

    Examples
    --------
    >>> weights = np.array([0.5, 0.0, 0.5])
    >>> gram = np.eye(3)
    >>> herd(gram @ weights, gram, size=2, squared_norm=0.5)
    Herding(indices=array([0, 2]), loss=0.0)
    """
    indices, score = greedy_loop()(mean_values, gram, size)  # Algorithm 4, lines 3-6
    return Herding(indices, float(herding_loss(mean_values, score, indices, size, squared_norm)))


def herding_loss(mean_values: Array, score: Array, indices: Array, size: int, squared_norm: Array) -> Array:
    """Return ‖m̌ − m̂‖ from the results of the greedy loop, for arrays of any library.

    After ℓ picks the score is (ℓ+1) m̂ − Σ_j k(·, x_j), so the double sum over the picks needs no further kernel values.

    Parameters
    ----------
    mean_values : array (N,)
        The embedding m̂ at the candidates.
    score : array (N,)
        What the greedy loop left behind.
    indices : array (ℓ,)
        The picks.
    size : int
        ℓ.
    squared_norm : float
        ‖m̂‖².

    Examples
    --------
    >>> float(herding_loss(np.array([0.5, 0.5]), np.array([0.5, 0.5]), np.array([0, 1]), 2, 0.5))
    0.0
    """
    mean_at_picks = mean_values[indices].sum()
    double_sum = (size + 1) * mean_at_picks - score[indices].sum()
    squared = squared_norm - 2.0 * mean_at_picks / size + double_sum / size**2
    return (0.5 * (squared + abs(squared))) ** 0.5  # the root of what rounding may have made negative


class Herdable(Weighted, Protocol):
    """A posterior whose rule can herd it."""

    def herd(self, size: int) -> Herding:
        """Pick at most ``size`` points that represent it."""
        ...


@dataclass(frozen=True)
class Herd:
    """The resampler of the paper: ℓ herded points (Algorithm 2), repeated to fill the particles (Section 5.2)."""

    points: int
    """ℓ; never more than there are states or particles."""
    threshold: float = 0.0
    """Resample where Σw² exceeds this over the number of states (0: always, inf: never)."""

    def __call__(self, posterior: Herdable, size: int, _rng: np.random.Generator) -> Resampled:
        """Pick the points."""
        if self.threshold > 0.0 and not uneven(posterior, self.threshold):
            return Resampled(None)
        return Resampled(*posterior.herd(min(self.points, size)))


@dataclass(frozen=True)
class HerdByBound:
    """Herd only where Theorem 1 promises a gain (Section 5.2).

    Before the next prediction, the bound on its squared error has the terms Σw² V without resampling, and V / m plus
    the squared loss of herding with it, where V is the transition's variance in the RKHS. A nearly deterministic
    transition therefore never resamples.
    """

    points: int
    """ℓ; never more than there are states or particles."""
    variance: float
    """V = E[k(x', x') − k(x', x̃')] for two moves x', x̃' from the same state."""

    def __call__(self, posterior: Herdable, size: int, _rng: np.random.Generator) -> Resampled:
        """Pick the points, and keep them if that pays."""
        herded = posterior.herd(min(self.points, size))
        gain = (float(np.sum(posterior.weights() ** 2)) - 1.0 / size) * self.variance
        return Resampled(*herded) if gain > herded.loss**2 else Resampled(None)


def herd_embedding(embedding: Embedding, size: int, candidates: Objects | None = None) -> Herding:
    """Algorithm 4: pick ``size`` of the candidates (by default the embedding's own states) to represent an embedding.

    Parameters
    ----------
    embedding : Embedding
        m̂, with its kernel.
    size : int
        ℓ, how many points to pick; repetitions are allowed.
    candidates : array or list, optional
        Z_1..Z_N. None: the states of the embedding (Algorithm 2).

    Examples
    --------
    >>> from kmcf.kernels import Gaussian
    >>> embedding = Embedding(np.array([[0.0], [1.0], [5.0]]), np.array([0.5, 0.5, 0.0]), Gaussian(1.0))
    >>> herd_embedding(embedding, 4).indices
    array([0, 1, 0, 1])
    """
    if size < 1:
        raise ValueError(f"size = {size}; at least one point must be picked.")
    kernel = embedding.kernel_or_error()
    points = (
        embedding.states if candidates is None else as_objects(candidates, "candidates", structured=kernel.structured)
    )
    return herd(
        embedding.evaluate(points), np.asarray(kernel(points), dtype=np.float64), size, embedding.squared_norm()
    )


def resampling_loss(indices: IntArray, weights: FloatArray, gram: FloatArray) -> float:
    """Return ‖m̌ − m̂‖ for any resampled indices of the states that carry the weights.

    Parameters
    ----------
    indices : array (ℓ,)
        What was drawn.
    weights : array (n,)
        The weights that it was drawn from.
    gram : array (n, n)
        Kernel matrix of the states.

    Examples
    --------
    >>> resampling_loss(np.array([0, 0]), np.array([0.5, 0.5]), np.eye(2)).__round__(4)
    0.7071
    """
    difference = np.bincount(indices, minlength=len(weights)) / len(indices) - weights
    return float(np.sqrt(max(float(difference @ gram @ difference), 0.0)))
