"""Running a problem: every method on every fold, in cells that survive a killed run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from kmcf.filter.sequential import SequentialFilter
from kmcf_lab.cells import Cell, Result, Row, WithFiles, run_cells
from kmcf_lab.localize.fingerprints import digest_of
from kmcf_lab.localize.methods import METHODS, calibrated, fitted, unfitted
from kmcf_lab.localize.problem import Data, LocalizationFold, Problem, Settings
from kmcf_lab.localize.registry import problem_named
from kmcf_lab.localize.remembered import meet
from kmcf_lab.localize.splits import spread
from kmcf_lab.localize.steps import control_of, step_row
from kmcf_lab.localize.tuning import tuned
from kmcf_lab.quiet import quiet


@dataclass(frozen=True)
class Experiment:
    """Which problem, on which data, how.

    Attributes
    ----------
    dataset : str
        Name of the problem.
    path : Path, optional
        Where its data are, if they do not come with the package.
    quick : bool
        A smaller version.
    trials : int
        Settings tried per method and fold, on the training sequences; 0: the problem's own settings.
    seed : int
        Another seed gives other random numbers in all filters.
    alternative : str
        The name of one of the settings' alternatives; empty: none of them.
    calibrated : bool
        Calibrate every filter on the training sequences.
    """

    dataset: str
    path: Path | None = None
    quick: bool = False
    trials: int = 0
    seed: int = 0
    alternative: str = ""
    calibrated: bool = False

    @property
    def problem(self) -> Problem:
        """The problem."""
        return problem_named(self.dataset)

    @property
    def settings(self) -> Settings:
        """The settings in use."""
        settings = self.problem.quick if self.quick else self.problem.settings
        return settings.changed(settings.alternatives[self.alternative]) if self.alternative else settings

    def data(self) -> Data:
        """Load the data, once per process."""
        if self.problem.needs and self.path is None:
            raise ValueError(f"{self.dataset} is not in the package: give --path, {self.problem.needs}.")
        return _loaded(self.dataset, self.path, tuple(self.settings.load.items()))

    def folds(self, repetition: int = 0) -> list[LocalizationFold]:
        """Divide the data."""
        return list(self.problem.split(self.data(), repetition, **self.settings.split))

    def fold(self, name: str, repetition: int = 0) -> LocalizationFold:
        """Return the fold of this name."""
        return next(fold for fold in self.folds(repetition) if fold.name == name)

    def ready(self, fold: str, method: str, repetition: int = 0, study: Path | None = None) -> ReadyFilter:
        """Tune a method if there are trials, with each alternative of the settings, and fit the best.

        Parameters
        ----------
        fold, method : str
            Names.
        repetition : int
            Which draw of the examples and random numbers.
        study : Path, optional
            File that keeps the trials; alternatives have files of their own beside it.
        """
        seed = self.seed + 1000 * repetition
        variants = [self, *(replace(self, alternative=name) for name in self.settings.alternatives)]
        candidates: list[tuple[float, ReadyFilter]] = []
        with quiet():
            for number, one in enumerate(variants if self.trials else variants[:1]):
                part = one.fold(fold, repetition)
                flt = unfitted(method, one.settings, part, seed)
                if self.trials == 0 or not flt.search_space():
                    candidates.append((0.0, ReadyFilter(flt, part, "")))
                    break
                file = study if study is None or number == 0 else study.with_stem(f"{study.stem}-{number}")
                how = METHODS[method]
                printed = self.problem.printed and how.printed
                trials = max(1, (how.trials(self.trials) if self.problem.printed else self.trials) // len(variants))
                best = tuned(
                    flt, one.settings, part, self.problem.measure,
                    trials=trials, seed=seed, study=file, printed=printed, held=how.held,
                )  # fmt: skip
                words = described(one.alternative, best.settings)
                candidates.append((best.value, ReadyFilter(best.flt, part, words)))
            ready = min(candidates, key=lambda pair: pair[0])[1]
            flt = fitted(ready.flt, ready.fold)
            return replace(ready, flt=calibrated(flt, ready.fold) if self.calibrated else flt)


@dataclass(frozen=True)
class ReadyFilter:
    """A fitted filter, the fold it is fitted to, and in words what tuning chose."""

    flt: SequentialFilter
    fold: LocalizationFold
    tuned: str


def chosen_folds(experiment: Experiment, wanted: str | None) -> list[str]:
    """Return the names of folds.

    Parameters
    ----------
    experiment : Experiment
        Its data are loaded.
    wanted : str, optional
        Names separated by semicolons, or how many folds, evenly spread; None: all.
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
        How often, each time with other random numbers, and other examples where these are drawn at random.
    jobs : int
        Number of workers.
    fresh : bool
        Compute everything again.
    progress : bool
        Show a bar.
    """
    cells = []
    for repetition in range(repetitions):
        for fold in (one for one in experiment.folds(repetition) if one.name in folds):
            marks = {"data": digest_of(fold), "settings": digest_of(experiment.settings)}
            cells += [
                _cell(experiment, fold.name, method, repetition, marks)
                for method in methods
                if fold.size > METHODS[method].least
            ]
    if not cells:
        least = min(METHODS[method].least for method in methods)
        raise ValueError(
            f"there is nothing to run: {', '.join(methods)} would do the same as kmcf on the folds chosen; choose "
            f"folds with more than {least} examples, or other methods."
        )
    if fresh:
        for study in folder.glob("*.jsonl"):
            study.unlink()
    work = WithFiles(partial(compute, experiment))
    return run_cells(cells, work, folder, jobs=jobs, resume=not fresh, progress=progress)


def _cell(experiment: Experiment, fold: str, method: str, repetition: int, marks: dict[str, str]) -> Cell:
    numbers = {"repetition": repetition, "trials": experiment.trials, "seed": experiment.seed}
    how = {"calibrated": True} if experiment.calibrated else {}
    return Cell("localize", {"dataset": experiment.dataset, "fold": fold, "method": method, **numbers, **how, **marks})


def compute(experiment: Experiment, cell: Cell, folder: Path) -> list[Row]:
    """Filter the test sequence of a cell: one row per step. The folder is for the trials of the tuning."""
    repetition, method = int(cell.coordinates["repetition"]), str(cell.coordinates["method"])
    ready = experiment.ready(str(cell.coordinates["fold"]), method, repetition, study_of(cell, folder))
    flt, fold = ready.flt, ready.fold
    meet(experiment.settings.observation_kernel, fold.observations, fold.test.observations)
    rows, belief = [], flt.start()
    for t in range(len(fold.test)):
        began, used = perf_counter(), process_time()
        with quiet():
            belief = flt.step(belief, fold.test.observations[t], control_of(fold.test, t))
        milliseconds, processor = 1000.0 * (perf_counter() - began), 1000.0 * (process_time() - used)
        row = step_row(fold.test, t, belief, experiment.problem.measure)
        about = {"examples": fold.size, "group": fold.group, "tuned": ready.tuned}
        rows.append({**row, "milliseconds": milliseconds, "processor_milliseconds": processor, **about})
    return rows


def study_of(cell: Cell, folder: Path) -> Path | None:
    """Return the file of a cell's tuning trials, if it has any."""
    return cell.path(folder).with_suffix(".jsonl") if cell.coordinates["trials"] else None


def described(alternative: str, settings: dict[str, Any]) -> str:
    """Write what tuning chose in one line.

    Examples
    --------
    >>> described("", {"epsilon": 0.00123456, "n_neighbors": 7})
    'epsilon = 0.00123, n_neighbors = 7'
    """
    values = [
        f"{name} = {value:.3g}" if isinstance(value, float) else f"{name} = {value}" for name, value in settings.items()
    ]
    return ", ".join([alternative, *values] if alternative else values)


@lru_cache(maxsize=4)
def _loaded(dataset: str, path: Path | None, options: tuple[tuple[str, Any], ...]) -> Data:
    return problem_named(dataset).load(path, **dict(options))
