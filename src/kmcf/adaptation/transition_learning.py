"""``kmcf.learn_transition``: what is not known about the motion, learnt from observations alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kmcf.adaptation.objective import objective_of
from kmcf.adaptation.parameters import read_parameters
from kmcf.adaptation.search import Evaluations, most_evaluations, search
from kmcf.adaptation.transition_result import TransitionFit
from kmcf.filter.sequential import SequentialFilter
from kmcf.support.alerts import LearningWarning, warn_user
from kmcf.support.extras import progress_bar

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
    objective : {"score", "evidence"}
        What is maximised: the kernel score of the predictions (:attr:`~kmcf.FilterRun.prediction_score`), whose average
        is largest for the true transition; or the log evidence (:attr:`~kmcf.FilterRun.log_evidence`), which finds
        drifts as well but takes noise for smaller than it is.
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
    >>> train, test = model.simulate(100, random_state=0), model.simulate(100, random_state=2)
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
    known = read_parameters(flt, parameters, make, start)
    score = objective_of(flt, sequences, controls, times, objective=objective, repeats=repeats)
    with progress_bar(most_evaluations(len(known.ranges)), "transitions", show=progress, unit="run") as tick:
        evaluations = Evaluations(lambda place: score(known.transition(place)), tick)
        evaluations(known.start)
        steps = int(np.isfinite(np.asarray(evaluations.made[0].scores)).sum())
        _check_steps(steps, score.column)
        peak = search(evaluations, known.start, random_state)
        evaluations(peak.place)
    first, last = (
        evaluations.made[0].scores,
        next(one.scores for one in evaluations.made if np.allclose(one.place, peak.place, atol=1e-9)),
    )
    if last is None:  # the surface led to where the transition cannot be used
        peak = peak._replace(place=evaluations.best.place, covariance=None)
        last = evaluations.best.scores
    gains = np.asarray(last) - np.asarray(first)
    gains = gains[np.isfinite(gains)]
    transition = known.transition(peak.place)
    found = TransitionFit(
        best_filter=flt.with_transition(transition),
        transition=transition,
        estimates=known.values(peak.place),
        objective=objective,
        level=level,
        gain=float(gains.sum()),
        gain_error=float(np.sqrt(len(gains)) * gains.std()),
        steps=steps,
        _parameters=known,
        _peak=peak,
        _evaluations=tuple(evaluations.made),
    )
    _tell(found)
    return found


def _check_steps(steps: int, column: str) -> None:
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
    elif not np.isfinite([end for ends in found.intervals.values() for end in ends]).all():
        warn_user(
            "the objective has no clear maximum, so there are no intervals: the observations do not tell these "
            "parameters apart. Learn fewer, or give more data.",
            LearningWarning,
        )
