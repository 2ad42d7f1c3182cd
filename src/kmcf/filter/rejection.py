"""How users hear of an observation that was not used."""

from collections import Counter
from collections.abc import Iterable, Iterator

from kmcf.filter.results.belief import Belief
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


def counted_sensors(beliefs: Iterable[Belief], unused: Counter[str]) -> Iterator[Belief]:
    """Count, as beliefs are made, the sensors that were not used at steps where another one was."""
    for belief in beliefs:
        if belief.report.sensors.used:
            unused.update(belief.report.sensors.rejected)
        yield belief


def warn_sensors(unused: Counter[str]) -> None:
    """Warn that some sensors were not used at steps where another one was, and how often."""
    if not unused:
        return
    what = ", ".join(f"{count} of the sensor {name!r}" for name, count in unused.items())
    warn_user(
        f"observations were not used where another sensor's was ({what}), because no example observation resembles "
        "them or the posterior weights nearly cancelled. Collect examples like them, widen the sensor's observation "
        "kernel or raise its delta. belief.report.sensors tells which sensors were used.",
        RejectedStepWarning,
    )
