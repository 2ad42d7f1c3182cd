"""A kernel for laser scans."""

from __future__ import annotations

from typing import Any, Self, TypeAlias

import numpy as np

from kmcf.kernels.base import as_rows, positive
from kmcf.kernels.distances import median_distance, squared_euclidean
from kmcf.kernels.kernel import Kernel
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects, as_objects
from kmcf.support.estimators import not_fitted

_BLOCK_NUMBERS = 1 << 20  # of temporary kernel values
_FAR = 0.95

PreparedScans: TypeAlias = tuple[FloatArray, FloatArray]
"""Turned copies of the scans, (n, copies, beams), and the factor each scan's similarities are multiplied by."""


class LaserScan(Kernel):
    r"""Kernel on laser scans that tolerates small rotations.

    A scan is a row of ranges, one per beam, at equal angles. Ranges are clipped at ``max_range``, raised to ``power``
    (so that a decimetre counts more nearby than far away) and averaged over neighbouring beams down to ``beams``
    numbers: the vector :math:`v`. With :math:`T_\delta v` the vector turned by δ beams,

    .. math:: k(v, v') \propto \sum_{\delta = -r}^{r} \sum_{\delta' = -r}^{r}
              \exp\!\left(-\frac{\|T_\delta v - T_{\delta'} v'\|^2}{2 \sigma^2}\right),

    scaled so that the diagonal is 1. This is the inner product of the kernel means of the turned copies, hence
    positive definite; two scans of one place whose headings differ by up to 2r beams have a pair of copies that agree.
    ``rotation=0`` is a Gaussian kernel on :math:`v`.

    NaN, infinite and overlong ranges all mean "nothing within ``max_range``", in a filter too. There a scan of only NaN
    is a missing observation; a scan of only infinities is one that saw nothing, which is informative.

    Parameters
    ----------
    max_range : float, optional
        Longest range taken at face value. None: the 95 % quantile of the examples' finite ranges, ``max_range_``.
    beams : int
        Number of beams kept; scans with fewer beams are left as they are.
    rotation : int
        r, in kept beams. Of 180 degrees and 60 beams, one beam is 3 degrees.
    full_circle : bool
        True where the last beam is next to the first; otherwise turning drops r beams at either end.
    power : float
        Exponent applied to the ranges, in (0, 1].
    bandwidth : float, optional
        σ. None: ``multiplier`` times the median distance of the examples' vectors v.
    multiplier : float
        Factor on the median distance.

    Attributes
    ----------
    max_range_, bandwidth_ : float
        The values in use.

    Examples
    --------
    >>> room = np.abs(np.sin(np.linspace(0, np.pi, 12))) + np.linspace(1, 2, 12)
    >>> turned = np.roll(room, 1)
    >>> strict = LaserScan(max_range=9.0, rotation=0, full_circle=True, bandwidth=0.3)
    >>> tolerant = LaserScan(max_range=9.0, rotation=1, full_circle=True, bandwidth=0.3)
    >>> strict([room], [turned]).round(2), tolerant([room], [turned]).round(2)
    (array([[0.24]]), array([[0.76]]))
    """

    def __init__(
        self,
        max_range: float | None = None,
        beams: int = 60,
        rotation: int = 4,
        full_circle: bool = False,
        power: float = 0.5,
        bandwidth: float | None = None,
        multiplier: float = 0.25,
    ) -> None:
        self.max_range = max_range
        self.beams = beams
        self.rotation = rotation
        self.full_circle = full_circle
        self.power = power
        self.bandwidth = bandwidth
        self.multiplier = multiplier

    @property
    def handles_missing(self) -> bool:
        """True: a beam that is NaN saw nothing."""
        return True

    @property
    def handles_infinity(self) -> bool:
        """True: a beam of infinite range saw nothing."""
        return True

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn from the examples what was not given of range limit and bandwidth."""
        scans = self._scans(as_objects(objects, "the kernel's examples"))
        if self.max_range is None:
            finite = scans[np.isfinite(scans)]
            if finite.size == 0 or finite.max() <= 0:
                raise ValueError(
                    f"no example scan has a finite positive range: {type(self).__name__} cannot learn max_range."
                )
            self.max_range_ = float(np.quantile(finite, _FAR)) or float(finite.max())
        else:
            self.max_range_ = float(positive(self.max_range, "max_range", self))
        if self.bandwidth is None:
            factor = float(positive(self.multiplier, "multiplier", self))
            self.bandwidth_ = factor * median_distance(self._vectors(scans))
        else:
            self.bandwidth_ = float(positive(self.bandwidth, "bandwidth", self))
        return self

    def prepare(self, objects: Objects) -> PreparedScans:
        """Clip, compress and pool the scans, and turn them to either side."""
        vectors = self._vectors(self._scans(objects)) / self._learnt("bandwidth")
        reach, width = int(self.rotation), vectors.shape[1]
        if self.full_circle:
            copies = np.stack([np.roll(vectors, turn, axis=1) for turn in range(-reach, reach + 1)], axis=1)
        else:
            copies = np.stack([vectors[:, i : width - 2 * reach + i] for i in range(2 * reach + 1)], axis=1)
        own = [np.sum(np.exp(-0.5 * squared_euclidean(scan, scan))) for scan in copies]
        return copies, 1.0 / np.sqrt(np.asarray(own, dtype=np.float64))

    def evaluate(self, a: PreparedScans, b: PreparedScans) -> FloatArray:
        """Return the summed similarities of the turned copies, scaled."""
        (copies_a, factors_a), (copies_b, factors_b) = a, b
        count = copies_a.shape[1]
        flat_b = copies_b.reshape(-1, copies_b.shape[2])
        matrix = np.empty((len(copies_a), len(copies_b)))
        step = max(1, _BLOCK_NUMBERS // max(1, count * len(flat_b)))
        for start in range(0, len(copies_a), step):
            part = copies_a[start : start + step]
            similar = np.exp(-0.5 * squared_euclidean(part.reshape(-1, part.shape[2]), flat_b))
            matrix[start : start + step] = similar.reshape(len(part), count, len(copies_b), count).sum(axis=(1, 3))
        return matrix * factors_a[:, None] * factors_b[None, :]

    def evaluate_diagonal(self, a: PreparedScans) -> FloatArray:
        """Return ones."""
        return np.ones(len(a[0]))

    def _scans(self, objects: Objects) -> FloatArray:
        """Read the scans and check the settings."""
        scans: FloatArray = np.asarray(as_rows(objects, self), dtype=np.float64)
        if np.any(scans < 0):
            number, beam = np.argwhere(scans < 0)[0]
            raise ValueError(
                f"beam {beam} of scan {number} has the range {scans[number, beam]}; ranges are non-negative. Replace "
                "codes for 'no return' by NaN."
            )
        if not (isinstance(self.beams, int | np.integer) and self.beams >= 1):
            raise ValueError(f"{type(self).__name__} has beams = {self.beams!r}; it must be a positive integer.")
        if not 0 < self.power <= 1:
            raise ValueError(f"{type(self).__name__} has power = {self.power!r}; it must be above 0 and at most 1.")
        kept = min(self.beams, scans.shape[1])
        if not (isinstance(self.rotation, int | np.integer) and 0 <= self.rotation < kept / 2):
            raise ValueError(
                f"{type(self).__name__} has rotation = {self.rotation!r}, but only {kept} beams are kept; it must be "
                "an integer, at least 0 and below half of them."
            )
        return scans

    def _vectors(self, scans: FloatArray) -> FloatArray:
        """Return the clipped, compressed and pooled scans v."""
        limit = self._learnt("max_range")
        clipped = np.minimum(np.where(np.isnan(scans), limit, scans), limit) ** self.power
        starts = np.linspace(0, scans.shape[1], min(self.beams, scans.shape[1]), endpoint=False).astype(np.intp)
        sizes = np.diff(np.append(starts, scans.shape[1]))
        return np.asarray(np.add.reduceat(clipped, starts, axis=1) / sizes)

    def _learnt(self, name: str) -> float:
        if hasattr(self, f"{name}_"):
            return float(getattr(self, f"{name}_"))
        if getattr(self, name) is None:
            raise not_fitted(f"{type(self).__name__}({name}=None) learns it from examples: call fit(examples) first.")
        return float(positive(getattr(self, name), name, self))
