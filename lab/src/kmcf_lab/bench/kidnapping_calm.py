"""What looking elsewhere costs where nothing happens: the paper's models, with it and without."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.datasets import paper_model
from kmcf.filter import KernelMonteCarloFilter, ParticleLikelihoodFilter
from kmcf_lab.quiet import quiet

KINDS: dict[str, type] = {"on examples": KernelMonteCarloFilter, "on particles": ParticleLikelihoodFilter}
STEPS = 300
FIRST = 1000
"""Seed of the first data set: what was chosen was chosen on others."""


@dataclass(frozen=True)
class CalmRow:
    """Errors of one filter over several data sets without a jump."""

    model: str
    n: int
    method: str
    error: float
    """Mean over data sets of the root mean square error without looking elsewhere."""
    loss: float
    """By which share it is larger with it."""
    loss_error: float
    """Standard error of that."""
    looks: float
    """Share of the steps at which it looked elsewhere."""
    repetitions: int


def measure_calm(
    models: Iterable[str],
    sizes: Iterable[int],
    repetitions: int,
    report: Callable[[str], None] = print,
    done: Callable[[list[CalmRow]], None] = lambda rows: None,
) -> list[CalmRow]:
    """Return a row for each model, number of examples and filter.

    Parameters
    ----------
    models : iterable of str
        The paper's models.
    sizes : iterable of int
        Numbers of examples.
    repetitions : int
        Data sets of each.
    report : callable
        Is told what is being measured.
    done : callable
        Is given all rows so far, after each model.
    """
    rows: list[CalmRow] = []
    with threadpool_limits(limits=1), quiet():
        for n in sizes:
            for name in models:
                report(f"{name} without a jump, {n} examples")
                rows += [_row(name, n, method, repetitions) for method in KINDS]
                done(rows)
    return rows


def _row(name: str, n: int, method: str, repetitions: int) -> CalmRow:
    found = np.array([_errors(name, n, KINDS[method], FIRST + seed) for seed in range(repetitions)])
    staying, looking, looks = found.T
    change = looking - staying
    usual = float(staying.mean())
    spread = float(change.std(ddof=1)) / np.sqrt(repetitions) / usual if repetitions > 1 else float("nan")
    return CalmRow(name, n, method, usual, float(change.mean()) / usual, spread, float(looks.mean()), repetitions)


def _errors(name: str, n: int, kind: Any, seed: int) -> tuple[float, float, float]:
    """Return the errors without and with looking elsewhere on one data set, and how often it did."""
    model = paper_model(name)
    train, test = (model.simulate(size, random_state=(seed, part)) for part, size in ((0, n), (1, STEPS)))
    errors, looks = [], 0.0
    for relocate in (False, None):
        flt = kind(model.transition, initial=model.initial, random_state=seed, relocate=relocate)
        run = flt.fit(train.states, train.observations).filter(test.observations, test.controls)
        errors.append(float(np.sqrt(np.mean((run.mean - test.states) ** 2))))
        looks = float(run.relocated.mean())
    return errors[0], errors[1], looks
