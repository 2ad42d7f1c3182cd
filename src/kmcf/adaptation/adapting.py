"""``kmcf.adapt``: a filter whose sensor has changed, adapted if that is an improvement on data left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from kmcf.adaptation.affine import Affine
from kmcf.adaptation.labelled import Model, Pairs, best_way
from kmcf.adaptation.observation_moments import ObservationMoments
from kmcf.adaptation.unlabelled import MOST_STEPS, RUNS, Judged, Sequences, best_change
from kmcf.filter.fitting.sensor_learning import refuse_sensors
from kmcf.filter.rule_filter import RuleFilter
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import is_numeric
from kmcf.support.extras import progress_bar
from kmcf.support.notebooks import html_table

FEWEST_STEPS, FEWEST_PAIRS = 20, 5


@dataclass(frozen=True, eq=False)
class Adaptation:
    """What :func:`kmcf.adapt` returns.

    Attributes
    ----------
    filter : filter
        The filter to use from now on: a new one if ``adapted``, otherwise the one given.
    adapted : bool
        Whether adapting was an improvement on data left out, beyond chance.
    way : str
        The best way to adapt, whether or not it was taken.
    change : Affine or None
        How each column of the sensor changed, as ``scale`` and ``shift``, by that way; None if it is not affine.
    gain, gain_error : float
        How much better it predicts observations left out, in all, and the standard error: affine changes in log units,
        compared with the filter given; ways that use new pairs by kernel scores, compared with the best such change.
    ways : list of Judged
        All ways that competed.
    reason : str
        Why nothing was changed; empty if ``adapted``.

    Examples
    --------
    >>> from kmcf.adaptation.unlabelled import Judged
    >>> found = Adaptation(None, False, "shifts", None, 0.3, 0.5, [Judged("shifts", 0.3, 0.5)])
    >>> found.adapted, found.rows
    (False, [{'name': 'shifts', 'gain': 0.3, 'gain_error': 0.5}])
    """

    filter: Any
    adapted: bool
    way: str
    change: Affine | None
    gain: float
    gain_error: float
    ways: list[Judged]
    reason: str = ""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per way: name, gain on data left out, its standard error."""
        return [one._asdict() for one in self.ways]

    def summary(self) -> dict[str, Any]:
        """Return what was found as plain numbers, for JSON."""
        change = (
            {} if self.change is None else {"scale": self.change.scale.tolist(), "shift": self.change.shift.tolist()}
        )
        return {
            "adapted": self.adapted, "reason": self.reason, "way": self.way, "gain": self.gain,
            "gain_error": self.gain_error, **change,
        }  # fmt: skip

    def __repr__(self) -> str:
        done = "adapted" if self.adapted else f"not adapted, because {self.reason}"
        return f"Adaptation({done}: {self.way}, gain {self.gain:.3g} ± {self.gain_error:.2g} on data left out)"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        return html_table("Adaptation", {one.name: f"{one.gain:.3g} ± {one.gain_error:.2g}" for one in self.ways})


def adapt(
    flt: RuleFilter,
    observations: Any,
    states: Any = None,
    *,
    controls: Any = None,
    times: Any = None,
    progress: bool = False,
) -> Adaptation:
    """Adapt a filter to a sensor that has changed since fit, from new pairs or from observations alone.

    With states, columns that changed are looked for one by one, and the old observations corrected; then the new pairs
    themselves are used, if that is better still. Without, affine changes of the columns compete, estimated with
    smoothed states as labels. The best on data left out is taken if it gains beyond chance; otherwise nothing changes.

    Without states this is experimental: single columns that are off among many are found well, but with one column a
    shift is known only roughly after few hundred steps, is often left alone, and what was taken can be worse than
    nothing.

    Parameters
    ----------
    flt : filter
        Fitted to one sensor whose observations are rows of numbers. It does not change.
    observations : array (T, q), or list of such arrays
        What the changed sensor said: in order of time if there are no states, otherwise in any order.
    states : array (T, d), optional
        Where it was said.
    controls, times : optional
        As for :meth:`~kmcf.KernelMonteCarloFilter.filter_many`; without states only.
    progress : bool
        Show a progress bar (needs the extra ``kmcf[progress]``).

    Returns
    -------
    Adaptation

    Examples
    --------
    >>> import kmcf
    >>> model = kmcf.datasets.paper_model("1a")
    >>> train, test = model.simulate(100, random_state=0), model.simulate(40, random_state=1)
    >>> flt = kmcf.KernelMonteCarloFilter(model.transition, n_particles=30, random_state=0)
    >>> flt = flt.fit(train.states, train.observations)
    >>> found = kmcf.adapt(flt, 3.0 * test.observations)
    >>> found.adapted, bool(2.0 < found.change.scale[0] < 4.0)
    (True, True)
    """
    known = _examples_of(flt)
    if states is None:
        return _without_states(flt, known, (observations, controls, times), progress)
    if controls is not None or times is not None:
        raise ValueError(
            "controls and times are for observations without states; with states, their order does not matter."
        )
    moments = ObservationMoments.of(flt.state_kernel_, *known, getattr(flt, "epsilon_", None))
    return _with_states(flt, known, moments, (states, observations))


