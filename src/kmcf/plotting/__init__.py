"""Pictures of beliefs and runs (need the extra ``kmcf[plot]``)."""

from kmcf.plotting.belief import DrawableBelief, plot_belief
from kmcf.plotting.run import DrawableRun, plot_run
from kmcf.support.alerts import LOW_COVERAGE

__all__ = ["LOW_COVERAGE", "DrawableBelief", "DrawableRun", "plot_belief", "plot_run"]
