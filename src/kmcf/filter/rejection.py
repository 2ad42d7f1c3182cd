"""How users hear of an observation that was not used."""

from kmcf.support.alerts import RejectedStepWarning, warn_user

NO_EXAMPLE_RESEMBLES = (
    "because no example observation resembles it or the posterior weights nearly cancelled; the prediction was kept. "
    "Collect examples like it, widen the kernels' bandwidths or raise delta."
)


def warn_rejected(what: str, why: str, *, first: int) -> None:
    """Warn that observations were not used: which, why, and the first step where that happened."""
    warn_user(
        f"{what} not used (first at step {first}), {why} run.rejected and belief.report.rejected mark such steps.",
        RejectedStepWarning,
    )
