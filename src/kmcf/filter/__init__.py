"""Filters: the loop over time, beliefs and runs."""

from kmcf.filter.belief import Belief, StepReport
from kmcf.filter.kernel_monte_carlo import KernelMonteCarloFilter, StalePivotsWarning
from kmcf.filter.run import FilterRun
from kmcf.filter.sequential import RejectedStepWarning, SequentialFilter

__all__ = [
    "Belief",
    "FilterRun",
    "KernelMonteCarloFilter",
    "RejectedStepWarning",
    "SequentialFilter",
    "StalePivotsWarning",
    "StepReport",
]
