"""Baselines by name, fitted to the examples of another filter: rivals under equal conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kmcf.baselines.gaussian_process import GPParticleFilter
from kmcf.baselines.kernel_bayes import KernelBayesFilter
from kmcf.baselines.knn_particles import KNNParticleFilter
from kmcf.baselines.nearest import KNNRegression, NearestNeighbor
from kmcf.baselines.poisson import PoissonParticleFilter
from kmcf.filter import ParticleLikelihoodFilter
from kmcf.filter.sequential import SequentialFilter
from kmcf.support.named import did_you_mean

NAMED: dict[str, Callable[..., SequentialFilter]] = {
    "particles": ParticleLikelihoodFilter,
    "knn-pf": KNNParticleFilter,
    "gp-pf": GPParticleFilter,
    "kbr": KernelBayesFilter,
    "poisson": PoissonParticleFilter,
    "knn": KNNRegression,
    "nearest": NearestNeighbor,
}
"""Filters to compare with, none of which has to be told anything."""


def check_names(names: Sequence[str]) -> None:
    """Refuse a name that is not that of a baseline.

    Examples
    --------
    >>> check_names(["knn-pf", "nearest"])
    """
    for name in names:
        if name not in NAMED:
            hint = did_you_mean(name, NAMED, f"there are {', '.join(NAMED)}.")
            raise ValueError(f"there is no method {name!r} to compare with; {hint}")


def rivals(flt: SequentialFilter, names: Sequence[str], moves: Any = None) -> dict[str, SequentialFilter]:
    """Return baselines that are fitted to the examples of a filter, with its transition, angles and seed.

    Parameters
    ----------
    flt : filter
        Fitted, with one sensor.
    names : sequence of str
        Names of baselines: "particles", "knn-pf", "gp-pf", "kbr", "poisson", "knn" or "nearest".
    moves : tuple, optional
        ``(before, after)`` or ``(before, after, controls)``: recorded moves, from which "kbr" learns the transition.

    Examples
    --------
    >>> import numpy as np, kmcf
    >>> X = np.linspace(0.0, 1.0, 50)
    >>> flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.1), random_state=0).fit(X, X)
    >>> list(rivals(flt, ["nearest"]))
    ['nearest']
    """
    check_names(names)
    if getattr(flt, "sensors_", None):
        raise ValueError("filters of several sensors cannot be compared with others, which have one.")
    states, observations = flt._fitted_examples()
    found: dict[str, SequentialFilter] = {}
    for name in names:
        found[name] = _fitted(name, flt, states, observations, moves)
        if flt.state_names_:
            found[name].name_states(flt.state_names_)
    return found


def _fitted(name: str, flt: SequentialFilter, states: Any, observations: Any, moves: Any) -> SequentialFilter:
    """Fit one baseline; an error names it."""
    try:
        rival = NAMED[name](flt.transition, initial=flt.initial, angles=flt.angles, random_state=flt.seed_)
        if name != "kbr":
            return rival.fit(states, observations)
        if moves is None:
            raise ValueError("it learns how states move, so it needs sequences: compare it by cross validation.")
        return rival.fit(states, observations, transitions=moves)  # type: ignore[call-arg]
    except (TypeError, ValueError) as error:
        raise type(error)(f"the method {name!r} cannot be compared with: {error}") from error
