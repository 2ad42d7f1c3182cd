"""The warnings of this package. Each says what to do; none hides a wrong result."""

import sys
import warnings

from kmcf.support.plain_text import printable

LOW_COVERAGE = 0.1
"""Plots and tables mark steps whose coverage by the examples is below this."""


class RejectedStepWarning(UserWarning):
    """An observation was not used: no example resembles it, or the posterior weights nearly cancelled."""


class FewExamplesWarning(UserWarning):
    """There are too few examples, or too few that have all the numbers that an observation has."""


class StalePivotsWarning(UserWarning):
    """New examples lie out of reach of the pivots chosen at fit."""


class HighRankWarning(UserWarning):
    """A kernel matrix has too high a rank for the tolerance asked for; it was approximated more coarsely."""


class GuessedMotionWarning(UserWarning):
    """A ready-made transition was neither given its noise nor learnt from recorded states, so it was guessed."""


class RefittedWarning(UserWarning):
    """A loaded filter computed its factors again, because the file holds them in another version's form."""


class SkippedDataWarning(UserWarning):
    """Parts of a recording could not be read and were left out."""


class UnusedTimesWarning(UserWarning):
    """Times were given, unevenly spaced, to a filter whose transition cannot be told how much time passed."""


class CalibrationWarning(UserWarning):
    """A filter was calibrated on examples that it was fitted on, or on too few, so its intervals may not hold."""


class SlowCompilationWarning(UserWarning):
    """JAX has been compiling a filter for a while."""


class LearningWarning(UserWarning):
    """What was learnt in use is uncertain: a parameter at its bound, or one that the observations do not tell."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, pointing at the nearest caller outside this package, however deep inside it the warning arises."""
    caller, depth = sys._getframe(1), 2
    while caller.f_back is not None and caller.f_globals.get("__name__", "").partition(".")[0] == "kmcf":
        caller, depth = caller.f_back, depth + 1
    warnings.warn(printable(message), category, stacklevel=depth)
