"""A kernel for signal strengths: hundreds of transmitters, most of them silent at any place."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist

from kmcf.kernels.base import as_rows, positive
from kmcf.kernels.distances import median_distance
from kmcf.kernels.stationary import Gaussian
from kmcf.numerics.arrays import Array, BoolArray, FloatArray, array_namespace, positive_or_one
from kmcf.numerics.objects import Objects, as_objects, evenly_spaced, is_numeric
from kmcf.support.estimators import not_fitted

EXPONENTS = (1.0, 1.5, 2.0, 2.5)
MULTIPLIERS = (0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0)
WIDER = 2.0
"""Bayes' rule solves for its weights, where a weighted mean smooths, so it does best with a wider kernel: on left-out
training walks of a building with 436 access points two to three times as wide as the mean's best."""
USUAL = 1.5, 0.2
"""Exponent and multiplier where there are no states to choose them by."""
FEWEST, BLOCKS, PROBES, REFERENCES, COMPONENTS_FROM = 100, 20, 300, 20_000, 4000


class SignalStrength(Gaussian):
    r"""Gaussian kernel on signal strengths, with features made for many transmitters that are mostly silent.

    A strength y becomes :math:`((y - f) / (s - f))^e`, where f is the floor ("not heard") and s the strongest in the
    examples, so that silence is zero and strong signals, which fade quickly with distance, count most. Columns never
    heard in the examples are dropped. If more than ``components`` are left, their leading principal components are
    taken. The exponent is the one that predicts the example states best, each of some examples from all examples
    recorded at other times, as a mean weighted by the kernel; the width is twice the best one for that.

    Parameters
    ----------
    floor : float
        The value that stands for "not heard"; anything below counts as silence too.
    exponent : float, optional
        e. None: chosen from the examples among 1, 1.5, 2 and 2.5; 1.5 without states to predict.
    components : int
        Largest number of principal components, of each scan.
    scans : int
        How many successive scans, each of the same transmitters, an observation consists of, side by side, the newest
        first. Columns and components are those of single scans.
    bandwidth : float, optional
        σ. None: ``multiplier`` times the median distance of the features.
    multiplier : float, optional
        None: chosen from the examples, from 0.1 to 2; 0.2 without states to predict.
    fading : float
        Features of a scan count this many times as much as those of the next newer one, in (0, 1]. Examples recorded
        again and again along the same routes make older scans look more telling than they are on another route.

    Examples
    --------
    >>> kernel = SignalStrength().fit([[-100.0, -50.0, -100.0], [-60.0, -90.0, -100.0], [-70.0, -80.0, -100.0]])
    >>> kernel.heard_.tolist(), kernel.exponent_
    ([True, True, False], 1.5)
    >>> kernel([[-100.0, -50.0, -100.0]], [[-100.0, -51.0, -30.0]]).round(2)
    array([[0.99]])
    """

    def __init__(
        self,
        floor: float = -100.0,
        exponent: float | None = None,
        components: int = 30,
        scans: int = 1,
        bandwidth: float | None = None,
        multiplier: float | None = None,
        fading: float = 1.0,
    ) -> None:
        self.floor = floor
        self.exponent = exponent
        self.components = components
        self.scans = scans
        self.bandwidth = bandwidth
        self.multiplier = multiplier  # type: ignore[assignment]
        self.fading = fading

    @property
    def restrictable(self) -> bool:
        """True for single scans; which scan a column is of cannot be told where some are missing."""
        return self.scans == 1

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn the columns heard, the features and the width, these by what predicts the states if there are any."""
        examples = np.asarray(as_rows(as_objects(objects, "the kernel's examples"), self), dtype=np.float64)
        self._check(examples.shape[1])
        if np.isnan(examples).any():
            raise ValueError(f"SignalStrength's examples contain NaN; silence is the floor, {self.floor:g}.")
        self.columns_ = examples.shape[1]
        self.heard_: BoolArray = np.asarray((self._single(examples) > self.floor).any(axis=0))
        strongest = float(examples.max(initial=self.floor))
        self.range_ = strongest - self.floor if strongest > self.floor else 1.0
        targets = _targets(states, len(examples))
        found = []
        for exponent in EXPONENTS if self.exponent is None and targets is not None else (self.exponent or USUAL[0],):
            self._learn_features(examples, exponent)
            features = self.rows(examples)
            median = median_distance(features)
            error, multiplier = self._width(features, targets, median)
            found.append((error, exponent, multiplier * median))
        _, exponent, width = min(found)
        if exponent != self.exponent_:
            self._learn_features(examples, exponent)
        self.bandwidth_ = width
        return self

    def _learn_features(self, examples: FloatArray, exponent: float) -> None:
        """Learn the principal components of the strengths raised to a power, if there are many columns."""
        from sklearn.decomposition import PCA

        self.exponent_ = float(exponent)
        self.mean_: FloatArray | None = None
        self.components_: FloatArray | None = None
        if self.components < min(int(self.heard_.sum()), len(examples)):
            some = examples[:: max(1, len(examples) // COMPONENTS_FROM)]
            found = PCA(self.components, random_state=0).fit(self._powers(some))
            self.mean_, self.components_ = found.mean_, np.ascontiguousarray(found.components_.T)

    def _width(self, features: FloatArray, targets: FloatArray | None, median: float) -> tuple[float, float]:
        """Return the error of the best multiplier, and that multiplier."""
        if self.bandwidth is not None:
            multipliers: tuple[float, ...] = (float(positive(self.bandwidth, "bandwidth", self)) / median,)
        elif self.multiplier is not None:
            multipliers = (float(positive(self.multiplier, "multiplier", self)),)
        else:
            multipliers = (USUAL[1],) if targets is None else MULTIPLIERS
        if targets is None:
            return 0.0, multipliers[0]
        errors = _prediction_errors(features, targets, [multiplier * median for multiplier in multipliers])
        best = int(np.argmin(errors))
        return errors[best], multipliers[best] * (WIDER if len(multipliers) > 1 else 1.0)

    def rows(self, objects: Objects) -> Array:
        """Return the features, those of several scans side by side."""
        rows = as_rows(objects, self)
        features = self._powers(rows)
        xp = array_namespace(features)
        if self.components_ is not None:
            centred = features - xp.asarray(self.mean_, dtype=features.dtype)
            features = centred @ xp.asarray(self.components_, dtype=features.dtype)
        if self.scans == 1:
            return features
        self._check_fading()
        shares = float(self.fading) ** np.arange(self.scans)
        factors = xp.asarray(np.sqrt(np.sum(shares**2)) / shares, dtype=features.dtype)
        features = xp.reshape(features, (rows.shape[0], self.scans, features.shape[1])) / factors[:, None]
        return xp.reshape(features, (rows.shape[0], self.scans * features.shape[2]))

    def _powers(self, rows: Array) -> Array:
        """Return strengths raised to the power, a row per scan."""
        if not hasattr(self, "heard_"):
            raise not_fitted("SignalStrength learns its features from examples: call fit(examples) first.")
        if rows.shape[1] != self.columns_:
            raise ValueError(f"SignalStrength was fitted on {self.columns_} columns but got {rows.shape[1]}.")
        if len(self.heard_) * self.scans != self.columns_:
            scans = self.columns_ // len(self.heard_)
            raise ValueError(f"SignalStrength was fitted with scans = {scans}, now it is {self.scans}: fit it again.")
        heard = self._single(rows)[:, self.heard_]
        xp = array_namespace(heard)
        return xp.clip((heard - self.floor) / self.range_, 0.0, None) ** self.exponent_

    def _single(self, rows: Array) -> Array:
        """Return a row per scan."""
        return array_namespace(rows).reshape(rows, (rows.shape[0] * self.scans, rows.shape[1] // self.scans))

    def _check(self, columns: int) -> None:
        if not np.isfinite(self.floor):
            raise ValueError(f"SignalStrength has floor = {self.floor!r}; it must be a finite number, such as -100.")
        if self.exponent is not None:
            positive(self.exponent, "exponent", self)
        for name in ("components", "scans"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"SignalStrength has {name} = {value!r}; it must be a positive integer.")
        self._check_fading()
        if columns % self.scans:
            raise ValueError(f"SignalStrength has scans = {self.scans}, but {columns} columns do not split evenly.")

    def _check_fading(self) -> None:
        if not 0.0 < self.fading <= 1.0:
            raise ValueError(f"SignalStrength has fading = {self.fading!r}; it must be above 0 and at most 1.")


def _targets(states: Any, n: int) -> FloatArray | None:
    """Return the states to predict, each column with unit spread; None if there are too few, or none."""
    if states is None or not is_numeric(states) or n < FEWEST:
        return None
    if len(states) != n:
        raise ValueError(f"SignalStrength was given {len(states)} states for {n} examples.")
    rows = np.asarray(states, dtype=np.float64).reshape(n, -1)
    spread = rows.std(axis=0)
    return rows / positive_or_one(spread)


def _prediction_errors(features: FloatArray, targets: FloatArray, widths: list[float]) -> list[float]:
    """Return the mean error of predicting some targets from those recorded at other times, for each width."""
    n = len(features)
    every = max(1, n // REFERENCES)
    known, places = features[::every], np.arange(n)[::every]
    probes = evenly_spaced(n, PROBES)
    squares = cdist(features[probes], known, "sqeuclidean")
    squares[(probes * BLOCKS // n)[:, None] == (places * BLOCKS // n)[None, :]] = np.inf
    squares -= squares.min(axis=1, keepdims=True)
    errors = []
    for width in widths:
        weights = np.exp(-0.5 * squares / width**2)
        predicted = weights @ targets[::every] / weights.sum(axis=1, keepdims=True)
        errors.append(float(np.linalg.norm(predicted - targets[probes], axis=1).mean()))
    return errors
