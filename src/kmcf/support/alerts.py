"""The warnings of this package. Each says what to do; none hides a wrong result."""

import sys
import warnings

from kmcf.support.plain_text import printable

LOW_COVERAGE = 0.1
"""Plots and tables mark steps whose coverage by the examples is below this."""


class RejectedStepWarning(UserWarning):
    """An observation was not used: no example resembles it, or the posterior weights nearly cancelled.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import kmcf
    >>> x = np.linspace(-1.0, 1.0, 20)[:, None]
    >>> near = kmcf.kernels.Gaussian(0.1)
    >>> walk = kmcf.transitions.GaussianRandomWalk(0.1)
    >>> flt = kmcf.KernelMonteCarloFilter(walk, observation_kernel=near, random_state=0).fit(x, x)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     run = flt.filter([[50.0]])
    >>> [one.category.__name__ for one in caught], bool(run.rejected[0])
    (['RejectedStepWarning'], True)
    """


class FewExamplesWarning(UserWarning):
    """There are too few examples, or too few that have all the numbers that an observation has.

    Examples
    --------
    >>> import warnings
    >>> import kmcf
    >>> flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.1), random_state=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     flt = flt.fit([[0.0], [1.0], [2.0]], [[0.0], [1.0], [2.0]])
    >>> kmcf.FewExamplesWarning in {one.category for one in caught}
    True
    """


class StalePivotsWarning(UserWarning):
    """New examples lie out of reach of the pivots chosen at fit.

    Examples
    --------
    Make it an error, so that nobody overlooks it:

    >>> import warnings
    >>> import kmcf
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", kmcf.StalePivotsWarning)
    ...     warnings.warn("...", kmcf.StalePivotsWarning)
    Traceback (most recent call last):
    ...
    kmcf.support.alerts.StalePivotsWarning: ...
    """


class HighRankWarning(UserWarning):
    """A kernel matrix has too high a rank for the tolerance asked for; it was approximated more coarsely.

    Examples
    --------
    Make it an error, so that nobody overlooks it:

    >>> import warnings
    >>> import kmcf
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", kmcf.HighRankWarning)
    ...     warnings.warn("...", kmcf.HighRankWarning)
    Traceback (most recent call last):
    ...
    kmcf.support.alerts.HighRankWarning: ...
    """


class GuessedMotionWarning(UserWarning):
    """A ready-made transition was neither given its noise nor learnt from recorded states, so it was guessed.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import kmcf
    >>> x = np.linspace(-1.0, 1.0, 20)[:, None]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(), random_state=0).fit(x, x)
    >>> {one.category.__name__ for one in caught}
    {'GuessedMotionWarning'}
    """


class RefittedWarning(UserWarning):
    """A loaded filter computed its factors again, because the file holds them in another version's form.

    Examples
    --------
    Make it an error, so that nobody overlooks it:

    >>> import warnings
    >>> import kmcf
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", kmcf.RefittedWarning)
    ...     warnings.warn("...", kmcf.RefittedWarning)
    Traceback (most recent call last):
    ...
    kmcf.support.alerts.RefittedWarning: ...
    """


class SkippedDataWarning(UserWarning):
    """Parts of a recording could not be read and were left out.

    Examples
    --------
    Make it an error, so that nobody overlooks it:

    >>> import warnings
    >>> import kmcf
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", kmcf.SkippedDataWarning)
    ...     warnings.warn("...", kmcf.SkippedDataWarning)
    Traceback (most recent call last):
    ...
    kmcf.support.alerts.SkippedDataWarning: ...
    """


class UnusedTimesWarning(UserWarning):
    """Times were given, unevenly spaced, to a filter whose transition cannot be told how much time passed.

    Examples
    --------
    Make it an error, so that nobody overlooks it:

    >>> import warnings
    >>> import kmcf
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", kmcf.UnusedTimesWarning)
    ...     warnings.warn("...", kmcf.UnusedTimesWarning)
    Traceback (most recent call last):
    ...
    kmcf.support.alerts.UnusedTimesWarning: ...
    """


class CalibrationWarning(UserWarning):
    """A filter was calibrated on examples that it was fitted on, or on too few, so its intervals may not hold.

    Examples
    --------
    Make it an error, so that nobody overlooks it:

    >>> import warnings
    >>> import kmcf
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", kmcf.CalibrationWarning)
    ...     warnings.warn("...", kmcf.CalibrationWarning)
    Traceback (most recent call last):
    ...
    kmcf.support.alerts.CalibrationWarning: ...
    """


class SlowCompilationWarning(UserWarning):
    """JAX has been compiling a filter for a while."""


class LearningWarning(UserWarning):
    """What was learnt in use is uncertain: a parameter at its bound, or one that the observations do not tell.

    Examples
    --------
    Make it an error, so that nobody overlooks it:

    >>> import warnings
    >>> import kmcf
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", kmcf.LearningWarning)
    ...     warnings.warn("...", kmcf.LearningWarning)
    Traceback (most recent call last):
    ...
    kmcf.support.alerts.LearningWarning: ...
    """


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, pointing at the nearest caller outside this package, however deep inside it the warning arises."""
    caller, depth = sys._getframe(1), 2
    while caller.f_back is not None and caller.f_globals.get("__name__", "").partition(".")[0] == "kmcf":
        caller, depth = caller.f_back, depth + 1
    warnings.warn(printable(message), category, stacklevel=depth)
