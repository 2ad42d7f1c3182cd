"""``kmcf.learn_transition``: what is not known about the motion, learnt from observations alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from kmcf.adaptation.em import Smoothing, climb, most_smoothings
from kmcf.adaptation.objective import Objective, objective_of
from kmcf.adaptation.parameters import Parameters, read_parameters
from kmcf.adaptation.search import Evaluation, Evaluations, most_evaluations, search
from kmcf.adaptation.surface import Peak
from kmcf.adaptation.transition_result import TransitionFit
from kmcf.filter.sequential import SequentialFilter
from kmcf.support.alerts import LearningWarning, warn_user
from kmcf.support.extras import progress_bar

METHODS = ("evidence", "em")
FEWEST = 20
"""Fewer observed steps than this say nothing about a transition."""


def learn_transition(
    flt: SequentialFilter,
    sequences: Any,
    parameters: Any,
    *,
    make: Callable[..., Any] | None = None,
    start: Mapping[str, float] | None = None,
    controls: Any = None,
    times: Any = None,
    method: str = "evidence",
    objective: str = "score",
    repeats: int = 1,
    level: float = 0.95,
    random_state: int = 0,
    progress: bool = False,
) -> TransitionFit:
    r"""Learn parameters of the transition from sequences of observations without states.

    The filter is run over the sequences with one transition after the other, always with the same random numbers, and
    its predictions are compared with the observations that came. Examples, kernels and Bayes' rule stay as they are.

    Parameters
    ----------
    flt : filter
        Fitted. It does not change.
    sequences : array (T, ...), or list of sequences
        Observations, as for :meth:`~kmcf.KernelMonteCarloFilter.filter_many`; not those of the examples, which the
        filter knows too well. NaN or None: missing.
    parameters : str, sequence of str, or dict
        What to learn, by name: ``"scale"``, ``["alpha1", "alpha3"]``, ``{"scale": (0.1, 3.0)}``. A parameter that is a
        vector is learnt element by element; ``"scale[0]"`` is its first. Without bounds, a positive parameter is sought
        within a factor of ten of its value.
    make : callable, optional
        For your own transition: ``make(**numbers)`` returns one for given numbers. Then all parameters need bounds.
    start : mapping, optional
        Where to start. None: the present values; with ``make``, the middle of the bounds.
    controls, times : optional
        As for ``filter_many``: one sequence each, or lists of them.
    method : {"evidence", "em"}
        How: a search for the transition whose predictions are best, with common random numbers; or expectation
        maximisation (:mod:`kmcf.adaptation.em`), where paths drawn from the smoothed states take the part of a
        recording. EM takes about a dozen smoothed runs however many parameters there are, needs a transition with a
        ``log_density`` and states that are numbers, and stays near where it starts if there are several maxima.
    objective : {"score", "evidence"}
        What is maximised: the kernel score of the predictions (:attr:`~kmcf.FilterRun.prediction_score`), whose average
        is largest for the true transition; or the log evidence (:attr:`~kmcf.FilterRun.log_evidence`), which finds
        drifts as well but takes noise for smaller than it is. With EM it is only what ``gain`` and the table report.
    repeats : int
        How many times each sequence is filtered, with other random numbers each time, to lower Monte Carlo error.
    level : float
        Of the intervals.
    random_state : int
        Seed of the search; the filter has its own.
    progress : bool
        Show a progress bar (needs the extra ``kmcf[progress]``).

    Returns
    -------
    TransitionFit

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(100, random_state=0), model.simulate(100, random_state=50)
    >>> walk = kmcf.transitions.LinearGaussian(matrix=[[0.9]], covariance=[[9.0]])  # in truth it is 1
    >>> flt = kmcf.KernelMonteCarloFilter(walk, n_particles=50, random_state=0).fit(train.states, train.observations)
    >>> found = kmcf.learn_transition(flt, test.observations, {"covariance": (0.1, 10.0)})
    >>> low, high = found.intervals["covariance[0,0]"]
    >>> low < found.estimates["covariance[0,0]"] < high, found.improved
    (True, True)
    """
    if not isinstance(flt, SequentialFilter):
        raise TypeError(f"learn_transition needs a filter, not {type(flt).__name__}.")
    flt.start()  # an error if it was not fitted
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level!r}; it must be between 0 and 1.")
    if method not in METHODS:
        raise ValueError(f"method={method!r}; it can be {' or '.join(map(repr, METHODS))}.")
    known = read_parameters(flt, parameters, make, start)
    score = objective_of(flt, sequences, controls, times, objective=objective, repeats=repeats)
    check = partial(_check_steps, column=score.column)
    most = most_smoothings() if method == "em" else most_evaluations(len(known.ranges))
    with progress_bar(most, "transitions", show=progress, unit="run") as tick:
        if method == "em":
            peak, made = climb(Smoothing(score, known, random_state), known.start, check, tick)
            last = made[-1]
        else:
            peak, made, last = _searched(known, score, random_state, check, tick)
    gains = np.asarray(last.scores) - np.asarray(made[0].scores)
    gains = gains[np.isfinite(gains)]
    transition = known.transition(peak.place)
    found = TransitionFit(
        best_filter=flt.with_transition(transition),
        transition=transition,
        estimates=known.values(peak.place),
        method=method,
        objective=objective,
        level=level,
        gain=float(gains.sum()),
        gain_error=float(np.sqrt(len(gains)) * gains.std()),
        steps=_known_steps(made[0]),
        _parameters=known,
        _peak=peak,
        _evaluations=tuple(made),
    )
    _tell(found)
    return found


def _searched(
    known: Parameters, score: Objective, seed: int, check: Callable[[Evaluation], None], tick: Callable[[], object]
) -> tuple[Peak, list[Evaluation], Evaluation]:
    """Search for the transition that predicts best; return also the evaluation there."""
    evaluations = Evaluations(lambda place: score(known.transition(place)), tick)
    evaluations(known.start)
    check(evaluations.made[0])
    peak = search(evaluations, known.start, seed)
    evaluations(peak.place)
    last = next(one for one in evaluations.made if np.allclose(one.place, peak.place, atol=1e-9))
    if last.scores is None:  # the surface led to where the transition cannot be used
        last = evaluations.best
        peak = peak._replace(place=last.place, covariance=None)
    return peak, evaluations.made, last


def _known_steps(first: Evaluation) -> int:
    return int(np.isfinite(np.asarray(first.scores)).sum())


def _check_steps(first: Evaluation, column: str) -> None:
    steps = _known_steps(first)
    if steps >= FEWEST:
        return
    if steps == 0:
        raise ValueError(
            f"no step has a {column.replace('_', ' ')}: either nothing was observed, or this filter has no weights on "
            "examples that could predict an observation."
        )
    raise ValueError(f"only {steps} steps have an observation and one before; give at least {FEWEST}.")


def _tell(found: TransitionFit) -> None:
    """Say what a user should not overlook."""
    if found.at_bound:
        names = ", ".join(found.at_bound)
        warn_user(f"the best value of {names} is at a bound; it may lie beyond. Give wider bounds.", LearningWarning)
    elif np.isfinite([end for ends in found.intervals.values() for end in ends]).all():
        return
    elif found.method == "em":
        warn_user(
            "the observations tell so little beside what drawn paths take over from the transition that EM has no "
            "clear end, and there are no intervals: do not trust these estimates. Take method='evidence', or give "
            "more data.",
            LearningWarning,
        )
    else:
        warn_user(
            "the objective has no clear maximum, so there are no intervals: the observations do not tell these "
            "parameters apart. Learn fewer, or give more data.",
            LearningWarning,
        )
