"""kmcf: Bayesian filtering when nobody can write down the observation model.

All that is needed are example pairs (state, observation) and a way to simulate how the state moves.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kmcf._version import __version__

if TYPE_CHECKING:
    from kmcf import (
        adaptation,
        baselines,
        datasets,
        export,
        filter,
        herding,
        kernels,
        live,
        store,
        transitions,
        trust,
        tuning,
    )
    from kmcf.adaptation import Adaptation, ChangeVerdict, TransitionFit, adapt, learn_transition, sensor_changed
    from kmcf.datasets import Window, windows
    from kmcf.embedding import Embedding
    from kmcf.filter import Belief, FilterRun, KernelMonteCarloFilter, ParticleLikelihoodFilter
    from kmcf.herding import Subsample, subsample
    from kmcf.store import load
    from kmcf.support.alerts import (
        CalibrationWarning,
        FewExamplesWarning,
        GuessedMotionWarning,
        HighRankWarning,
        LearningWarning,
        RefittedWarning,
        RejectedStepWarning,
        SkippedDataWarning,
        StalePivotsWarning,
        UnusedTimesWarning,
    )
    from kmcf.tuning import TuningResult, tune

# Names are imported on first use, so that the command line starts quickly.
_HOMES = {
    "Adaptation": "kmcf.adaptation",
    "Belief": "kmcf.filter",
    "ChangeVerdict": "kmcf.adaptation",
    "Embedding": "kmcf.embedding",
    "FewExamplesWarning": "kmcf.support.alerts",
    "FilterRun": "kmcf.filter",
    "GuessedMotionWarning": "kmcf.support.alerts",
    "HighRankWarning": "kmcf.support.alerts",
    "KernelMonteCarloFilter": "kmcf.filter",
    "LearningWarning": "kmcf.support.alerts",
    "CalibrationWarning": "kmcf.support.alerts",
    "ParticleLikelihoodFilter": "kmcf.filter",
    "RefittedWarning": "kmcf.support.alerts",
    "RejectedStepWarning": "kmcf.support.alerts",
    "SkippedDataWarning": "kmcf.support.alerts",
    "StalePivotsWarning": "kmcf.support.alerts",
    "UnusedTimesWarning": "kmcf.support.alerts",
    "Subsample": "kmcf.herding",
    "TransitionFit": "kmcf.adaptation",
    "TuningResult": "kmcf.tuning",
    "Window": "kmcf.datasets",
    "adapt": "kmcf.adaptation",
    "learn_transition": "kmcf.adaptation",
    "sensor_changed": "kmcf.adaptation",
    "load": "kmcf.store",
    "subsample": "kmcf.herding",
    "tune": "kmcf.tuning",
    "windows": "kmcf.datasets",
}
_ROOMS = (
    "adaptation",
    "baselines",
    "datasets",
    "export",
    "filter",
    "herding",
    "kernels",
    "live",
    "store",
    "transitions",
    "trust",
    "tuning",
)
# Rooms that need a package of an extra; not announced, so that who asks for all names need not have it.
_EXTRAS = {"compiled": ("jax", "jax"), "distributed": ("dask", "distributed")}

__all__ = [
    "Adaptation",
    "Belief",
    "CalibrationWarning",
    "ChangeVerdict",
    "Embedding",
    "FewExamplesWarning",
    "FilterRun",
    "GuessedMotionWarning",
    "HighRankWarning",
    "KernelMonteCarloFilter",
    "LearningWarning",
    "ParticleLikelihoodFilter",
    "RefittedWarning",
    "RejectedStepWarning",
    "SkippedDataWarning",
    "StalePivotsWarning",
    "Subsample",
    "TransitionFit",
    "TuningResult",
    "UnusedTimesWarning",
    "Window",
    "__version__",
    "adapt",
    "adaptation",
    "baselines",
    "datasets",
    "export",
    "filter",
    "herding",
    "kernels",
    "learn_transition",
    "live",
    "load",
    "sensor_changed",
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
    if name in _EXTRAS:
        import_module("kmcf.support.extras").require(*_EXTRAS[name])
        return import_module(f"kmcf.{name}")
    raise AttributeError(f"module 'kmcf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