def _without_states(flt: Any, known: Pairs, given: Any, progress: bool) -> Adaptation:
    several = isinstance(given[0], list | tuple)
    parts: list[Any] = [None if one is None else list(one) if several else [one] for one in given]
    seen = [_rows(one, known.observations.shape[1], "observations") for one in parts[0]]
    count = sum(int(np.isfinite(one).any(axis=1).sum()) for one in seen)
    if count < FEWEST_STEPS:
        raise ValueError(f"only {count} observations; a change is not found in fewer than {FEWEST_STEPS}.")
    blank = [None] * len(seen)
    controls, times = (blank if one is None else one for one in parts[1:])
    for name, parts in (("controls", controls), ("times", times)):
        _check_lengths(name, parts, seen)
    seen, controls, times = _first_steps(seen, controls, times)
    with progress_bar(RUNS, "adapting", show=progress, unit="part") as tick:
        best = best_change(Sequences(flt, known.states, known.observations, seen, controls, times, tick))
    corrected = Pairs(known.states, best.change.now(known.observations))
    judged = next(one for one in best.judged if one.name == best.way)
    new = flt if best.reason else _fitted(flt, corrected)
    return Adaptation(
        new, not best.reason, best.way, best.change, judged.gain, judged.gain_error, best.judged, best.reason
    )


def _first_steps(seen: Any, controls: Any, times: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the first steps of sequences, as many as are looked at."""
    kept: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    left = MOST_STEPS
    for parts in zip(seen, controls, times, strict=True):
        count = min(left, len(parts[0]))
        if count > 1:
            for sink, part in zip(kept, parts, strict=True):
                sink.append(None if part is None else part[:count])
        left -= count
    return kept


def _with_states(flt: Any, known: Pairs, moments: ObservationMoments, given: Any) -> Adaptation:
    several = isinstance(given[1], list | tuple) and np.ndim(given[1][0]) > 1
    joined = [np.concatenate([np.asarray(part, dtype=np.float64) for part in one]) if several else one for one in given]
    new = Pairs(
        _rows(joined[0], known.states.shape[1], "states"), _rows(joined[1], known.observations.shape[1], "observations")
    )
    if len(new.states) != len(new.observations):
        raise ValueError(f"{len(new.states)} states for {len(new.observations)} observations.")
    complete = np.isfinite(new.states).all(axis=1) & np.isfinite(new.observations).all(axis=1)
    new = new.take(np.flatnonzero(complete))
    if len(new.states) < FEWEST_PAIRS:
        raise ValueError(f"only {len(new.states)} complete new pairs; at least {FEWEST_PAIRS} are needed.")
    epsilon = float(getattr(flt, "epsilon_", 1e-3))
    model = Model(flt.state_kernel_, flt.observation_kernel_, epsilon, moments)
    best = best_way(known, new, model)
    reason = "" if best.adapted else "no way predicts pairs left out clearly better, beyond chance"
    fitted = _fitted(flt, best.examples) if best.adapted else flt
    return Adaptation(fitted, best.adapted, best.way, best.change, best.gain, best.gain_error, best.judged, reason)


def _fitted(flt: Any, examples: Pairs) -> Any:
    new = clone(flt).set_params(random_state=flt.seed_)
    return new.fit(examples.states, examples.observations)


def _examples_of(flt: Any) -> Pairs:
    """Return the examples of a filter that can be adapted; a sentence for others."""
    if not isinstance(flt, RuleFilter):
        raise TypeError(
            f"adapt works with KernelMonteCarloFilter and ParticleLikelihoodFilter, not {type(flt).__name__}."
        )
    flt.start()  # an error if it was not fitted
    refuse_sensors(flt, "adapt", "adapt a filter fitted to the sensor that changed")
    states, observations = flt.learnt_.examples
    if not (is_numeric(states) and is_numeric(observations) and observations.ndim == 2 and states.ndim == 2):
        raise TypeError("adapt works where states and observations are rows of numbers.")
    if flt.observation_kernel_.structured or not np.issubdtype(observations.dtype, np.number):
        raise TypeError("adapt works where the columns of an observation are numbers of their own.")
    if flt.floor_ is not None:
        raise ValueError("adapt does not know what a silent column (floor=...) becomes when the sensor changes.")
    complete = np.isfinite(observations).all(axis=1)
    if complete.sum() < FEWEST_STEPS:
        raise ValueError(f"only {int(complete.sum())} examples have all numbers; at least {FEWEST_STEPS} are needed.")
    return Pairs(np.asarray(states, float)[complete], np.asarray(observations, float)[complete])


def _rows(given: Any, width: int, name: str) -> FloatArray:
    try:
        rows = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be rows of numbers, NaN where one is missing.") from None
    rows = rows[:, None] if rows.ndim == 1 and width == 1 else rows
    if rows.ndim != 2 or rows.shape[1] != width:
        raise ValueError(f"{name} have the shape {rows.shape}, but the filter was fitted to rows of {width} numbers.")
    return rows


def _check_lengths(name: str, parts: Any, seen: Any) -> None:
    if len(parts) != len(seen):
        raise ValueError(f"{len(parts)} sequences of {name} for {len(seen)} sequences of observations.")
    for part, rows in zip(parts, seen, strict=True):
        if part is not None and len(part) != len(rows):
            raise ValueError(f"{len(part)} {name} for {len(rows)} observations.")
