"""The methods compared, each made from a problem's settings and a fold."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from kmcf.baselines import (
    KernelBayesFilter,
    KNNParticleFilter,
    KNNRegression,
    NearestNeighbor,
    PoissonParticleFilter,
)
from kmcf.filter import KernelMonteCarloFilter, ParticleLikelihoodFilter
from kmcf.filter.sequential import SequentialFilter
from kmcf.kernels import Kernel
from kmcf.transitions.pairs import read_pairs
from kmcf_lab.localize.motion import fitted_motion
from kmcf_lab.localize.problem import LocalizationFold, Settings
from kmcf_lab.localize.splits import training_rows
from kmcf_lab.moves import knowing_moves

PLACE_FIELD = 12.0
"""Smoothing of the place fields of the rat on the track, in centimetres."""
USUAL_PARAMETERS = 3
"""State bandwidth, ε and δ of KMCF; number of neighbours, weights and smoothing of kNN-PF."""
RANK = ("rank",)
OURS: dict[str, Any] = {"reject": None, "relocate": None, "resample_threshold": 2.0}
"""What our filter does by default and the paper's does not."""
Maker = Callable[[Settings, dict[str, Any]], SequentialFilter]


@dataclass(frozen=True)
class LocalizationMethod:
    """One of the methods compared.

    Attributes
    ----------
    label : str
        Its name in tables.
    make : callable
        From the settings and the arguments that all filters share to a filter that is not fitted.
    least : int
        Number of examples above which it differs from plain KMCF; it is left out otherwise.
    printed : bool
        Whether it is one of the paper's, as printed, where a problem's settings are the paper's.
    parameters : int
        How many settings are tuned there; trials are given in proportion.
    held : sequence of str
        Settings that make the method what it is called, and are not tuned.
    """

    label: str
    make: Maker
    least: int = 0
    printed: bool = True
    parameters: int = USUAL_PARAMETERS
    held: tuple[str, ...] = ()

    def trials(self, usual: int) -> int:
        """Return how many settings are tried if ``usual`` are for a method with three parameters.

        Examples
        --------
        >>> METHODS["kmcf"].trials(12), METHODS["kbr"].trials(12)
        (12, 20)
        """
        return usual * self.parameters // USUAL_PARAMETERS


def _kmcf(**changes: Any) -> Maker:
    def make(settings: Settings, common: dict[str, Any]) -> SequentialFilter:
        own = {name: clone(one) if isinstance(one, Kernel) else one for name, one in settings.kmcf.items()}
        chosen = {**kernels_of(settings), **own, **changes}
        if chosen.pop("support", "examples") == "particles":
            chosen.pop("engine", None)
            return ParticleLikelihoodFilter(**common, **chosen)
        return KernelMonteCarloFilter(**common, **chosen)

    return make


def _knn_particles(settings: Settings, common: dict[str, Any]) -> SequentialFilter:
    kernel = kernels_of(settings)["observation_kernel"]
    return KNNParticleFilter(**common, observation_kernel=kernel, **settings.knn_particles)


def _kernel_bayes(settings: Settings, common: dict[str, Any]) -> SequentialFilter:
    made = knowing_moves(common.pop("moves")) if "moves" in common else KernelBayesFilter
    return made(**common, **kernels_of(settings), **settings.kernel_bayes)


def _neighbours(settings: Settings, common: dict[str, Any]) -> SequentialFilter:
    kernel = kernels_of(settings)["observation_kernel"]
    return KNNRegression(
        **common, n_neighbors=settings.neighbours, neighbor_weights="uniform", observation_kernel=kernel
    )


def _nearest(settings: Settings, common: dict[str, Any]) -> SequentialFilter:
    return NearestNeighbor(**common, observation_kernel=kernels_of(settings)["observation_kernel"])


def _defaults(_settings: Settings, common: dict[str, Any]) -> SequentialFilter:
    return KernelMonteCarloFilter(**common, tolerance="auto")


def _poisson(_settings: Settings, common: dict[str, Any]) -> SequentialFilter:
    return PoissonParticleFilter(**common, width=PLACE_FIELD, columns=(0, 1))


def _poisson_chosen(_settings: Settings, common: dict[str, Any]) -> SequentialFilter:
    return PoissonParticleFilter(**common, columns=(0, 1))


