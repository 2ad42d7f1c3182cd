"""Choosing hyper-parameters by cross validation over sequences, for every filter of the package."""

from kmcf.support.search_space import Category, Integer, LogNormal
from kmcf.tuning.result import TuningResult
from kmcf.tuning.search import tune
from kmcf.tuning.trials import Trial

__all__ = ["Category", "Integer", "LogNormal", "Trial", "TuningResult", "tune"]
