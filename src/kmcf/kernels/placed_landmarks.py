"""A kernel for landmarks in view whose places in the world the examples tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from kmcf.kernels.base import positive
from kmcf.kernels.distances import squared_euclidean
from kmcf.kernels.landmarks import LandmarkSet, PreparedSets
from kmcf.kernels.placed import Placed, PlacingKernel, as_poses, checked_search, in_world, poses_around
from kmcf.kernels.sets import ElementSets
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import as_objects

FURTHER = 0.5
"""A product over many landmarks is small even at the true pose, and far smaller by chance: a filter's background counts
so much less for each landmark beyond the first."""
_FINEST = 1e-3  # least spread of a landmark's places, in units of its distance


class PlacedLandmarks(LandmarkSet, PlacingKernel):
    r"""Kernel on sets of landmarks (identity, x, y), seen from a pose: x metres ahead, y metres to the left.

    Between observations alone it is ``LandmarkSet(method="match")``. A filter with ``support="particles"`` and poses
    (x, y, heading) as states gets more out of it: each example says where in the world its landmarks are, so what it
    saw can be carried to where a particle is, however far its heading is from the example's. The likelihood of a set S
    at a pose is a product over its landmarks,

    .. math:: \prod_{\ell \in S} (\rho^2 + (1 - \rho^2) \sum_i A_i^\ell\, g(q_\ell - p_i)),

    with :math:`q_\ell` the place where the landmark would be if it was seen from that pose, :math:`p_i` the places
    where the examples that saw it say it is, :math:`A_i^\ell` the share of example i among these around the pose (by
    the kernel on states), :math:`g(d) = \exp(-\|d\|^2 / 2\sigma^2)` and ρ = ``absent``. Errors of the sensor that
    depend on the distance are learnt with it, because examples around the pose count most. A landmark that no example
    saw says nothing, and one that is not seen says nothing either. δ is not used. A filter's ``background`` counts
    half for each landmark beyond the first, because the product becomes smaller with each of them.

    :func:`~kmcf.datasets.recent_landmarks` makes such sets of ranges and bearings.

    Parameters
    ----------
    identity : int
        Column of the identity (any hashable value).
    absent : float
        ρ in [0, 1). No landmark counts against a pose by more than the factor ρ², as one that was mistaken must not.
    bandwidth : float, optional
        σ. None: ``multiplier`` times the median distance of an example's landmark to the median place of that landmark.
    multiplier : float
        Factor on that distance.
    search : int
        Number of poses, spread around the positions of the examples with any heading, that are tried where a set fits
        the predicted ones badly (a factor below 0.4 per landmark on average): at an unknown start, and where a filter
        is lost. The best of them join the prediction, a fifth of which is taken to be anywhere. 0: none.

    Attributes
    ----------
    bandwidth_ : array (2,)
        σ for both columns.

    Examples
    --------
    Two examples saw post 7, from poses with opposite headings, at (3, 0). From (1, 0) it would be seen 2 m ahead.

    >>> kernel = PlacedLandmarks(bandwidth=0.5, absent=0.0)
    >>> examples = kernel.prepare([[(7, 3.0, 0.0)], [(7, 2.0, 0.0)]])
    >>> placed = kernel.placed(np.array([[0.0, 0.0, 0.0], [5.0, 0.0, np.pi]]), examples)
    >>> poses = np.array([[1.0, 0.0, 0.0], [1.0, 0.5, 0.0]])
    >>> placed.likelihood(poses, kernel.prepare([[(7, 2.0, 0.0)]]), np.zeros((2, 2))).round(3)
    array([1.   , 0.607])
    """

    angles: ClassVar[Sequence[int]] = ()  # type: ignore[misc]
    method: ClassVar[str] = "match"  # type: ignore[misc]
    normalize: ClassVar[bool] = True  # type: ignore[misc]

    def __init__(
        self,
        identity: int = 0,
        absent: float = 0.3,
        bandwidth: float | None = None,
        multiplier: float = 2.0,
        search: int = 5000,
    ) -> None:
        self.identity = identity
        self.absent = absent
        self.bandwidth = bandwidth
        self.multiplier = multiplier
        self.search = search

    def fit(self, objects: Any, states: Any = None) -> Self:
        """Learn σ from how far apart the examples place a landmark, if it was not given."""
        if self.bandwidth is not None:
            return super().fit(objects, states)
        if states is None:
            raise ValueError("PlacedLandmarks(bandwidth=None) learns its bandwidth from examples with their poses.")
        sets = self._read(as_objects(objects, "the kernel's examples", structured=True), columns=None)
        self._check(sets.rows.shape[1])
        if len(sets.rows) == 0:
            raise ValueError("all example sets are empty: PlacedLandmarks cannot learn its bandwidth from them.")
        places = _places(as_poses(states, "PlacedLandmarks"), sets, sets.rows)
        away = np.concatenate([_distances_to_median(places[members]) for members in sets.groups.values()])
        factor = float(positive(self.multiplier, "multiplier", self))
        # No sensor is better than a thousandth of the distance, though made-up data may say so.
        finest = _FINEST * float(np.median(np.linalg.norm(sets.rows, axis=1))) or 1.0
        self.bandwidth_ = np.full(2, factor * max(float(np.median(away)), finest))
        return self

    def placed(self, poses: FloatArray, prepared: PreparedSets) -> Placed:
        """Place the landmarks of the examples in the world."""
        sets, width = prepared[0], self._sigma
        known = as_poses(poses, "PlacedLandmarks")
        places = _places(known, sets, sets.rows * width)
        members = {key: (sets.owners[rows], places[rows] / width) for key, rows in sets.groups.items()}
        anywhere = poses_around(known, checked_search(self.search, "PlacedLandmarks"))
        return PlacedSets(members, width, self.absent, anywhere)

    @property
    def _sigma(self) -> float:
        return float(self._bandwidth(2)[0])

    def _check(self, width: int) -> None:
        super()._check(width)
        if width not in (0, 2):
            raise ValueError(
                f"the elements of the sets have {width + 1} columns; PlacedLandmarks needs three: identity, metres "
                "ahead, metres to the left."
            )


@dataclass(frozen=True, eq=False)
class PlacedSets(Placed):
    """Where the examples say that landmarks are."""

    members: dict[Any, tuple[Any, FloatArray]]
    """By identity: the examples that saw it, (k,), and where they place it, (k, 2), in units of σ."""
    width: float
    """σ."""
    absent: float
    """ρ."""
    anywhere: FloatArray

    def fit(self, poses: FloatArray, observation: PreparedSets) -> FloatArray:
        """Return the geometric mean over the landmarks."""
        return self.likelihood(poses, observation, None) ** (1.0 / max(self._known(observation), 1))

    def unit(self, observation: PreparedSets) -> float:
        """Return 1 for one landmark, half for two, a quarter for three."""
        return float(FURTHER ** max(self._known(observation) - 1, 0))

    def _known(self, observation: PreparedSets) -> int:
        """Count the landmarks of a set that some example saw."""
        sets = observation[0]
        return sum(sets.keys[code] in self.members for code in sets.codes)

    def likelihood(self, poses: FloatArray, observation: PreparedSets, logs: FloatArray | None) -> FloatArray:
        """Multiply what each landmark says."""
        sets = observation[0]
        fits = np.ones(len(poses))
        for code, (ahead, left) in zip(sets.codes, sets.rows, strict=True):
            if sets.keys[code] not in self.members:
                continue
            owners, places = self.members[sets.keys[code]]
            x, y = in_world(poses, ahead * self.width, left * self.width)
            similar = np.exp(-0.5 * squared_euclidean(places, np.stack([x, y], axis=1) / self.width))
            near = np.zeros((len(owners), 1)) if logs is None else logs[owners]
            shares = np.exp(near - near.max(axis=0))
            floor = self.absent**2
            fits *= floor + (1.0 - floor) * np.sum(shares * similar, axis=0) / shares.sum(axis=0)
        return fits


def _places(poses: FloatArray, sets: ElementSets, rows: FloatArray) -> FloatArray:
    """Return where elements (N, 2), seen from the poses of their sets, are in the world, (N, 2)."""
    if len(rows) == 0:
        return np.empty((0, 2))
    return np.stack(in_world(poses[sets.owners], rows[:, 0], rows[:, 1]), axis=1)


def _distances_to_median(places: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(places - np.median(places, axis=0), axis=1))
