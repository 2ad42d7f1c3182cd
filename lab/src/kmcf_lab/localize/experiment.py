"""Running a problem: every method on every fold, in cells that survive a killed run."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from kmcf.datasets import Recording
from kmcf.filter.belief import Belief
from kmcf.filter.sequential import SequentialFilter
from kmcf.numerics.arrays import FloatArray
from kmcf.support.alerts import HighRankWarning, RejectedStepWarning, SkippedDataWarning
from kmcf_lab.cells import Cell, Result, Row, run_cells
from kmcf_lab.localize.methods import METHODS, fitted, unfitted
from kmcf_lab.localize.problem import Data, Estimate, Fold, Problem, Settings
from kmcf_lab.localize.registry import problem_named
from kmcf_lab.localize.splits import spread
from kmcf_lab.localize.tuning import position_of, tuned


@dataclass(frozen=True)
class Experiment:
    """Which problem, on which data, how.

    Attributes
    ----------
    dataset : str
        Name of the problem.
    path : Path, optional
        Where its data are, where it needs any.
    quick : bool
        A smaller version.
    trials : int
        Settings tried per method and fold, on the training sequences; 0: the problem's own settings.
    seed : int
        Another seed gives other random numbers in all filters.
    way : str
        One of the settings' alternatives; empty: none of them.
    """

    dataset: str
    path: Path | None = None
    quick: bool = False
    trials: int = 0
    seed: int = 0
    way: str = ""

    @property
    def problem(self) -> Problem:
        """The problem."""
        return problem_named(self.dataset)

    @property
    def settings(self) -> Settings:
        """The settings in use."""
        settings = self.problem.quick if self.quick else self.problem.settings
        return settings.changed(settings.alternatives[self.way]) if self.way else settings

    def data(self) -> Data:
        """Load the data, once per process."""
        if self.problem.needs and self.path is None:
            raise ValueError(f"{self.dataset} is not in the package: give --path, {self.problem.needs}.")
        return _loaded(self.dataset, self.path, tuple(self.settings.load.items()))

    def folds(self, repetition: int = 0) -> list[Fold]:
        """Divide the data."""
        return list(self.problem.split(self.data(), repetition, **self.settings.split))

    def fold(self, name: str, repetition: int = 0) -> Fold:
        """Return the fold of a name."""
        return next(fold for fold in self.folds(repetition) if fold.name == name)

    def ready(self, fold: str, method: str, repetition: int = 0, study: Path | None = None) -> Ready:
        """Tune a method where it is to be tuned, in every way that the settings name, and fit it.

        Parameters
        ----------
        fold, method : str
            Names.
        repetition : int
            Of which draw.
        study : Path, optional
            File that keeps the trials; other ways to go have files of their own beside it.
        """
        seed = self.seed + 1000 * repetition
        ways = [self, *(replace(self, way=name) for name in self.settings.alternatives)]
        found: list[tuple[float, Ready]] = []
        with quiet():
            for number, one in enumerate(ways if self.trials else ways[:1]):
                part = one.fold(fold, repetition)
                flt = unfitted(method, one.settings, part, seed)
                if self.trials == 0 or not flt.search_space():
                    found.append((0.0, Ready(flt, part, "")))
                    break
                file = study if study is None or number == 0 else study.with_stem(f"{study.stem}-{number}")
                trials = max(1, self.trials // len(ways))
                best = tuned(flt, one.settings, part, self.problem.measure, trials=trials, seed=seed, study=file)
                found.append((best.value, Ready(best.flt, part, described(one.way, best.settings))))
            ready = min(found, key=lambda pair: pair[0])[1]
            return replace(ready, flt=fitted(ready.flt, ready.fold))


@dataclass(frozen=True)
class Ready:
    """A filter with the fold that it is ready for, and in words what tuning found."""

    flt: SequentialFilter
    fold: Fold
    found: str


def chosen_folds(experiment: Experiment, wanted: str | None) -> list[str]:
    """Return the names of some folds: those named, between semicolons; a number of them, evenly spread; None: all.

    Parameters
    ----------
    experiment : Experiment
        Its data are loaded.
    wanted : str, optional
        Names or a number.
    """
    names = [fold.name for fold in experiment.folds()]
    if wanted is None:
        return names
    if wanted.strip().isdigit():
        if int(wanted) < 1:
            raise ValueError(f"--folds {wanted}: at least one fold is needed.")
        return [names[k] for k in spread(len(names), int(wanted))]
    given = [name.strip() for name in wanted.split(";") if name.strip()]
    unknown = [name for name in given if name not in names]
    if unknown or not given:
        raise ValueError(f"--folds {wanted}: there is no fold {'; '.join(unknown)!r}; there are {'; '.join(names)}.")
    return given


def run_experiment(
    experiment: Experiment,
    folder: Path,
    *,
    folds: Sequence[str],
    methods: Sequence[str],
    repetitions: int = 1,
    jobs: int = 1,
    fresh: bool = False,
    progress: bool = False,
) -> list[Result]:
    """Run every method on every fold; what an earlier run finished is not computed again.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    folder : Path
        Where finished cells and tuning studies are kept.
    folds, methods : sequence of str
        Which ones. A method that would do the same as plain KMCF on a small fold is left out there.
    repetitions : int
        How often, each with other random numbers, and other draws of the examples where these are drawn.
    jobs : int
        Workers.
    fresh : bool
        Compute everything again.
    progress : bool
        Show a bar.
    """
    cells = []
    for repetition in range(repetitions):
        for fold in experiment.folds(repetition):
            marks = {"data": digest_of(fold), "settings": digest_of(experiment.settings)}
            cells += [
                _cell(experiment, fold.name, method, repetition, marks)
                for method in methods
                if fold.name in folds and fold.size > METHODS[method].least
            ]
    if fresh:
        for study in folder.glob("*.jsonl"):
            study.unlink()
    work = partial(compute, experiment, folder)
    return run_cells(cells, work, folder, jobs=jobs, resume=not fresh, progress=progress)


def _cell(experiment: Experiment, fold: str, method: str, repetition: int, marks: dict[str, str]) -> Cell:
    numbers = {"repetition": repetition, "trials": experiment.trials, "seed": experiment.seed}
    return Cell("localize", {"dataset": experiment.dataset, "fold": fold, "method": method, **numbers, **marks})


def compute(experiment: Experiment, folder: Path, cell: Cell) -> list[Row]:
    """Filter the test sequence of a cell: one row per step."""
    repetition, method = int(cell.coordinates["repetition"]), str(cell.coordinates["method"])
    ready = experiment.ready(str(cell.coordinates["fold"]), method, repetition, study_of(cell, folder))
    flt, fold = ready.flt, ready.fold
    rows, belief = [], flt.start()
    for t in range(len(fold.test)):
        began = perf_counter()
        with quiet():
            belief = flt.step(belief, fold.test.observations[t], control_of(fold.test, t))
        milliseconds = 1000.0 * (perf_counter() - began)
        row = _row(fold.test, t, belief, experiment.problem.measure.estimate, experiment.problem.measure.near)
        about = {"examples": fold.size, "group": fold.group, "tuned": ready.found}
        rows.append({**row, "milliseconds": milliseconds, **about})
    return rows


def _row(test: Recording, t: int, belief: Belief, estimate: Estimate, near: float) -> Row:
    truth = np.asarray(test.states[t], dtype=np.float64)[:2]
    place = position_of(belief, estimate)
    around = uncertainty(belief, place, estimate, near)
    at_truth = np.linalg.norm(np.asarray(belief.states)[:, :2] - truth, axis=1) <= near
    return {
        "step": t,
        "time": float(test.time[t]),
        "true_x": truth[0],
        "true_y": truth[1],
        "x": place[0],
        "y": place[1],
        "error": float(np.linalg.norm(place - truth)),
        "variance_x": around[0, 0],
        "covariance": around[0, 1],
        "variance_y": around[1, 1],
        "mass_near_truth": float(np.sum(belief.weights[at_truth])),
        "effective_sample_size": belief.ess,
        "coverage": belief.report.coverage,
        "missing": belief.report.missing,
        "rejected": belief.report.rejected,
    }


def uncertainty(belief: Belief, place: FloatArray, estimate: Estimate, near: float) -> FloatArray:
    """Return the covariance (2, 2) of the position around an estimate.

    Around a mean it is that of the whole belief, projected to be positive semidefinite. Around a mode it is that of
    the positive weights within three times ``near``: far modes say nothing about how sharp this one is.
    """
    if estimate == "mean":
        return np.asarray(belief.covariance(psd=True)[:2, :2])
    away = np.asarray(belief.states, dtype=np.float64)[:, :2] - place
    weights = np.maximum(belief.weights, 0.0) * (np.linalg.norm(away, axis=1) <= 3.0 * near)
    total = float(weights.sum())
    return (away * weights[:, None]).T @ away / total if total > 0 else np.zeros((2, 2))


def control_of(recording: Recording, t: int) -> Any:
    """Return what drove the move to step t."""
    return None if recording.controls is None else recording.controls[t]


def study_of(cell: Cell, folder: Path) -> Path | None:
    """Return the file of a cell's tuning trials, if there are to be any."""
    return cell.path(folder).with_suffix(".jsonl") if cell.coordinates["trials"] else None


