"""The methods compared, each made from a problem's settings and a fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from kmcf.baselines import KernelBayesFilter, KNNParticleFilter, KNNRegression, NearestNeighbor
from kmcf.filter import KernelMonteCarloFilter, ParticleLikelihoodFilter
from kmcf.filter.sequential import SequentialFilter
from kmcf.transitions.pairs import read_pairs
from kmcf_lab.localize.motion import fitted_motion
from kmcf_lab.localize.problem import Fold, Settings

Maker = Callable[[Settings, dict[str, Any]], SequentialFilter]


@dataclass(frozen=True)
class Method:
    """One of the methods.

    Attributes
    ----------
    label : str
        How it is called in tables.
    make : callable
        From settings and what all filters share to a filter that is not fitted.
    least : int
        Number of examples above which it differs from the plain method; it is skipped below.
    """

    label: str
    make: Maker
    least: int = 0


def _kmcf(**changes: Any) -> Maker:
    def make(settings: Settings, common: dict[str, Any]) -> SequentialFilter:
        chosen = {**settings.kmcf, **changes}
        if chosen.pop("support", "examples") == "particles":
            return ParticleLikelihoodFilter(**common, **_kernels(settings), **chosen)
        return KernelMonteCarloFilter(**common, **_kernels(settings), **chosen)

    return make


def _knn_particles(settings: Settings, common: dict[str, Any]) -> SequentialFilter:
    kernel = _kernels(settings)["observation_kernel"]
    return KNNParticleFilter(**common, observation_kernel=kernel, **settings.knn_particles)


def _kernel_bayes(settings: Settings, common: dict[str, Any]) -> SequentialFilter:
    return KernelBayesFilter(**common, **_kernels(settings), **settings.kernel_bayes)


def _neighbours(settings: Settings, common: dict[str, Any]) -> SequentialFilter:
    kernel = _kernels(settings)["observation_kernel"]
    return KNNRegression(
        **common, n_neighbors=settings.neighbours, neighbor_weights="uniform", observation_kernel=kernel
    )


def _nearest(settings: Settings, common: dict[str, Any]) -> SequentialFilter:
    return NearestNeighbor(**common, observation_kernel=_kernels(settings)["observation_kernel"])


def _kernels(settings: Settings) -> dict[str, Any]:
    """Give every filter kernels of its own."""
    given = {"state_kernel": settings.state_kernel, "observation_kernel": settings.observation_kernel}
    return {name: None if kernel is None else clone(kernel) for name, kernel in given.items()}


METHODS: dict[str, Method] = {
    "kmcf": Method("KMCF", _kmcf()),
    **{f"kmcf-low{r}": Method(f"KMCF-low{r}", _kmcf(engine="lowrank", rank=r), least=r) for r in (50, 100)},
    **{f"kmcf-sub{r}": Method(f"KMCF-sub{r}", _kmcf(n_examples=r), least=r) for r in (150, 300)},
    "knn-pf": Method("kNN-PF", _knn_particles),
    "kbr": Method("KBR filter", _kernel_bayes),
    "knn": Method("k-NN mean", _neighbours),
    "nai": Method("NAI (nearest)", _nearest),
}


def unfitted(name: str, settings: Settings, fold: Fold, seed: int) -> SequentialFilter:
    """Make the filter of a method for a fold; it starts from all example states."""
    common = {"transition": fitted_motion(settings, fold), "angles": fold.test.angles, "random_state": seed}
    return METHODS[name].make(settings, common)


def fitted(flt: SequentialFilter, fold: Fold) -> SequentialFilter:
    """Fit a filter on the examples of a fold; one that learns the motion gets the moves of the training sequences."""
    if isinstance(flt, KernelBayesFilter):
        pairs = read_pairs(list(fold.training))
        moves = (pairs.previous, pairs.next) if pairs.controls is None else (pairs.previous, pairs.next, pairs.controls)
        return flt.fit(fold.states, fold.observations, transitions=moves)
    return flt.fit(fold.states, fold.observations)
