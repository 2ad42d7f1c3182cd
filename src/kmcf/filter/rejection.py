"""How users hear of an observation that was not used."""

import warnings

from kmcf.support.alerts import RejectedStepWarning

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
