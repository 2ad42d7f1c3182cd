"""Choosing hyper-parameters by cross validation over sequences, for every filter of the package."""

from kmcf.tuning.result import TuningResult
from kmcf.tuning.search import tune
from kmcf.tuning.trials import Trial

__all__ = ["Trial", "TuningResult", "tune"]
