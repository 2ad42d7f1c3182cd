"""Time per step: methods interleaved on one thread, so that other work on the machine affects all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import thread_time
from typing import Any

import numpy as np

from kmcf.baselines import GPParticleFilter
from kmcf.filter import SequentialFilter
from kmcf_lab.cells import Row
from kmcf_lab.synthetic.data import SimulatedData
from kmcf_lab.synthetic.herding import PrintedFilter
from kmcf_lab.synthetic.methods import METHODS, kernel_bayes, paper_filter, paper_settings, stable_filter

TIMED_STEPS = 30
"""Number of timed steps; the first step is not among them."""
PRINTED_KMCF, NO_HERDING, OUR_HERDING = "KMCF, as printed", "KMCF, literal, no resampling", "KMCF, literal, our herding"
PRINTED_KBR, OUR_KMCF, OUR_KBR = "KBR, literal", "KMCF, our engine", "KBR, our engine"
STABLE = "low-rank, stable 20, n × r"


def printed_kmcf(data: SimulatedData, **settings: Any) -> SequentialFilter:
    """Return Algorithms 1 to 3 as printed, herding included."""
    return PrintedFilter(data.model.transition, **{**paper_settings(data), "engine": "literal", **settings})


FURTHER: dict[str, tuple[str, Callable[[SimulatedData], SequentialFilter]]] = {
    PRINTED_KMCF: ("KMCF", printed_kmcf),
    OUR_HERDING: ("KMCF", partial(paper_filter, engine="literal")),
    NO_HERDING: ("KMCF", partial(paper_filter, engine="literal", resampling="none")),
    OUR_KMCF: ("KMCF", stable_filter),
    **{f"KMCF-low{r}, herding as printed": (f"KMCF-low{r}", partial(printed_kmcf, rank=r)) for r in (10, 20)},
    **{f"KMCF-sub{r}, as printed": (f"KMCF-sub{r}", partial(printed_kmcf, n_examples=r)) for r in (50, 100)},
    STABLE: ("low-rank, stable 20", partial(stable_filter, rank=20, engine="lowrank")),
    PRINTED_KBR: ("KBR", partial(kernel_bayes, engine="literal")),
    OUR_KBR: ("KBR", partial(kernel_bayes, engine="auto", tolerance="auto", reject=None)),
}
"""What is timed beside the methods themselves, with the method it belongs to: what the paper timed, which solves
n × n systems and evaluates the kernel mean for every herded point, and our engines."""


def timed_names(methods: Sequence[str]) -> list[str]:
    """Return what is timed when these methods are compared."""
    return [*methods, *(name for name, (method, _) in FURTHER.items() if method in methods)]


def step_times(data: SimulatedData, methods: Sequence[str]) -> list[Row]:
    """Return the median processor time of a step, posterior mean included, for each method; none is tuned.

    Parameters
    ----------
    data : SimulatedData
        Examples, and at least 31 test steps.
    methods : sequence of str
        Names in ``METHODS`` or ``FURTHER``.
    """
    test = data.test
    makers = {name: METHODS[name].make if name in METHODS else FURTHER[name][1] for name in methods}
    filters = {name: _quickly_fitted(make(data), data) for name, make in makers.items()}
    beliefs = {name: flt.start() for name, flt in filters.items()}
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for step in range(TIMED_STEPS + 1):
        first = step % len(methods)  # the order rotates, and with it what is left in the processor's caches
        for name in (*methods[first:], *methods[:first]):
            began = thread_time()
            control = None if test.controls is None else test.controls[step]
            beliefs[name] = filters[name].step(beliefs[name], test.observations[step], control)
            beliefs[name].mean()
            seconds[name].append(thread_time() - began)
    return [{"method": name, "milliseconds": 1000.0 * float(np.median(seconds[name][1:]))} for name in methods]


def _quickly_fitted(flt: SequentialFilter, data: SimulatedData) -> SequentialFilter:
    """Fit a filter; Gaussian processes learn from few examples and one start, which does not change their steps."""
    if isinstance(flt, GPParticleFilter):
        flt.set_params(n_restarts=0, n_hyperparameter_examples=200)
    fitted: SequentialFilter = flt.fit(data.train.states, data.train.observations)
    return fitted
