"""Choosing hyper-parameters by cross validation over sequences, for every filter of the package."""

from kmcf.support.search_space import Category, Integer, LogNormal
from kmcf.tuning.crossvalidation import CrossValidation, cross_validate
from kmcf.tuning.result import TuningResult
from kmcf.tuning.search import tune
from kmcf.tuning.trials import Trial
from kmcf.tuning.windows import WindowChoice, choose_window

__all__ = [
    "Category",
    "CrossValidation",
    "Integer",
    "LogNormal",
    "Trial",
    "TuningResult",
    "WindowChoice",
    "choose_window",
    "cross_validate",
    "tune",
]
