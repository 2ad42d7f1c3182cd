"""kmcf: Bayesian filtering when nobody can write down the observation model.

All that is needed are example pairs (state, observation) and a way to simulate how the state moves.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kmcf._version import __version__

if TYPE_CHECKING:
    from kmcf import baselines, datasets, export, filter, herding, kernels, live, store, transitions, trust, tuning
    from kmcf.datasets import Window, windows
    from kmcf.embedding import Embedding
    from kmcf.filter import Belief, FilterRun, KernelMonteCarloFilter, ParticleLikelihoodFilter
    from kmcf.herding import Subsample, subsample
    from kmcf.store import load
    from kmcf.support.alerts import (
        CalibrationWarning,
        FewExamplesWarning,
        HighRankWarning,
        RefittedWarning,
        RejectedStepWarning,
        SkippedDataWarning,
        StalePivotsWarning,
        UnusedTimesWarning,
    )
    from kmcf.tuning import TuningResult, tune

# Names are imported on first use, so that the command line starts quickly.
_HOMES = {
    "Belief": "kmcf.filter",
    "Embedding": "kmcf.embedding",
    "FewExamplesWarning": "kmcf.support.alerts",
    "FilterRun": "kmcf.filter",
    "HighRankWarning": "kmcf.support.alerts",
    "KernelMonteCarloFilter": "kmcf.filter",
    "CalibrationWarning": "kmcf.support.alerts",
    "ParticleLikelihoodFilter": "kmcf.filter",
    "RefittedWarning": "kmcf.support.alerts",
    "RejectedStepWarning": "kmcf.support.alerts",
    "SkippedDataWarning": "kmcf.support.alerts",
    "StalePivotsWarning": "kmcf.support.alerts",
    "UnusedTimesWarning": "kmcf.support.alerts",
    "Subsample": "kmcf.herding",
    "TuningResult": "kmcf.tuning",
    "Window": "kmcf.datasets",
    "load": "kmcf.store",
    "subsample": "kmcf.herding",
    "tune": "kmcf.tuning",
    "windows": "kmcf.datasets",
}
_ROOMS = (
    *("baselines", "datasets", "export", "filter", "herding", "kernels"),
    *("live", "store", "transitions", "trust", "tuning"),
)

__all__ = [
    "Belief",
    "CalibrationWarning",
    "Embedding",
    "FewExamplesWarning",
    "FilterRun",
    "HighRankWarning",
    "KernelMonteCarloFilter",
    "ParticleLikelihoodFilter",
    "RefittedWarning",
    "RejectedStepWarning",
    "SkippedDataWarning",
    "StalePivotsWarning",
    "Subsample",
    "TuningResult",
    "UnusedTimesWarning",
    "Window",
    "__version__",
    "baselines",
    "datasets",
    "export",
    "filter",
    "herding",
    "kernels",
    "live",
    "load",
    "store",
    "subsample",
    "transitions",
    "trust",
    "tune",
    "tuning",
    "windows",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"kmcf.{name}")
    raise AttributeError(f"module 'kmcf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
