"""What a belief says about its own uncertainty: intervals, ellipses, probabilities, calibrated where the filter is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from kmcf.embedding.embedding import Embedding, Region
from kmcf.numerics.arrays import Array, FloatArray
from kmcf.numerics.circles import circular_mean, wrapped_columns, wrapped_difference
from kmcf.trust.calibration import Calibration
from kmcf.trust.conformal import LEVELS, Stretch
from kmcf.trust.ellipses import Ellipse
from kmcf.trust.regions import Smoothed
from kmcf.trust.scores import crps, crps_of_quantiles

USUAL = 0.95
NORMAL_ARM = 1.959963984540054
"""Half the width of a 95 % interval of the standard normal distribution."""
SCORED_LEVELS: FloatArray = (np.arange(99) + 0.5) / 99
"""Levels of the quantiles from which the score of a calibrated belief is computed; the median is among them."""


class CalibratedEmbedding(Embedding):
    """An embedding whose intervals, ellipses and probabilities may be calibrated."""

    @property
    @abstractmethod
    def calibration(self) -> Calibration | None:
        """The calibration of the filter that made it; None if it has none."""

    @property
    @abstractmethod
    def corrected(self) -> bool:
        """Whether an observation was used in the step that made it."""

    @property
    def beyond(self) -> FloatArray | None:
        """States beyond the examples that intervals and ellipses take in; None where there are none."""
        return None

    def interval(self, level: float = 0.95) -> FloatArray:
        """Return the central credible interval of each coordinate, lower and upper bounds, (2, d).

        Read off the quantiles, it is better calibrated than the signed covariance, whose noise from small weights far
        away can even make variances negative. After ``flt.calibrate`` it is stretched around the median so that it
        held the share ``level`` of the left-out true states; :meth:`quantile` stays as computed.

        Where examples end and a good part of the prediction lies beyond them, it also holds the central interval of
        what was predicted there: a posterior on the examples cannot follow the state.
        """
        if self._stretch is not None:
            return self.intervals([level])[0]
        _check_levels(np.array([level]))
        return self._reaching(super().interval(level)[None], np.array([level]))[0]

    def intervals(self, levels: Sequence[float] | FloatArray) -> FloatArray:
        """Return the central credible intervals at several levels, (K, 2, d); see :meth:`interval`."""
        _check_levels(np.asarray(levels))
        wanted, stretch = np.asarray(levels, dtype=np.float64), self._stretch
        if stretch is None:
            centre, below, above = raw_arms(self, wanted)
            return self._reaching(np.stack([centre - below, centre + above], axis=1), wanted)
        # An interval holds those of lower levels, whichever are asked for.
        known, places = np.unique(np.concatenate([LEVELS, wanted]), return_inverse=True)
        centre, lower, upper = self._stretched(stretch, known)
        return self._reaching(np.stack([centre - lower, centre + upper], axis=1)[places[len(LEVELS) :]], wanted)

    def ellipse(self, level: float = 0.95, columns: Sequence[int] | None = (0, 1)) -> Ellipse:
        """Return the ellipse around the mean that holds the state with probability ``level``.

        Its shape is that of :meth:`scatter`. After ``flt.calibrate`` its size is such that it held the share ``level``
        of the left-out true states; before, that of a normal distribution. Where examples end it reaches out, as
        intervals do.

        Parameters
        ----------
        level : float
            How much it is to hold.
        columns : sequence of int, optional
            Two columns of the state, or None: all. A state with one column has an ellipse in all of them only.
        """
        if not 0.0 <= level < 1.0:
            raise ValueError(f"level = {level!r}; it must be at least 0 and less than 1.")
        mean = np.ravel(self.mean())
        scatter = self.reaching_scatter()
        some = list(range(len(mean))) if columns is None else [int(j) for j in columns]
        if len(set(some)) != len(some) or not some or not all(0 <= j < len(mean) for j in some):
            raise ValueError(f"columns = {columns!r}; they must be different columns of a state that has {len(mean)}.")
        matrix, stretch = scatter[np.ix_(some, some)], self._stretch
        radius = None if stretch is None else stretch.radius(level, some)
        if stretch is None:
            radius = float(np.sqrt(2.0 * gammaincinv(0.5 * len(some), level)))
        elif radius is None:
            raise ValueError(f"columns = {columns!r}; calibrated ellipses are of two columns, or all of at most eight.")
        else:
            matrix = matrix + np.diag(stretch.variances[some])
        angles = tuple(k for k, j in enumerate(some) if j in self.angles)
        return Ellipse(mean[some], radius**2 * matrix, angles)

    def probability(self, region: Region) -> float:
        """Probability of a region.

        Without a calibration it is Σ w_i 1[X_i ∈ A] as computed, so signed weights may leave [0, 1]. After
        ``flt.calibrate`` it is that of the stretched sample: points move away from the median by the 95 % factor and
        are smoothed by a normal distribution, and the result lies in [0, 1].

        Parameters
        ----------
        region : callable or pair
            A function of n states that returns n booleans, or a box ``(lower, upper)`` with scalars or one bound
            per coordinate.
        """
        stretch = self._stretch
        if stretch is None:
            return super().probability(region)
        rows, self_angles = self._rows(), self.angles
        k = int(np.searchsorted(LEVELS, USUAL))
        centre = np.atleast_1d(self.quantile(0.5))
        smoothed = Smoothed.stretched(
            rows, self.weights, centre, stretch.factors[k], stretch.floors[k] / NORMAL_ARM, self_angles
        )
        self._inside(region)  # which complains about what is no region
        if not callable(region):
            lower, upper = (np.broadcast_to(np.ravel(bound), (rows.shape[1],)) for bound in region)
            return smoothed.box(lower, upper)
        copies = smoothed.copies().reshape(-1, *self.states.shape[1:])
        return smoothed.share(np.asarray(region(copies), dtype=np.float64))

    def crps(self, state: Any, columns: Sequence[int] | None = None) -> float:
        """Return the continuous ranked probability score at the true state, averaged over the coordinates.

        It is in units of the state, and for a belief that is one point the mean absolute error. The distribution is
        the one that the quantiles describe or, after ``flt.calibrate``, the calibrated intervals.

        Parameters
        ----------
        state : array (d,)
            The true state.
        columns : sequence of int, optional
            The coordinates that count. None: all.
        """
        truth, rows = np.ravel(np.asarray(state, dtype=np.float64)), self._rows()
        if truth.shape != rows.shape[1:]:
            raise ValueError(f"the true state has shape {np.shape(state)}, but states have {rows.shape[1]} columns.")
        some = list(range(len(truth)) if columns is None else columns)
        stretch = self._stretch
        if stretch is not None:
            return float(np.mean(self._calibrated_crps(stretch, truth)[some]))
        scores = []
        for j in some:
            column, at = rows[:, j], truth[j]
            if j in self.angles:
                middle = circular_mean(column, self.weights)
                column, at = wrapped_difference(column - middle), wrapped_difference(np.array(at - middle))
            scores.append(crps(column, self.weights, float(at)))
        return float(np.mean(scores))

    def reach(self, levels: FloatArray) -> FloatArray | None:
        """Return central intervals of the states beyond the examples, (K, 2, d), empty for angles; None without any."""
        if self.beyond is None:
            return None
        rows = np.reshape(self.beyond, (len(self.beyond), -1))
        bounds = np.stack([np.quantile(rows, 0.5 + side * 0.5 * levels, axis=0) for side in (-1.0, 1.0)], axis=1)
        bounds[:, :, list(self.angles)] = np.array([np.inf, -np.inf])[:, None]
        return bounds

    def _reaching(self, intervals: FloatArray, levels: FloatArray) -> FloatArray:
        """Widen intervals (K, 2, d) so that they hold those of the states beyond the examples; not for angles."""
        known = self.reach(levels)
        if known is None:
            return intervals
        return np.stack([np.minimum(intervals[:, 0], known[:, 0]), np.maximum(intervals[:, 1], known[:, 1])], axis=1)

    def reaching_scatter(self) -> FloatArray:
        """Return the scatter plus the mean square of the states beyond the examples around the mean, if any, (d, d)."""
        if self.beyond is None:
            return self.scatter()
        apart = np.reshape(self.beyond, (len(self.beyond), -1)) - np.ravel(self.mean())
        apart = wrapped_columns(apart, self.angles)
        return np.asarray(self.scatter() + apart.T @ apart / len(apart))

    @property
    def _stretch(self) -> Stretch | None:
        known = self.calibration
        return None if known is None else known.kind(corrected=self.corrected)

    def _stretched(self, stretch: Stretch, levels: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the median and the stretched arms at increasing levels; those of angles reach half around."""
        centre, below, above = raw_arms(self, levels)
        lower, upper = stretch.arms(levels, below, above)
        columns = list(self.angles)
        for arms in (lower, upper):
            arms[:, columns] = np.minimum(arms[:, columns], np.pi)
        return centre, lower, upper

    def _calibrated_crps(self, stretch: Stretch, truth: FloatArray) -> FloatArray:
        half = SCORED_LEVELS[SCORED_LEVELS > 0.5]
        centre, lower, upper = self._stretched(stretch, 2.0 * half - 1.0)
        error = wrapped_columns((truth - centre)[None], self.angles)[0]
        quantiles = np.concatenate([-lower[::-1], np.zeros((1, len(centre))), upper])
        return crps_of_quantiles(SCORED_LEVELS, quantiles, error)


def _check_levels(levels: Array) -> None:
    if levels.size and levels.dtype.kind not in "iuf":
        raise TypeError(f"level = {levels.flat[0]!r}; it must be a number between 0 and 1, as 0.95.")
    bad = levels[~((levels >= 0.0) & (levels <= 1.0))]
    if bad.size:
        raise ValueError(f"level = {bad[0]}; it must lie between 0 and 1.")


def raw_arms(embedding: Embedding, levels: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the median, and how far below and above it central intervals reach at some levels, before calibration.

    Examples
    --------
    >>> belief = Embedding(np.linspace(0.0, 1.0, 101)[:, None], np.full(101, 1 / 101))
    >>> centre, below, above = raw_arms(belief, np.array([0.5, 0.9]))
    >>> centre, below.ravel().round(2), above.ravel().round(2)
    (array([0.5]), array([0.25, 0.45]), array([0.25, 0.45]))
    """
    count = len(levels)
    wanted = np.concatenate([[0.5], 0.5 - 0.5 * levels, 0.5 + 0.5 * levels])
    found = np.reshape(embedding.quantile(wanted), (2 * count + 1, -1))
    return found[0], found[0] - found[1 : count + 1], found[count + 1 :] - found[0]
