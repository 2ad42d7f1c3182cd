"""How a belief is scored against the true state: one loss per step, averaged over all held-out steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.filter.results.belief import Belief
from kmcf.kernels import as_kernel
from kmcf.kernels.defaults import default_state_kernel
from kmcf.numerics.arrays import FloatArray, positive_or_one
from kmcf.numerics.circles import wrapped_difference
from kmcf.numerics.objects import Objects, describe, is_numeric

METRICS = ("rmse", "mode", "crps", "kernel_score", "negative_log_density")
BACKGROUND = 1e-3
FEATURE_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Metric:
    """A loss per step, and how its average becomes a value; lower is better.

    Attributes
    ----------
    name : str
        What the values are called.
    loss : callable
        ``(belief, state) -> float``; a vector for the embedding criterion.
    rooted : bool
        Whether the value is the square root of the average loss.
    embedding : bool
        Whether losses are vectors whose average over a fold counts by its squared length.
    own : bool
        Whether it is a user's function, which may ask a belief for anything, alarms and intervals too.
    nonnegative : bool
        Whether no loss is negative.
    """

    name: str
    loss: Callable[[Belief, Any], Any]
    rooted: bool = False
    embedding: bool = False
    own: bool = False
    nonnegative: bool = True

    def value(self, average: float) -> float:
        """Turn an average loss into the value reported."""
        return float(np.sqrt(average)) if self.rooted else float(average)


def make_metric(metric: Any, states: Objects, angles: Sequence[int], state_kernel: Any) -> Metric:
    """Read a metric: one of the five words, or a function ``(belief, state) -> float``.

    Parameters
    ----------
    metric : str or callable
        The metric.
    states : array or list
        All true states; they set the scale where one is needed.
    angles : sequence of int
        State columns that are angles.
    state_kernel : kernel, optional
        The filter's; used by the kernel score only where states are not numbers.
    """
    if callable(metric):
        name = str(getattr(metric, "__name__", type(metric).__name__))
        return Metric(name, metric, own=True, nonnegative=bool(getattr(metric, "nonnegative", False)))
    if metric not in METRICS:
        close = get_close_matches(str(metric), METRICS, n=1, cutoff=0.3)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        allowed = ", ".join(repr(name) for name in METRICS)
        raise ValueError(f"metric = {metric!r}; it must be {allowed} or a function (belief, state) -> float{hint}.")
    if metric == "mode" and not is_numeric(states):
        return Metric(metric, lambda belief, state: float(not _equal(belief.mode(), state)))
    if metric == "kernel_score":
        return Metric(metric, KernelScore(state_features(states, angles, state_kernel)))
    if not is_numeric(states):
        raise TypeError(
            f"metric = {metric!r} needs numeric states, but they are {describe(states)}; use 'mode', 'kernel_score' or "
            "a function (belief, state) -> float."
        )
    if metric == "crps":
        return Metric(metric, RankedProbability())
    if metric == "negative_log_density":
        return Metric(metric, NegativeLogDensity(states, angles), nonnegative=False)
    return Metric(metric, SquaredError(tuple(angles), mode=metric == "mode"), rooted=True)


def embedding_criterion(states: Objects, angles: Sequence[int], state_kernel: Any) -> Metric:
    """Return the criterion of Fukumizu et al. (2013), Section 4.2, as differences of feature vectors.

    Averaged over observations, posteriors give back the prior; so the average of the held-out observations' posterior
    embeddings is compared with the embedding of the held-out states.
    """
    return Metric("embedding", EmbeddingDifference(state_features(states, angles, state_kernel)), True, True)


def state_features(states: Objects, angles: Sequence[int], state_kernel: Any) -> KernelFeatures:
    """Return features of one kernel on states, the same in all trials whichever kernel a trial uses.

    Distances in the RKHS of a kernel that is itself tuned could not be compared: the widest kernel would win.
    """
    kernel = default_state_kernel(states, angles) if is_numeric(states) or state_kernel is None else state_kernel
    fitted = as_kernel(kernel, "state_kernel").fit(states)
    return KernelFeatures.fit(fitted.on_examples(states), tolerance=FEATURE_TOLERANCE)


@dataclass(frozen=True)
class SquaredError:
    """Squared distance of the posterior mean, or mode, to the true state; around the circle for angles."""

    angles: tuple[int, ...]
    mode: bool = False

    def __call__(self, belief: Belief, state: FloatArray) -> float:
        """Return the squared distance."""
        difference = np.ravel(belief.mode() if self.mode else belief.mean()) - np.ravel(state)
        columns = list(self.angles)
        difference[columns] = wrapped_difference(difference[columns])
        return float(difference @ difference)


@dataclass(frozen=True)
class RankedProbability:
    """The continuous ranked probability score, averaged over coordinates; see :meth:`kmcf.Belief.crps`."""

    def __call__(self, belief: Belief, state: FloatArray) -> float:
        """Return the score."""
        return belief.crps(state)


@dataclass(frozen=True)
class KernelScore:
    """‖m̂ − k(·, x)‖², the squared RKHS distance of the belief to the true state's feature: a proper score."""

    features: KernelFeatures

    def __call__(self, belief: Belief, state: Any) -> float:
        """Return the squared distance of the features."""
        difference = _difference(self.features, belief, state, 1.0)
        return float(difference @ difference)


@dataclass(frozen=True)
class EmbeddingDifference:
    """Features of the posterior, with its weights as the rule gave them, minus those of the true state."""

    features: KernelFeatures

    def __call__(self, belief: Belief, state: Any) -> FloatArray:
        """Return the difference of the features."""
        total = belief.report.weight_sum
        return _difference(self.features, belief, state, total if np.isfinite(total) else 1.0)


class NegativeLogDensity:
    """−log p(x), where p has a thousandth of the states' overall normal distribution mixed in.

    The estimate of a density from signed weights can be zero or negative; the mixture keeps the logarithm finite.

    Parameters
    ----------
    states : array (n, ...)
        All true states.
    angles : sequence of int
        Columns that are angles; the background is uniform there.
    """

    def __init__(self, states: FloatArray, angles: Sequence[int]) -> None:
        rows = np.asarray(states, dtype=np.float64).reshape(len(states), -1)
        self._circular = np.isin(np.arange(rows.shape[1]), list(angles))
        self._mean, spread = rows.mean(axis=0), rows.std(axis=0)
        self._sd = positive_or_one(spread)

    def __call__(self, belief: Belief, state: FloatArray) -> float:
        """Return the negative logarithm."""
        point = np.ravel(state)
        normal = np.exp(-0.5 * ((point - self._mean) / self._sd) ** 2) / (self._sd * np.sqrt(2.0 * np.pi))
        background = float(np.prod(np.where(self._circular, 1.0 / (2.0 * np.pi), normal)))
        density = max(float(belief.density(point[None])[0]), 0.0)
        return -float(np.log((1.0 - BACKGROUND) * density + BACKGROUND * max(background, np.finfo(float).tiny)))


def _difference(features: KernelFeatures, belief: Belief, state: Any, total: float) -> FloatArray:
    mean, _ = features.of_mean(belief.states, belief.weights * total)
    one, _ = features.of_one(np.asarray(state)[None] if is_numeric(belief.states) else [state])
    return mean - one


def _equal(first: Any, second: Any) -> bool:
    return bool(np.all(first == second))
