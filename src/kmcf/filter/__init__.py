"""Filters: the loop over time, beliefs and runs."""

from kmcf.filter.kernel_monte_carlo import KernelMonteCarloFilter
from kmcf.filter.particle_likelihood import ParticleLikelihoodFilter
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.run import FilterRun
from kmcf.filter.results.scores import Scores, score_runs
from kmcf.filter.results.step_report import StepReport
from kmcf.filter.sequential import SequentialFilter

__all__ = [
    "Belief",
    "FilterRun",
    "KernelMonteCarloFilter",
    "ParticleLikelihoodFilter",
    "Scores",
    "SequentialFilter",
    "StepReport",
    "score_runs",
]
