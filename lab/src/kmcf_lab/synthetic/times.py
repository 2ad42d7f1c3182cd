"""Time per step: methods interleaved on one thread, so that other work on the machine affects all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import thread_time

import numpy as np

from kmcf.filter import SequentialFilter
from kmcf_lab.cells import Row
from kmcf_lab.synthetic.data import SimulatedData
from kmcf_lab.synthetic.methods import METHODS, kernel_bayes, paper_filter

TIMED_STEPS = 30
"""Number of timed steps; the first step is not among them."""
AS_PRINTED: dict[str, tuple[str, Callable[[SimulatedData], SequentialFilter]]] = {
    "KMCF, literal": ("KMCF", lambda data: paper_filter(data, engine="literal")),
    "KMCF, literal, no resampling": ("KMCF", lambda data: paper_filter(data, engine="literal", resampling="none")),
    "KMCF-low20, n × r": ("KMCF-low20", lambda data: paper_filter(data, rank=20, engine="lowrank")),
    "KBR, literal": ("KBR", lambda data: kernel_bayes(data, engine="literal")),
}
"""What the paper timed, with the method it belongs to: n × n systems solved at every step, and low rank without the
sums over examples that make a step independent of n."""


def timed_names(methods: Sequence[str]) -> list[str]:
    """Return what is timed when these methods are compared."""
    return [*methods, *(name for name, (method, _) in AS_PRINTED.items() if method in methods)]


def step_times(data: SimulatedData, methods: Sequence[str]) -> list[Row]:
    """Return the median processor time of a step, posterior mean included, for each method; none is tuned.

    Parameters
    ----------
    data : SimulatedData
        Examples, and at least 31 test steps.
    methods : sequence of str
        Names in ``METHODS`` or ``AS_PRINTED``.
    """
    train, test = data.train, data.test
    makers = {name: METHODS[name].make if name in METHODS else AS_PRINTED[name][1] for name in methods}
    filters = {name: make(data).fit(train.states, train.observations) for name, make in makers.items()}
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
