"""A kernel for laser scans whose echoes the examples place in the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kmcf.kernels.base import positive
from kmcf.kernels.placed import Placed, PlacingKernel, as_poses, checked_search, in_world, poses_around
from kmcf.kernels.scans import LaserScan
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects

_MOST_CELLS = 1 << 24  # of the field
_CELLS_PER_WIDTH = 4
_SEEN_WIDTHS = 4.0  # beyond so many widths from any echo the field is zero

PreparedPlacedScans: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
"""As of LaserScan, and the clipped ranges."""


class PlacedScan(LaserScan, PlacingKernel):
    r"""Kernel on laser scans, which are made from a pose (x, y, heading).

    Between observations alone it is :class:`LaserScan`. A filter with ``support="particles"`` and poses as states gets
    more out of it: each example says where in the world its echoes came from, so that the examples together say what a
    scan would hit from anywhere near them, in any direction. With :math:`q_b` the place of the echo of beam b, if the
    scan was made at a pose, and :math:`p` the nearest echo of an example, the likelihood of the scan there is

    .. math:: \prod_b \bigl(\rho^2 + (1 - \rho^2)\, e^{-\|q_b - p\|^2 / 2 s^2}\bigr)^{c / B}

    over the beams with an echo, of B kept ones. Neighbouring beams err together, so all of them count as ``count`` = c
    beams. This is the *likelihood field* of Probabilistic Robotics (Thrun, Burgard, Fox; Section 6.4), on a map that
    nobody has to draw. A beam without an echo says nothing. δ is not used.

    Parameters
    ----------
    field : float, optional
        Angle between the first beam and the last, in radians; scans are counter-clockwise, and their middle is ahead.
        None: π, or with ``full_circle`` a whole turn.
    width : float
        s, in units of length: how precisely echoes match, errors of the example poses included.
    miss : float
        ρ in [0, 1). No beam counts against a pose by more than the factor ρ², as a person in the way must not.
    count : float
        c.
    resemblance : float
        Share in [0, 1] of the likelihood that goes by how much the scan resembles those of examples around the pose, by
        :class:`LaserScan`. That is far less precise, but pulls particles from further away, so that a filter that knows
        nothing about its start finds itself with fewer of them.
    search : int
        Number of poses, spread around the positions of the examples with any heading, that are tried where a scan fits
        the predicted ones badly (a likelihood below 0.4 on average): at an unknown start, and where a filter is lost.
        The best of them join the prediction, a fifth of which is taken to be anywhere. 0: none.
    max_range, beams, rotation, full_circle, power, bandwidth, multiplier
        As for :class:`LaserScan`. Longer ranges than ``max_range`` are no echoes.

    Examples
    --------
    A wall 2 m ahead, seen from the origin; half a metre nearer, a scan would have to show 1.5 m.

    >>> bearings = np.linspace(-0.2, 0.2, 5)
    >>> wall = 2.0 / np.cos(bearings)
    >>> kernel = PlacedScan(field=0.4, width=0.2, max_range=9.0, rotation=0, bandwidth=1.0)
    >>> placed = kernel.placed(np.zeros((1, 3)), kernel.prepare(wall[None]))
    >>> poses = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]])
    >>> placed.likelihood(poses, kernel.prepare(0.75 * wall[None]), None).argmax()
    np.int64(1)
    """

    def __init__(
        self,
        field: float | None = None,
        width: float = 0.2,
        miss: float = 0.3,
        count: float = 6.0,
        resemblance: float = 0.0,
        search: int = 20_000,
        max_range: float | None = None,
        beams: int = 60,
        rotation: int = 4,
        full_circle: bool = False,
        power: float = 0.5,
        bandwidth: float | None = None,
        multiplier: float = 0.25,
    ) -> None:
        super().__init__(max_range, beams, rotation, full_circle, power, bandwidth, multiplier)
        self.field = field
        self.width = width
        self.miss = miss
        self.count = count
        self.resemblance = resemblance
        self.search = search

    def prepare(self, objects: Objects) -> Any:
        """Prepare scans as LaserScan does, and keep the ranges of echoes; NaN where there was none."""
        scans = self._scans(objects)
        limit = self._learnt("max_range")
        return *super().prepare(objects), np.where(scans < limit, scans, np.nan)

    def evaluate(self, a: Any, b: Any) -> FloatArray:
        """Return the similarities of LaserScan."""
        return super().evaluate(a[:2], b[:2])

    def placed(self, poses: FloatArray, prepared: PreparedPlacedScans) -> Placed:
        """Draw the echoes of all examples on a grid, and how near each of its cells is to one."""
        ranges = prepared[2]
        width = float(positive(self.width, "width", self))
        self._check_placing()
        bearings = self._bearings(ranges.shape[1])
        known = as_poses(poses, "PlacedScan")[:, None, :]
        x, y = in_world(known, ranges * np.cos(bearings), ranges * np.sin(bearings))
        echoes = np.stack([x[np.isfinite(ranges)], y[np.isfinite(ranges)]], axis=1)
        chosen = np.linspace(0, ranges.shape[1] - 1, min(self.beams, ranges.shape[1])).round().astype(np.intp)
        near, corner, cell = _field(echoes, width)
        with np.errstate(divide="ignore"):
            logs = np.log(self.miss**2 + (1.0 - self.miss**2) * near)
        return EchoField(
            logs=logs,
            corner=corner,
            cell=cell,
            bearings=bearings[chosen],
            chosen=chosen,
            power=self.count / len(chosen),
            anywhere=poses_around(known[:, 0], checked_search(self.search, "PlacedScan")),
            resemblance=self.resemblance,
        )

    def _check_placing(self) -> None:
        if not 0 <= self.miss < 1:
            raise ValueError(f"PlacedScan has miss = {self.miss!r}; it must be at least 0 and below 1.")
        if not 0 <= self.resemblance <= 1:
            raise ValueError(f"PlacedScan has resemblance = {self.resemblance!r}; it must be between 0 and 1.")
        positive(self.count, "count", self)

    def _bearings(self, beams: int) -> FloatArray:
        field = 2.0 * np.pi * (1.0 - 1.0 / beams) if self.field is None and self.full_circle else self.field
        angle = float(positive(np.pi if field is None else field, "field", self))
        if angle > 2.0 * np.pi + 1e-9:
            raise ValueError(f"PlacedScan has field = {self.field!r}; it is an angle in radians, at most 2π.")
        return np.linspace(-0.5 * angle, 0.5 * angle, beams)


@dataclass(frozen=True, eq=False)
class EchoField(Placed):
    """What an echo in each cell of a grid says: more the nearer the cell is to an echo of the examples."""

    logs: FloatArray
    """Logarithms of the factors."""
    corner: FloatArray
    """Of the first cell, (2,)."""
    cell: float
    """Side of a cell."""
    bearings: FloatArray
    chosen: Any
    """The beams that are used."""
    power: float
    """c / B."""
    anywhere: FloatArray
    resemblance: float = 0.0

    def likelihood(self, poses: FloatArray, observation: PreparedPlacedScans, _logs: FloatArray | None) -> FloatArray:
        """Look up where the echoes would lie."""
        ranges = observation[2][0, self.chosen]
        echoed = np.isfinite(ranges)
        ranges, bearings = ranges[echoed], self.bearings[echoed]
        x, y = in_world(poses[:, None, :], ranges * np.cos(bearings), ranges * np.sin(bearings))
        # What lies outside is looked up at the edge, which is far from all echoes, too.
        row, column = (
            np.clip((at - edge) / self.cell, 0, size - 1).astype(np.intp)
            for at, edge, size in zip((x, y), self.corner, self.logs.shape, strict=True)
        )
        logs = self.logs.ravel().take(row * self.logs.shape[1] + column)
        return np.asarray(np.exp(self.power * logs.sum(axis=1)))


def _field(echoes: FloatArray, width: float) -> tuple[FloatArray, FloatArray, float]:
    """Return exp(−d²/2s²) with d the distance of each cell to the nearest echo; the grid's corner; its cells' side."""
    from scipy.ndimage import distance_transform_edt

    if len(echoes) == 0:
        return np.zeros((1, 1)), np.zeros(2), 1.0
    corner = echoes.min(axis=0) - _SEEN_WIDTHS * width
    extent = echoes.max(axis=0) + _SEEN_WIDTHS * width - corner
    cell = max(width / _CELLS_PER_WIDTH, float(np.sqrt(np.prod(extent) / _MOST_CELLS)))
    empty = np.ones(tuple((extent / cell).astype(np.intp) + 1), dtype=bool)
    empty[tuple(((echoes - corner) / cell).astype(np.intp).T)] = False
    distance = cell * distance_transform_edt(empty)
    return np.where(distance < _SEEN_WIDTHS * width, np.exp(-0.5 * (distance / width) ** 2), 0.0), corner, cell
