"""What tuning costs, and what it gains on new data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time

from threadpoolctl import threadpool_limits

from kmcf.datasets import paper_model
from kmcf.datasets.synthetic import Trajectory
from kmcf.filter import KernelMonteCarloFilter
from kmcf.filter.sequential import SequentialFilter
from kmcf.tuning import tune
from kmcf_lab.statistics import rmse

TEST_LENGTH = 400


@dataclass(frozen=True)
class TuningRow:
    """One study on one data set."""

    model: str
    seed: int
    n: int
    trials: int
    pruned: int
    seconds: float
    """Processor time of the study on one core."""
    untuned: float
    """Root mean squared error of the untuned filter on a new sequence."""
    tuned: float
    """The same of the tuned filter."""


def measure_tuning(
    models: Sequence[str],
    n: int,
    *,
    n_trials: int = 60,
    repetitions: int = 3,
    report: Callable[[str], object] = print,
) -> list[TuningRow]:
    """Tune the filter on the paper's models and compare it with its untuned self on new sequences.

    Parameters
    ----------
    models : sequence of str
        Names of the models.
    n : int
        Number of examples.
    n_trials : int
        Trials per study.
    repetitions : int
        Data sets per model.
    report : callable
        Called with the result of every study.
    """
    rows = []
    for name in models:
        for seed in range(repetitions):
            rows.append(_measure(name, n, n_trials, seed))
            last = rows[-1]
            report(f"{name}, seed {seed}: {last.seconds:.1f} s, {last.untuned:.3f} untuned, {last.tuned:.3f} tuned")
    return rows


def _measure(name: str, n: int, n_trials: int, seed: int) -> TuningRow:
    model = paper_model(name)
    train, test = model.simulate(n, random_state=(seed, 0)), model.simulate(TEST_LENGTH, random_state=(seed, 1))
    flt = KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=seed)
    with threadpool_limits(limits=1):
        flt.fit(train.states, train.observations)  # compiles what there is to compile
        began = process_time()
        result = tune(
            flt, train.states, train.observations, controls=train.controls, n_trials=n_trials, random_state=seed
        )
        seconds = process_time() - began
        return TuningRow(
            name,
            seed,
            n,
            len(result.trials),
            sum(trial.status == "pruned" for trial in result.trials),
            seconds,
            _error(flt, test),
            _error(result.best_filter, test),
        )


def _error(flt: SequentialFilter, test: Trajectory) -> float:
    run = flt.filter(test.observations, controls=test.controls)
    return rmse(run.mean, test.states)
