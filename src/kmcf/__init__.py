"""kmcf: Bayesian filtering when nobody can write down the observation model.

All that is needed are example pairs (state, observation) and a way to simulate how the state moves.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kmcf._version import __version__

if TYPE_CHECKING:
    from kmcf import datasets, herding, kernels, transitions
    from kmcf.alerts import HighRankWarning, RejectedStepWarning, SkippedDataWarning, StalePivotsWarning
    from kmcf.embedding import Embedding
    from kmcf.filter import Belief, FilterRun, KernelMonteCarloFilter
    from kmcf.subsampling import Subsample, subsample

# Names are imported on first use, so that the command line starts quickly.
_HOMES = {
    "Belief": "kmcf.filter",
    "Embedding": "kmcf.embedding",
    "FilterRun": "kmcf.filter",
    "HighRankWarning": "kmcf.alerts",
    "KernelMonteCarloFilter": "kmcf.filter",
    "RejectedStepWarning": "kmcf.alerts",
    "SkippedDataWarning": "kmcf.alerts",
    "StalePivotsWarning": "kmcf.alerts",
    "Subsample": "kmcf.subsampling",
    "subsample": "kmcf.subsampling",
}
_ROOMS = ("datasets", "herding", "kernels", "transitions")

__all__ = [
    "Belief",
    "Embedding",
    "FilterRun",
    "HighRankWarning",
    "KernelMonteCarloFilter",
    "RejectedStepWarning",
    "SkippedDataWarning",
    "StalePivotsWarning",
    "Subsample",
    "__version__",
    "datasets",
    "herding",
    "kernels",
    "subsample",
    "transitions",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"kmcf.{name}")
    raise AttributeError(f"module 'kmcf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