def kernels_of(settings: Settings) -> dict[str, Any]:
    """Return fresh kernels, so that every filter has its own."""
    given = {"state_kernel": settings.state_kernel, "observation_kernel": settings.observation_kernel}
    return {name: None if kernel is None else clone(kernel) for name, kernel in given.items()}


METHODS: dict[str, LocalizationMethod] = {
    "kmcf": LocalizationMethod("KMCF", _kmcf()),
    **{
        f"kmcf-low{r}": LocalizationMethod(f"KMCF-low{r}", _kmcf(engine="literal", rank=r), least=r, held=RANK)
        for r in (50, 100)
    },
    **{f"kmcf-sub{r}": LocalizationMethod(f"KMCF-sub{r}", _kmcf(n_examples=r), least=r) for r in (150, 300)},
    "ours": LocalizationMethod("ours", _kmcf(engine="auto", **OURS), printed=False),
    **{
        f"ours-low{r}": LocalizationMethod(
            f"ours, rank {r}", _kmcf(engine="lowrank", rank=r, **OURS), least=r, printed=False, held=RANK
        )
        for r in (50, 100)
    },
    "kmcf-defaults": LocalizationMethod("KMCF, defaults", _defaults, printed=False),
    "knn-pf": LocalizationMethod("kNN-PF", _knn_particles),
    "kbr": LocalizationMethod("KBR filter", _kernel_bayes, parameters=5),
    "knn": LocalizationMethod("k-NN mean", _neighbours, printed=False),
    "nai": LocalizationMethod("NAI (nearest)", _nearest),
    "poisson": LocalizationMethod("Poisson filter", _poisson, printed=False),
    "poisson-chosen": LocalizationMethod("Poisson filter, width chosen", _poisson_chosen, printed=False),
}


def unfitted(name: str, settings: Settings, fold: LocalizationFold, seed: int) -> SequentialFilter:
    """Make the filter of a method for a fold; it starts anywhere among the example states."""
    common = {"transition": fitted_motion(settings, fold), "angles": fold.test.angles, "random_state": seed}
    if name == "kbr" and fold.validation:  # what it is tuned on is no sequence
        common["moves"] = _moves(fold)
    return METHODS[name].make(settings, common)


def fitted(flt: SequentialFilter, fold: LocalizationFold) -> SequentialFilter:
    """Fit a filter to the examples of a fold; one that learns the motion gets the moves of the training sequences.

    Where folds share their examples, the filter last fitted is used again if it had the same settings and examples.
    """
    if not fold.shared:
        return _fitted(flt, fold)
    settings = pickle.dumps(flt)
    known = _LAST.get(type(flt).__name__)
    if known is None or known[0] != settings or known[1] is not fold.states:
        known = settings, fold.states, _fitted(flt, fold)
        _LAST[type(flt).__name__] = known
    return known[2]


_LAST: dict[str, tuple[bytes, Any, SequentialFilter]] = {}
"""The filter last fitted to shared examples, by class, with its settings and the example states."""


def _fitted(flt: SequentialFilter, fold: LocalizationFold) -> SequentialFilter:
    if isinstance(flt, KernelBayesFilter):
        return flt.fit(fold.states, fold.observations, transitions=_moves(fold))
    return flt.fit(fold.states, fold.observations)


def _moves(fold: LocalizationFold) -> tuple[Any, ...]:
    """Return the moves of the training sequences: states before and after, and their controls if there are any."""
    pairs = read_pairs(list(fold.training))
    return (pairs.previous, pairs.next) if pairs.controls is None else (pairs.previous, pairs.next, pairs.controls)


def calibrated(flt: SequentialFilter, fold: LocalizationFold) -> SequentialFilter:
    """Calibrate a fitted filter on sequences that are shown like the test sequence.

    Those for tuning alone were not learnt from, and the filter is run over them as it is; where there are none, the
    training sequences are left out in turn.
    """
    if fold.validation:
        rows = training_rows([one for one in fold.tuning or fold.training if one.name in fold.validation], fold)
        learned_from = None
    else:
        rows = training_rows(fold.training, fold)
        if rows.learned_from.sum() != fold.size:  # pieces too short to learn moves from are in what tuning leaves out
            rows = training_rows(fold.tuning or fold.training, fold)
        learned_from = rows.learned_from
    return flt.calibrate(
        rows.states,
        rows.observations,
        rows.groups,
        controls=rows.controls,
        learned_from=learned_from,
        corrected_at=rows.corrected_at,
        smooth=False,
    )
