"""Trials in rounds, as many at once as there are jobs, each recorded as it ends."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import joblib

from kmcf.numerics.interrupts import noticed, raise_if_lost
from kmcf.support.plain_text import printable
from kmcf.tuning.evaluation import Judge, run_in_worker
from kmcf.tuning.progress import trial_progress
from kmcf.tuning.samplers import Sampler
from kmcf.tuning.study_file import StudyFile
from kmcf.tuning.trials import Proposal, Pruning, Trial

MOST_FAILURES = 10
"""When this many trials have failed and none has succeeded, the study is abandoned."""


@dataclass
class Search:
    """Runs the trials of a study.

    Attributes
    ----------
    judge : Judge
        Runs a trial.
    sampler : Sampler
        Proposes them.
    n_jobs : int
        How many to run at once.
    pruning : Pruning, optional
        Which trials are stopped early; None: none.
    file : StudyFile, optional
        Records them.
    """

    judge: Judge
    sampler: Sampler
    n_jobs: int
    pruning: Pruning | None
    file: StudyFile | None

    def run(self, done: list[Trial], n_trials: int, time_budget: float | None, *, progress: bool) -> list[Trial]:
        """Run those of ``n_trials`` trials that are missing; return all, in order of their numbers."""
        began = perf_counter()
        trials = {trial.number: trial for trial in done}
        at_once = joblib.effective_n_jobs(self.n_jobs)
        with self._told(trials), noticed(), trial_progress(n_trials, trials, show=progress) as show:
            for first in range(0, n_trials, at_once):
                numbers = range(first, min(first + at_once, n_trials))
                # Asked for all, in order, those of an earlier session too: a sampler that learns then ends up in the
                # state that it had, and proposes what it would have proposed without the interruption.
                proposals = {number: self.sampler.propose(number) for number in numbers}
                missing = {number: proposal for number, proposal in proposals.items() if number not in trials}
                if missing and trials and time_budget is not None and perf_counter() - began >= time_budget:
                    break
                before = [trial for trial in trials.values() if trial.number < first]
                for trial in self._round(missing, before) if missing else ():
                    trials[trial.number] = trial
                    if self.file is not None:
                        self.file.append(trial)
                    show(trial)
                    raise_if_lost()
                self.sampler.learn([trials[number] for number in numbers])
                _give_up_if_all_fail(trials, n_trials)
        return [trials[number] for number in sorted(trials)]

    @contextmanager
    def _told(self, trials: Mapping[int, Trial]) -> Iterator[None]:
        """Tell whoever presses Ctrl-C where the trials that have ended are."""
        try:
            yield
        except KeyboardInterrupt as stop:
            if self.file is not None:
                kept = f"{len(trials)} {'trial is' if len(trials) == 1 else 'trials are'} kept in {self.file.path}"
                stop.add_note(f"{kept}; run the same again to continue.")
            else:
                ended = f"{len(trials)} {'trial' if len(trials) == 1 else 'trials'} had ended"
                stop.add_note(f"{ended}, and none is kept: a study file (study=, --study FILE) keeps them.")
            raise

    def _round(self, proposals: Mapping[int, Proposal], ended: list[Trial]) -> Iterator[Trial]:
        """Run some trials at once; yield them as they end."""
        numbers = list(proposals)
        behind = None if self.pruning is None else self.pruning.rival(ended)
        if len(numbers) == 1 and joblib.effective_n_jobs(self.n_jobs) == 1:
            yield self.judge.run(numbers[0], proposals[numbers[0]], behind)
            return
        jobs = (
            joblib.delayed(run_in_worker)(self.judge, number, self.judge.space.encoded(proposal), behind)
            for number, proposal in proposals.items()
        )
        for trial in _parallel(self.n_jobs)(jobs):
            yield dataclasses.replace(trial, proposal=proposals[trial.number])


def _parallel(n_jobs: int) -> Any:
    """Return joblib's runner; results come as they are ready if the backend supports that."""
    try:
        return joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    except ValueError:  # a backend without generators returns them together
        return joblib.Parallel(n_jobs=n_jobs)


def _give_up_if_all_fail(trials: Mapping[int, Trial], n_trials: int) -> None:
    """Stop when nothing works: after ten failures, or at the end."""
    if any(trial.status != "failed" for trial in trials.values()):
        return
    if len(trials) >= min(MOST_FAILURES, n_trials):
        first = trials[min(trials)]
        raise RuntimeError(f"all {len(trials)} trials so far failed, the first one with {printable(first.error)}")
