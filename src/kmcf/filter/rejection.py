"""When a correction is not to be trusted, and how users hear of it."""

import warnings

from kmcf.support.alerts import RejectedStepWarning

LEAST_SIMILARITY = 1e-8
"""The largest similarity of an observation to the examples, over the largest diagonal entry, must exceed this."""
LEAST_WEIGHT_SUM = 1e-3
"""The sum of the unnormalised weights must exceed this."""
NO_EXAMPLE_RESEMBLES = (
    "because no example observation resembles it or the posterior weights nearly cancelled; the prediction was kept. "
    "Collect examples like it, widen the kernels' bandwidths or raise delta."
)


def warn_rejected(what: str, why: str, *, first: int, stacklevel: int) -> None:
    """Warn, pointing at the user's line ``stacklevel`` calls up."""
    warnings.warn(
        f"{what} not used (first at step {first}), {why} run.rejected and belief.report.rejected mark such steps.",
        RejectedStepWarning,
        stacklevel=stacklevel,
    )