def described(way: str, found: dict[str, Any]) -> str:
    """Write what tuning found in one line.

    Examples
    --------
    >>> described("", {"epsilon": 0.00123456, "n_neighbors": 7})
    'epsilon = 0.00123, n_neighbors = 7'
    """
    values = [
        f"{name} = {value:.3g}" if isinstance(value, float) else f"{name} = {value}" for name, value in found.items()
    ]
    return ", ".join([way, *values] if way else values)


class quiet(warnings.catch_warnings):  # noqa: N801 - reads as a word in a with statement
    """Silence what the rows of a table say anyway: rejected steps, high ranks, skipped lines."""

    def __enter__(self) -> Any:
        """Begin."""
        entered = super().__enter__()
        for expected in (RejectedStepWarning, HighRankWarning, SkippedDataWarning):
            warnings.simplefilter("ignore", expected)
        return entered


@lru_cache(maxsize=4)
def _loaded(dataset: str, path: Path | None, options: tuple[tuple[str, Any], ...]) -> Data:
    return problem_named(dataset).load(path, **dict(options))


def digest_of(something: Any) -> str:
    """Return a short fingerprint of a fold or of settings: other data or settings, other cells."""
    return hashlib.sha256(b"".join(_bytes_of(something))).hexdigest()[:12]


def _bytes_of(something: Any) -> list[bytes]:
    if isinstance(something, Fold):
        test = something.test
        parts = (something.states, something.observations, test.states, test.observations, test.controls, test.time)
        return [piece for part in parts for piece in _bytes_of(part)]
    if isinstance(something, np.ndarray):
        return [str(something.shape).encode(), np.ascontiguousarray(something).tobytes()]
    if isinstance(something, list | tuple):
        return [piece for part in something for piece in _bytes_of(part)]
    return [repr(something).encode()]


def positions(rows: Sequence[Row], *names: str) -> FloatArray:
    """Return some columns of rows side by side."""
    return np.array([[row[name] for name in names] for row in rows], dtype=np.float64)
