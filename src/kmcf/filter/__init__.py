"""Filters: the loop over time, beliefs and runs."""

from kmcf.filter.belief import Belief, StepReport
from kmcf.filter.kernel_monte_carlo import KernelMonteCarloFilter
from kmcf.filter.run import FilterRun
from kmcf.filter.sequential import SequentialFilter

__all__ = [
    "Belief",
    "FilterRun",
    "KernelMonteCarloFilter",
    "SequentialFilter",
    "StepReport",
]
