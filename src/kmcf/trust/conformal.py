"""Conformal prediction, normalised: how much wider intervals must be to hold the truth as often as they say.

A belief gives an interval around its median by itself; its lower and upper arms say how sure it is. On steps that the
filter did not learn from, the error is measured in units of these arms. The factor at a level is the quantile of these
scores, so that the stretched intervals hold that share of the errors seen. If the steps to come are like those left
out, they hold the same share of theirs.

Where examples end, intervals also hold states predicted beyond them, whatever the factor. Errors that these reach would
not need a wider interval, so at high levels they do not count.

Arms of a belief with few effective points are noisy and can vanish. A share of the typical arm, the median over the
left-out steps, is therefore added in quadrature to every one: the share with which calibrated intervals score best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np

from kmcf.numerics.arrays import BoolArray, FloatArray, positive_or_one
from kmcf.trust.scores import interval_score

LEVELS: FloatArray = np.array([0.1, 0.25, 0.5, 0.68, 0.8, 0.9, 0.95, 0.98, 0.99])
"""Levels at which factors are learnt; between them they are interpolated."""
USUAL = 6
"""Where 0.95 stands among them."""
SHARES = (0.1, 0.3, 0.6, 1.0, 2.0)
"""Shares of the typical arm that may be added; the left-out steps decide."""
MOST_COLUMNS = 8
"""States with more columns than this have no calibrated ellipses."""
NOTICEABLE = 0.05
LEAST_REACHING = 0.8
"""From this level on, what is reached beyond the examples counts; the score of a whole distribution ignores it."""


class LeftOutErrors(NamedTuple):
    """What N beliefs said by themselves, and how far they were from the truth."""

    below: FloatArray
    """Median minus lower bounds at all levels, (N, L, d)."""
    above: FloatArray
    """Upper bounds minus median, (N, L, d)."""
    from_median: FloatArray
    """True state minus median, (N, d)."""
    scatter: FloatArray
    """Positive semi-definite covariances, (N, d, d)."""
    from_mean: FloatArray
    """True state minus mean, (N, d)."""
    sequence: FloatArray
    """Number of the sequence that a step belongs to, (N,)."""
    reached: BoolArray | None = None
    """Whether states predicted beyond the examples reach the true state at each level, (N, L, d)."""


@dataclass(frozen=True)
class Stretch:
    """Factors for one kind of belief."""

    floors: FloatArray
    """What is added to arms in quadrature, (L, d)."""
    factors: FloatArray
    """Factors on arms, (L, d)."""
    variances: FloatArray
    """What is added to the diagonal of a covariance, (d,)."""
    radii: FloatArray
    """Radii of ellipses over each pair of columns, (pairs + 1, L); the last row is of all columns."""
    count: int
    """How many left-out steps they come from."""
    effective: float
    """How many independent steps these are worth."""

    @classmethod
    def learn(cls, errors: LeftOutErrors) -> Self:
        """Learn the factors from the errors of left-out steps."""
        count, _, d = errors.below.shape
        floors = _typical(0.5 * (errors.below + errors.above), errors.from_median)
        floors = floors * np.array([_best_share(errors, floors, j) for j in range(d)])
        scores = _scores(errors, floors)
        effective = min(effective_number(scores[:, USUAL, j], errors.sequence) for j in range(d))
        factors = np.stack(
            [[score_quantile(scores[:, k, j], p, effective) for j in range(d)] for k, p in enumerate(LEVELS)]
        )
        typical = _typical(np.diagonal(errors.scatter, axis1=1, axis2=2)[:, None], errors.from_mean**2)[0]
        variances = typical * _best_ellipse_share(errors, typical)
        distances = [
            mahalanobis(errors.from_mean[:, some], errors.scatter[:, some][:, :, some], variances[some])
            for some in map(list, ellipse_columns(d))
        ]
        radii = np.array([[score_quantile(r, p, effective) for p in LEVELS] for r in distances])
        return cls(floors, factors, variances, radii.reshape(-1, len(LEVELS)), count, effective)

    @property
    def width(self) -> int:
        """Number of state columns."""
        return int(self.floors.shape[1])

    def arms(self, levels: FloatArray, below: FloatArray, above: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Stretch the arms of one belief.

        Parameters
        ----------
        levels : array (K,)
            Increasing. An interval holds those of all levels before it.
        below, above : arrays (K, d)
            Its arms at these levels.
        """
        grid = np.concatenate([[0.0], LEVELS])
        columns = range(self.width)
        floors = np.stack([np.interp(levels, grid, [0.0, *self.floors[:, j]]) for j in columns], axis=1)
        factors = np.stack([np.interp(levels, LEVELS, self.factors[:, j]) for j in columns], axis=1)
        lower, upper = (np.maximum.accumulate(factors * np.hypot(arm, floors), axis=0) for arm in (below, above))
        return lower, upper

    def radius(self, level: float, columns: Sequence[int]) -> float | None:
        """Return the radius of an ellipse over some columns; None if it was not learnt."""
        known = list(ellipse_columns(self.width))
        wanted = tuple(sorted(columns))
        if wanted not in known or len(self.radii) != len(known):
            return None
        radii = self.radii[known.index(wanted)]
        return float(np.interp(level, [0.0, *LEVELS], [0.0, *np.maximum.accumulate(radii)]))

    def stored(self) -> dict[str, Any]:
        """Return what a file keeps."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Self:
        """Check and take over what a file kept."""
        names = ("floors", "factors", "variances", "radii")
        arrays = {name: np.array(stored[name], dtype=np.float64) for name in names}
        d = arrays["variances"].size
        rows = len(list(ellipse_columns(d))) if d else 0
        shapes = {
            "floors": (len(LEVELS), d),
            "factors": (len(LEVELS), d),
            "variances": (d,),
            "radii": (rows, len(LEVELS)),
        }
        for name, values in arrays.items():
            if values.shape != shapes[name] or not np.isfinite(values).all() or (values < 0).any():
                raise ValueError(f"the calibration's {name} are not what kmcf writes.")
        count, effective = int(stored["count"]), float(stored["effective"])
        if not 0 < effective <= count:
            raise ValueError(f"a calibration on {count} steps cannot be worth {effective} independent ones.")
        return cls(**arrays, count=count, effective=effective)


def ellipse_columns(d: int) -> list[tuple[int, ...]]:
    """Return the columns that ellipses are learnt for: all pairs, and all columns together.

    Examples
    --------
    >>> ellipse_columns(3)
    [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
    >>> ellipse_columns(2)
    [(0, 1), (0, 1)]
    """
    return [] if d > MOST_COLUMNS else [*combinations(range(d), 2), tuple(range(d))]


def mahalanobis(errors: FloatArray, scatter: FloatArray, variances: FloatArray) -> FloatArray:
    """Return √(eᵀ (S + diag v)⁻¹ e) for N errors, (N,).

    Examples
    --------
    >>> mahalanobis(np.array([[3.0, 4.0]]), np.zeros((1, 2, 2)), np.ones(2))
    array([5.])
    """
    factor = np.linalg.cholesky(scatter + np.diag(variances))
    solved = np.linalg.solve(factor, errors[:, :, None])[:, :, 0]  # triangular; N is large and d small
    return np.linalg.norm(solved, axis=1)


def score_quantile(scores: FloatArray, level: float, effective: float) -> float:
    r"""Return the quantile of scores that a new one stays below with the probability ``level``, on average.

    A new score stays below the quantile at p of N scores that are worth m independent ones with probability

    .. math:: p - \frac{p - 1/2}{m} - \frac{1}{2N},

    to first order: half the slope of p(1 − p)/m, the variance of the share of scores below, and half a score because
    the quantile is one of them and must not be too low. So much is added to the level. For independent scores
    (m = N) that is the rule k = ⌈p (N + 1)⌉ of conformal prediction; with few scores the quantile is the largest.

    Parameters
    ----------
    scores : array (N,)
        The scores.
    level : float
        The probability wanted.
    effective : float
        m.

    Examples
    --------
    >>> scores = np.arange(1.0, 101.0)
    >>> score_quantile(scores, 0.95, 100.0), score_quantile(scores, 0.95, 20.0), score_quantile(scores, 0.95, 5.0)
    (96.0, 98.0, 100.0)
    """
    raised = level + (level - 0.5) / effective + 0.5 / len(scores)
    return float(np.quantile(scores, np.clip(raised, 0.0, 1.0), method="inverted_cdf"))


def effective_number(scores: FloatArray, sequence: FloatArray) -> float:
    """Return how many independent scores a series is worth: N / (1 + 2 Σ ρ_k), with ρ_k the ranks' autocorrelation.

    The sum ends at the first correlation below 0.05. Pairs of different sequences do not count.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> white = rng.normal(size=2000)
    >>> lasting = np.repeat(white[:200], 10)  # every value ten times
    >>> one = np.zeros(2000)
    >>> effective_number(white, one) > 1800, 150 < effective_number(lasting, one) < 300
    (True, True)
    """
    from scipy.stats import rankdata

    count = len(scores)
    ranks = rankdata(scores) - 0.5 * (count + 1)
    variance = float(ranks @ ranks) / count
    if variance == 0.0:
        return float(count)
    inflation = 1.0
    for lag in range(1, max(count // 4, 1)):
        together = sequence[lag:] == sequence[:-lag]
        if not together.any():
            break
        correlation = float(np.mean((ranks[lag:] * ranks[:-lag])[together])) / variance
        if correlation < NOTICEABLE:
            break
        inflation += 2.0 * correlation
    return count / inflation


def _scores(errors: LeftOutErrors, floors: FloatArray) -> FloatArray:
    """Return the errors in units of the arms on their side, (N, L, d); zero where they are reached anyway."""
    arms = np.where(errors.from_median[:, None] > 0, errors.above, errors.below)
    scores = np.abs(errors.from_median)[:, None] / np.hypot(arms, floors)
    if errors.reached is None:
        return scores
    return np.where(errors.reached & (LEVELS >= LEAST_REACHING)[:, None], 0.0, scores)


def _best_share(errors: LeftOutErrors, floors: FloatArray, j: int) -> float:
    """Return the share of the typical arm with which calibrated 95 % intervals score best on the left-out steps."""
    error, level = errors.from_median[:, j], float(LEVELS[USUAL])
    losses = []
    for share in SHARES:
        below, above = (np.hypot(arm[:, USUAL, j], share * floors[USUAL, j]) for arm in (errors.below, errors.above))
        scores = np.abs(error) / np.where(error > 0, above, below)
        factor = score_quantile(scores, level, effective_number(scores, errors.sequence))
        losses.append(float(np.mean(interval_score(-factor * below, factor * above, error, level))))
    return SHARES[int(np.argmin(losses))]


def _best_ellipse_share(errors: LeftOutErrors, typical: FloatArray) -> float:
    """Return the share of the typical variances with which calibrated 95 % ellipses are smallest on average."""
    d = len(typical)
    if not ellipse_columns(d):
        return 1.0
    sizes = []
    for share in SHARES:
        distances = mahalanobis(errors.from_mean, errors.scatter, share**2 * typical)
        radius = score_quantile(distances, float(LEVELS[USUAL]), effective_number(distances, errors.sequence))
        volumes = np.sqrt(np.linalg.det((errors.scatter + np.diag(share**2 * typical)) / typical))  # in units of it
        sizes.append(radius**d * float(np.mean(volumes)))
    return SHARES[int(np.argmin(sizes))] ** 2


def _typical(sizes: FloatArray, errors: FloatArray) -> FloatArray:
    """Return the median over steps of sizes (N, L, d); where that is zero, the mean absolute error, or one."""
    medians = np.median(sizes, axis=0)
    spare = np.mean(np.abs(errors), axis=0)
    scale = positive_or_one(spare)
    return np.where(medians > 1e-9 * scale, medians, scale)
