"""As few features as accuracy allows, found by trying.

Kernels on high-dimensional or structured observations have kernel matrices of nearly full rank, but what a posterior
over *states* needs of them is little: the directions of the observation features that depend on the state, and a few
others that those interact with. Comparing posteriors shows how many (:mod:`kmcf.bayes_rule.probes`): those with all
features, and those with a growing number of directions, until they agree. The state features are cut in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.bayes_rule.probes import LARGEST_CHANGE, Change, Probes
from kmcf.bayes_rule.rotation import informative_directions, leading_directions
from kmcf.numerics.arrays import FloatArray

FEWEST = 32
GROWTH = 1.25
LOOSER = (1.0, 0.1, 0.01)
"""State features are cut where the residual falls below these multiples of the tolerance, the first that will do."""
SHARE = 0.75
"""Share of the change that is allowed which fewer observation features may use up; the state features get the rest."""
LITTLE_MORE = 1.25
Affordable = Callable[[int, int], bool]
NO_CHANGE = Change(0.0, 0.0)


class Reduced(NamedTuple):
    """Features, and how much posteriors change with them."""

    states: KernelFeatures
    observations: KernelFeatures
    change: Change


def reduce_features(
    states: KernelFeatures,
    observations: KernelFeatures,
    probes: Probes | None,
    *,
    tolerance: float,
    affordable: Affordable,
) -> Reduced:
    """Return the fewest features with which posteriors hardly change, or all of them.

    Where a step would become expensive before posterior means stand still to a hundredth of their sd, it is enough that
    their errors do not grow: posteriors can be far narrower than their errors.

    Parameters
    ----------
    states, observations : KernelFeatures
        Fine ones.
    probes : Probes or None
        Corrections to compare; None: nothing can be compared, and nothing is left out.
    tolerance : float
        Relative residual at which the state features could end if posteriors allow it.
    affordable : callable
        Says whether a step with so many features of states and observations is cheap enough.
    """
    if probes is None:
        return Reduced(states, observations, NO_CHANGE)
    fewer, change = reduce_observations(states, observations, probes, affordable)
    for looser in LOOSER:
        count = states.needed(looser * tolerance)
        if count == states.rank:
            break
        cut = states.truncated(count)
        found = probes.change(cut.rows, fewer.rows)
        if found.harmless and found.means <= max(LARGEST_CHANGE, LITTLE_MORE * change.means):
            return Reduced(cut, fewer, found)
    return Reduced(states, fewer, change)


def reduce_observations(
    states: KernelFeatures, observations: KernelFeatures, probes: Probes, affordable: Affordable
) -> tuple[KernelFeatures, Change]:
    """Return the fewest observation features with which posteriors hardly change, or all of them."""
    q = observations.rank
    if q <= 2 * FEWEST:
        return observations, NO_CHANGE
    orders = list(_orders(states, observations))
    size = FEWEST
    while size <= 0.8 * q:
        changes = [probes.change(states.rows, observations.rows @ order[:size].T) for order in orders]
        change, directions = min(zip(changes, orders, strict=True), key=lambda pair: pair[0].means)
        larger = int(size * GROWTH)
        if change.within(SHARE) or (change.harmless and not affordable(states.rank, larger)):
            return observations.reduced(directions[:size]), change
        size = larger
    return observations, NO_CHANGE


def _orders(states: KernelFeatures, observations: KernelFeatures) -> Iterator[FloatArray]:
    """Yield orthonormal directions, the most important first: those that tell about the state, those that vary most."""
    yield informative_directions(observations.rows, states.rows)
    yield leading_directions(observations.rows, observations.rank)
