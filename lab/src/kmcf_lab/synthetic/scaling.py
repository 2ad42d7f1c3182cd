"""How the times of low-rank methods grow with n, where n is large enough to see it."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np

from kmcf.bayes_rule.defaults import EPSILON
from kmcf.bayes_rule.literal_lowrank import low_rank_bayes_rule
from kmcf.datasets import paper_model
from kmcf.kernels import Gaussian
from kmcf.kernels.defaults import OBSERVATION_MULTIPLIER, STATE_MULTIPLIER
from kmcf.numerics.linalg import pivoted_cholesky
from kmcf_lab.cells import Row
from kmcf_lab.synthetic.data import SimulatedData
from kmcf_lab.synthetic.methods import DELTA, paper_filter, stable_filter

SCALED_SIZES = (1000, 2000, 4000, 8000, 16000)
WHOLE_STEP_UP_TO = 4000
"""The printed filter keeps the n × n kernel matrix of the states for herding, and moves n particles."""
SCALED_STEPS = 5
"""Timed steps; the first one is not among them."""
RANK = 20
ALGORITHM_5 = "KMCF-low20, Algorithm 5 alone"
WHOLE_STEP = "KMCF-low20, whole step"
STABLE_STEP = "low-rank, stable 20, n × r"
"""What is timed: lines 3 to 5 of Algorithm 5; a step of the printed filter, with our incremental herding and n
particles; a step of our low-rank engine, with at most 1000 particles, without the sums over examples that would make
it independent of n."""


def scaling_times(n: int, seed: int) -> list[Row]:
    """Return the median milliseconds with n examples of model 1a.

    Parameters
    ----------
    n : int
        Number of examples.
    seed : int
        Of the data.
    """
    model = paper_model("1a")
    train, test = model.simulate(n, random_state=seed), model.simulate(SCALED_STEPS + 1, random_state=seed + 1)
    data = SimulatedData(model, train, test, test, seed % 2**32)
    rows = [{"method": ALGORITHM_5, "milliseconds": _median(_corrections(data))}]
    filters: dict[str, Any] = {STABLE_STEP: stable_filter(data, rank=RANK, engine="lowrank", delta=DELTA)}
    if n <= WHOLE_STEP_UP_TO:
        filters[WHOLE_STEP] = paper_filter(data, engine="literal", rank=RANK, n_particles=n, delta=DELTA)
    for name, flt in filters.items():
        flt.fit(train.states, train.observations)
        rows.append({"method": name, "milliseconds": _median(_steps(flt, data))})
    return rows


def _median(tasks: list[Callable[[], Any]]) -> float:
    seconds = []
    for task in tasks:
        began = thread_time()
        task()
        seconds.append(thread_time() - began)
    return 1000.0 * float(np.median(seconds[1:]))


def _steps(flt: Any, data: SimulatedData) -> list[Callable[[], Any]]:
    belief = [flt.start()]

    def advance(observation: Any) -> None:
        belief[0] = flt.step(belief[0], observation)
        belief[0].mean()

    return [lambda y=y: advance(y) for y in data.test.observations]  # type: ignore[misc]


def _corrections(data: SimulatedData) -> list[Callable[[], Any]]:
    """Return Algorithm 5, lines 3 to 5, for every observation; m_π and k_Y are given to it, as printed."""
    train, n = data.train, len(data.train.states)
    on_states, on_observations = (
        Gaussian(multiplier=multiplier).fit(values).on_examples(values)
        for multiplier, values in ((STATE_MULTIPLIER, train.states), (OBSERVATION_MULTIPLIER, train.observations))
    )
    U, V = (
        pivoted_cholesky(one.columns, one.diagonal(), tolerance=0.0, rank=RANK).factor
        for one in (on_states, on_observations)
    )
    m_pi = on_states.against(train.states[:200]).mean(axis=1)
    inner = n * EPSILON * np.eye(U.shape[1]) + U.T @ U

    def correct(k_y: Any) -> Any:
        prior = (m_pi - U @ np.linalg.solve(inner, U.T @ m_pi)) / (n * EPSILON)
        return low_rank_bayes_rule(prior, V, k_y, DELTA)

    similarities = [on_observations.against(data.test.observations[t : t + 1])[:, 0] for t in range(SCALED_STEPS + 1)]
    return [lambda k_y=k_y: correct(k_y) for k_y in similarities]  # type: ignore[misc]
