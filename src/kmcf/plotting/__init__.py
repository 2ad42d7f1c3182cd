"""Pictures of beliefs and runs (need the extra ``kmcf[plot]``)."""

from kmcf.plotting.belief import DrawableBelief, plot_belief
from kmcf.plotting.run import LOW_COVERAGE, DrawableRun, plot_run

__all__ = ["LOW_COVERAGE", "DrawableBelief", "DrawableRun", "plot_belief", "plot_run"]
