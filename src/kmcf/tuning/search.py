"""The study: arguments read, trials run, the filter made of the best of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from kmcf.filter.inputs import read_seed
from kmcf.filter.sequential import SequentialFilter
from kmcf.filter.settings import check_count, check_positive
from kmcf.numerics.interrupts import noticed
from kmcf.tuning.evaluation import Judge
from kmcf.tuning.examples import TuningExamples, numbered_groups, read_tuning_examples
from kmcf.tuning.folds import Fold, make_folds
from kmcf.tuning.metrics import Metric, embedding_criterion, make_metric
from kmcf.tuning.result import TuningResult, combined
from kmcf.tuning.rounds import Search
from kmcf.tuning.samplers import make_sampler
from kmcf.tuning.space import Space, make_space
from kmcf.tuning.study_file import StudyFile, described
from kmcf.tuning.transfer import transferred
from kmcf.tuning.trials import Proposal, Pruning, Trial, ranked


@noticed()
def tune(
    flt: SequentialFilter,
    states: Any,
    observations: Any,
    controls: Any = None,
    groups: Any = None,
    sequential: bool = True,
    n_trials: int = 60,
    metric: Any = "rmse",
    n_jobs: int = 1,
    random_state: Any = None,
    *,
    times: Any = None,
    space: Mapping[str, Any] | None = None,
    sampler: Any = "random",
    criterion: str = "auto",
    folds: int | None = None,
    held_out: Sequence[Any] | None = None,
    learned_from: ArrayLike | None = None,
    corrected_at: ArrayLike | None = None,
    n_best: int = 5,
    transfer: bool = True,
    prune: bool | Literal["certain"] = True,
    time_budget: float | None = None,
    study: str | Path | None = None,
    progress: bool = False,
) -> TuningResult:
    """Choose a filter's hyper-parameters by cross validation.

    Parameters
    ----------
    flt : filter
        Any filter of this package, fitted or not; it is not changed.
    states, observations : arrays or lists
        The examples, in order of time. Steps with missing observations (None, all-NaN) are filtered but not
        learnt from.
    controls : sequence, optional
        One per example; ``controls[t]`` drives the move to step t.
    groups : sequence, optional
        One label per example: which sequence it belongs to. Whole sequences are then left out.
    sequential : bool
        False: the examples are not a sequence. Each is judged alone, with the training states as prior.
    n_trials : int
        How many settings to try, the untuned defaults first.
    metric : {"rmse", "mode", "crps", "kernel_score", "negative_log_density"} or callable
        Error of the posterior mean, error of the mode, RKHS distance to the true state's feature, −log density at the
        true state, or a function ``(belief, state) -> float``. Lower is better; it is averaged over all held-out steps.
    n_jobs : int
        Trials at once, run by joblib (with any backend chosen by ``joblib.parallel_config``); −1: one per core.
    random_state : int, Generator or None
        Seed of the draws, of the folds, and of the random numbers in the filters, which are the same in every trial.
    times : sequence, optional
        One per example, increasing within a sequence: transitions that take ``elapsed`` are told how much time passed.
    space : mapping, optional
        Parameter names, as for ``set_params``, to ``LogNormal``, ``Integer`` or ``Category``: they extend or replace
        what the filter declares; None fixes a parameter at its default.
    sampler : {"random", "optuna"} or sampler of Optuna
        Log-normal draws around the defaults, or an optimiser (extra ``kmcf[tuning]``).
    criterion : {"auto", "metric", "embedding"}
        "embedding": compare the average posterior embedding of held-out observations with the embedding of the
        held-out states (Fukumizu et al. 2013, Section 4.2) instead of using the metric. "auto": that if not sequential.
    folds : int, optional
        None: two halves of a sequence; of several sequences at most five folds; five if not sequential.
    held_out : sequence, optional
        Labels of the groups to leave out, each in a fold of its own; the others are only trained on. None: all groups.
    learned_from : sequence of bool, optional
        Which examples may be learnt from; the others are only filtered and judged. None: all.
    corrected_at : sequence of bool, optional
        At which held-out steps the filter is shown the observation; elsewhere it is missing. For tuning a filter that
        will be corrected less often than examples were recorded. None: at all steps.
    n_best : int
        The settings returned combine this many of the best trials, but never more than the best third; 1: the best one.
    transfer : bool
        Whether ε and δ, which were chosen with fewer examples, are scaled to all of them. With ``transfer=False`` and
        ``n_best=1`` the settings are exactly those with the smallest validation error.
    prune : bool or "certain"
        Stop trials early that are clearly behind the ``n_best`` best on the same steps; until there are so many, those
        that are far behind the best. "certain": only those whose losses so far exceed all losses of the ``n_best``-th
        best, so that the result is that of ``prune=False``; with the random sampler, and for metrics that are never
        negative ("rmse", "mode", "crps", "kernel_score", and functions with an attribute ``nonnegative = True``).
    time_budget : float, optional
        Seconds after which no new trial starts.
    study : path, optional
        File that keeps the trials; an interrupted study resumes from it.
    progress : bool
        Show a progress bar with the best value so far (extra ``kmcf[progress]``).

    Returns
    -------
    TuningResult

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> recorded = model.simulate(60, random_state=0)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial)
    >>> result = kmcf.tune(flt, recorded.states, recorded.observations, n_trials=6, random_state=0)
    >>> len(result.table), sorted(result.best_params)
    (6, ['delta', 'epsilon', 'observation_kernel__kernel__multiplier', 'state_kernel__multiplier'])
    """
    if isinstance(states, Mapping):
        raise TypeError(
            "tune takes the examples of one sensor: tune a filter for each alone, and pass what was found by sensor, "
            "observation_kernel={'wifi': ...}, delta={'wifi': ...}."
        )
    _check_arguments(flt, n_trials=n_trials, n_best=n_best, folds=folds, time_budget=time_budget, criterion=criterion)
    masks = {"learned_from": learned_from, "corrected_at": corrected_at, "times": times}
    examples = read_tuning_examples(flt, states, observations, controls, groups, sequential=sequential, **masks)
    left_out = numbered_groups(groups, held_out)
    searched = _make_space(flt, examples, space)
    file = None if study is None else StudyFile(Path(study), searched)
    embedding = criterion == "embedding" or (criterion == "auto" and not sequential)
    angles, kernel = tuple(getattr(flt, "angles", ())), getattr(flt, "state_kernel", None)
    judged_by = (
        embedding_criterion(examples.states, angles, kernel)
        if embedding
        else make_metric(metric, examples.states, angles, kernel)
    )
    pruning = _pruning(prune, n_best, judged_by, sampler)
    division = f"sequential={bool(sequential)}, folds={folds}" + (f", held_out={left_out}" if left_out else "")
    description = described(flt, examples, searched, judged_by, division)
    seed = None if random_state is None else read_seed(random_state)
    done, seed = ([], seed) if file is None else file.open(description, seed)
    seed = read_seed(None) if seed is None else seed
    parts = make_folds(examples, sequential=sequential, folds=folds, seed=seed, held_out=left_out)
    if file is not None:
        file.begin(description, seed)
    judge = Judge(examples, parts, searched, judged_by, seed, sequential)
    search = Search(judge, make_sampler(sampler, searched, seed), n_jobs, pruning, file)
    trials = search.run(done, n_trials, time_budget, progress=progress)
    found = combined(trials, searched, n_best)
    if transfer:
        found = _transferred(found, searched, examples, parts)
    return _result(flt, examples, searched, found, trials, judged_by, seed)


def _check_arguments(flt: Any, *, criterion: str, time_budget: Any, folds: Any, **counts: Any) -> None:
    if not isinstance(flt, SequentialFilter):
        raise TypeError(f"tune takes a filter of this package, such as KernelMonteCarloFilter(...), not {flt!r}.")
    for name, count in counts.items():
        check_count(name, count)
    check_count("folds", folds, optional=True)
    if folds == 1:
        raise ValueError("folds = 1; cross validation needs at least two folds.")
    check_positive("time_budget", time_budget, optional=True, infinity=True)
    if criterion not in ("auto", "metric", "embedding"):
        raise ValueError(f"criterion = {criterion!r}; it must be 'auto', 'metric' or 'embedding'.")


def _pruning(prune: Any, n_best: int, metric: Metric, sampler: Any) -> Pruning | None:
    """Read which trials are to be stopped early."""
    if prune is False:
        return None
    if prune not in (True, "certain"):
        raise ValueError(f"prune = {prune!r}; it must be True, False or 'certain'.")
    if prune == "certain" and not metric.nonnegative:
        raise ValueError(
            f"prune = 'certain' needs losses that are never negative, which the metric {metric.name!r} does not "
            "promise; use prune=False."
        )
    if prune == "certain" and sampler != "random":
        raise ValueError(
            "prune = 'certain' is for sampler='random': what Optuna proposes depends on how all trials before ended. "
            "Use prune=False."
        )
    return Pruning(n_best, prune == "certain")


def _make_space(flt: SequentialFilter, examples: TuningExamples, user: Mapping[str, Any] | None) -> Space:
    every = examples.learnable(np.arange(len(examples)))
    if len(every) < 4:
        raise ValueError(f"{len(every)} observed examples are too few for two folds; tuning needs at least 4.")
    return make_space(flt, *examples.training(every), user)


def _transferred(found: Proposal, space: Space, examples: TuningExamples, folds: tuple[Fold, ...]) -> Proposal:
    """Carry settings that were found on folds over to all examples."""
    every = examples.learnable(np.arange(len(examples)))
    fold_size = float(np.exp(np.mean([math.log(len(fold.training)) for fold in folds])))
    rule = str(found.settings.get("rule", getattr(space.filters[found.variant], "rule", "kbr")))
    return Proposal(found.variant, transferred(found.settings, fold_size, len(every), rule))


def _result(
    flt: SequentialFilter,
    examples: TuningExamples,
    space: Space,
    found: Proposal,
    trials: list[Trial],
    metric: Metric,
    seed: int,
) -> TuningResult:
    """Fit the filter to all examples with the settings found."""
    every = examples.learnable(np.arange(len(examples)))
    base = space.filters[found.variant]
    best = clone(base).set_params(**found.settings)
    if getattr(flt, "random_state", seed) is None:
        best.set_params(random_state=seed)
    best.fit(*examples.training(every), **examples.further(base, np.arange(len(examples))))
    first = next((trial for trial in trials if trial.number == 0), None)
    return TuningResult(
        best_filter=best,
        best_params=space.described(found),
        best_value=ranked(trials)[0].value,
        untuned_value=math.nan if first is None else first.value,
        metric=metric.name,
        trials=tuple(trials),
        _space=space,
    )
