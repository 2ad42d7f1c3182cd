"""``flt.calibrate``: intervals and regions that hold the truth as often as they say, measured on left-out steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from kmcf.filter.inputs import ObservationReader, read_controls
from kmcf.filter.left_out import (
    FEWEST_EXAMPLES,
    Examples,
    RehearsedStep,
    along,
    left_out_parts,
    quiet,
    read_group_times,
    read_groups,
    read_marks,
    rehearse,
    sequences_of,
)
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.calibrated import raw_arms
from kmcf.kernels import Precomputed
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.objects import Objects, describe, is_numeric, take
from kmcf.support.alerts import CalibrationWarning, warn_user
from kmcf.support.extras import progress_bar
from kmcf.trust.calibration import Calibration
from kmcf.trust.conformal import LEVELS, LeftOutErrors

FEW = 10
"""A calibration that fewer independent steps went into is little more than the largest error seen."""
KNOWN_SHARE = 0.05
"""More examples than this share that the filter was fitted on make a calibration on them too optimistic."""


class CalibratedFilter:
    """What makes a filter's intervals trustworthy."""

    calibration_: Calibration | None = None
    """What ``calibrate`` learnt; None before. ``fit`` forgets it, ``partial_fit`` keeps it."""
    sensors_: Any = None
    """The filters of several sensors, by name; None where there is one."""
    states_: Objects
    reader_: ObservationReader
    backend_: Any
    transition: Any
    angles: Any

    def calibrate(
        self,
        states: Any,
        observations: Any,
        groups: Any = None,
        *,
        controls: Any = None,
        times: Any = None,
        sequential: bool = True,
        learned_from: Any = None,
        corrected_at: Any = None,
        smooth: bool = True,
        progress: bool = False,
    ) -> Self:
        """Measure how far beliefs are from the truth, and widen (or narrow) intervals and regions accordingly.

        Given the examples of ``fit``, in order of time, the filter is fitted again without some of them and run over
        these, in turn (five fits; ten with at most 200 examples). Given others, the fitted filter is run over them.
        ``belief.interval``, ``run.interval``, ``belief.ellipse`` and ``belief.probability`` are calibrated from then
        on, those of smoothed beliefs by factors of their own; means, modes, covariances and quantiles stay as they are.

        This assumes that the sequences to come are like those left out: the same places, the same motion, the same
        sensor, and observations as frequent. A filter that learnt from four fifths of the examples is slightly worse
        than one that learnt from all, so intervals are slightly too wide rather than too narrow.

        Parameters
        ----------
        states, observations : arrays or lists
            The examples of ``fit`` again, or true states and observations of other sequences, in order of time.
            Observations may be missing (None or NaN), and states unknown (NaN). With several sensors: other sequences,
            and observations by sensor, as for ``filter``.
        groups : sequence of n, optional
            Which sequence an example belongs to. None: all are one sequence.
        controls : sequence of n, optional
            ``controls[t]`` drove the move to example t.
        times : sequence of n, optional
            When the examples were made, increasing within each group, as for ``filter``.
        sequential : bool
            If not, the examples are no sequence: each is tried alone, from the initial belief. That needs no controls,
            and says nothing about smoothed beliefs.
        learned_from, corrected_at : arrays (n,) of bool, optional
            Which of them ``fit`` was given, and at which the filter will be shown observations, as for
            :func:`kmcf.tune`. None: all that have a state and an observation.
        smooth : bool
            Smooth the left-out sequences, too, where the filter can be smoothed. If not, calibration takes as little as
            half the time, and intervals of smoothed beliefs stay as computed.
        progress : bool
            Show a progress bar (needs the extra ``kmcf[progress]``).

        Returns
        -------
        self

        Examples
        --------
        >>> import kmcf
        >>> model = kmcf.datasets.paper_model("1a")
        >>> train, test = model.simulate(300, random_state=0), model.simulate(400, random_state=1)
        >>> flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
        >>> flt.fit(train.states, train.observations).calibrate(train.states, train.observations).calibration_.count
        300
        >>> scores = kmcf.filter.score_runs([flt.filter(test.observations)], [test.states])
        >>> 0.92 < scores.inside < 0.98
        True
        """
        self._fitted_backend()
        self._check_sensors(states, learned_from)
        if sequential:
            self._check_movable(controls)
        else:
            groups = _each_alone(groups, states)
        examples = self._given(states, observations, groups, controls, times, learned_from, corrected_at)
        own = self._same(examples)
        if learned_from is not None and not own:
            raise ValueError(
                f"learned_from marks {int(examples.taught.sum())} examples with a state and an observation, but these "
                f"are not the {len(self._fitted_examples()[0])} that fit was given, in the same order."
            )
        whole: Any = self
        smooth = smooth and sequential and whole.smoothable
        if own:
            parts = left_out_parts(examples.groups)
            steps = rehearse(self, examples, self._like_fitted, smooth=smooth)
        else:
            self._warn_of_known(examples)
            parts = []
            steps = (
                step
                for k, s in enumerate(sequences_of(examples.groups))
                for step in along(self, examples, s, k, None, smooth=smooth)
            )
        total = sum(len(s) for part in parts for s in part.sequences) if own else len(examples)
        with progress_bar(total, "calibrating", show=progress) as tick:
            errors = collect_errors(_ticking(steps, tick), examples.states, self.angles)
        self.calibration_ = Calibration.learn(*errors, left_out=own)
        _warn_of_few(self.calibration_)
        self.backend_ = self._make_backend()
        return self

    def _check_sensors(self, states: Any, learned_from: Any) -> None:
        """Refuse the examples of several sensors: made at different times, they are no sequence to be left out."""
        if self.sensors_ is not None and (isinstance(states, Mapping) or learned_from is not None):
            raise ValueError(
                "with several sensors, calibrate needs sequences that the filter has never seen: their true states, "
                "and observations as for filter, such as {'wifi': ..., 'camera': ...}. It cannot leave out examples."
            )

    def _make_backend(self) -> Any:
        raise NotImplementedError

    def _reader(self) -> Any:
        raise NotImplementedError

    def _fitted_backend(self) -> Any:
        raise NotImplementedError

    def _fitted_examples(self) -> tuple[Objects, Objects]:
        """Return all states and observations that ``fit`` was given."""
        raise NotImplementedError

    def _like_fitted(self, states: Any, observations: Any) -> tuple[Any, Any]:
        """Turn examples into arrays of the kind that the filter was fitted on."""
        return states, observations

    def _check_movable(self, controls: Any) -> None:
        """Refuse at once if the transition cannot do without the controls that were not given."""
        if controls is not None or self.transition is None:
            return
        flt: Any = self
        try:
            with quiet():
                flt.step(flt.step(flt.start(), None), None)
        except Exception as problem:
            raise ValueError(
                f"the transition cannot move states without a control ({type(problem).__name__}: {problem}): pass "
                "controls=..., one per example, to calibrate."
            ) from problem

    def _given(
        self,
        states: Any,
        observations: Any,
        groups: Any,
        controls: Any,
        times: Any,
        learned_from: Any,
        corrected_at: Any,
    ) -> Examples:
        if not is_numeric(self.states_):
            raise TypeError(
                f"the states are {describe(self.states_)}, for which no interval is defined; there is nothing to "
                "calibrate."
            )
        if states is None or observations is None:
            raise TypeError("calibrate needs states and observations: those of fit, or of other sequences.")
        truths = np.asarray(states, dtype=np.float64)
        truths = truths[:, None] if truths.ndim == 1 and self.states_.ndim == 2 else truths
        if truths.shape[1:] != self.states_.shape[1:]:
            raise ValueError(
                f"the states have shape {np.shape(states)}, but the filter's have {self.states_.shape[1:]}."
            )
        reader = self._reader()
        read = reader.sequence(observations)
        if len(read) != len(truths):
            raise ValueError(f"{len(truths)} states but {len(read)} observations: every example is a pair.")
        if len(truths) < FEWEST_EXAMPLES:
            raise ValueError(f"calibration needs at least {FEWEST_EXAMPLES} examples, but got {len(truths)}.")
        precomputed = isinstance(getattr(self, "observation_kernel_", None), Precomputed)
        n = len(truths)
        observed = np.array([reader.one(y) is not None for y in read])
        numbers = read_groups(groups, n)
        return Examples(
            wrapped_columns(truths, self.angles),
            read,
            read_controls(controls, n),
            numbers,
            np.isfinite(truths.reshape(n, -1)).all(axis=1) & observed & read_marks("learned_from", learned_from, n),
            observed & read_marks("corrected_at", corrected_at, n),
            times=read_group_times(times, numbers),
            precomputed=precomputed,
        )

    def _same(self, examples: Examples) -> bool:
        """Say whether those that a filter learns from are the examples of ``fit``, in the same order."""
        if self.sensors_ is not None:
            return False
        states, observations = self._fitted_examples()
        taught = np.flatnonzero(examples.taught)
        if len(states) != len(taught) or not np.array_equal(states, examples.states[taught]):
            return False
        given = take(examples.observations, taught)
        if is_numeric(observations) and is_numeric(given):
            given = self.reader_.filled(np.reshape(given, np.shape(observations)))  # as fit kept them
            return bool(np.array_equal(given, observations, equal_nan=given.dtype.kind == "f"))
        return True

    def _warn_of_known(self, examples: Examples) -> None:
        states = self.states_ if self.sensors_ is not None else self._fitted_examples()[0]
        flat = np.ascontiguousarray(np.reshape(states, (len(states), -1)), dtype=np.float64)
        known = {row.tobytes() for row in flat}
        given = np.ascontiguousarray(np.reshape(examples.states, (len(examples), -1)), dtype=np.float64)
        found = sum(row.tobytes() in known for row in given)
        if found > KNOWN_SHARE * len(examples) and not examples.precomputed:
            warn_user(
                f"{found} of the {len(examples)} states given to calibrate are among the examples of fit. Where the "
                "filter knows the answers, its errors are too small, and so are calibrated intervals: give all "
                "examples of fit, in their order (they are then left out in turn), or sequences it has never seen.",
                CalibrationWarning,
            )


def _each_alone(groups: Any, states: Any) -> Any:
    if groups is not None:
        raise ValueError("groups are sequences: give groups, or sequential=False, not both.")
    return range(len(states)) if hasattr(states, "__len__") else None


def _warn_of_few(known: Calibration) -> None:
    if known.effective < FEW:
        warn_user(
            f"errors on the {known.count} steps that were left out last so long that they are worth only "
            f"{known.effective:.0f} independent ones: calibrated 95 % intervals are about as wide as the largest error "
            "seen, and may still be too narrow. Calibrate with more examples, or longer sequences.",
            CalibrationWarning,
        )


def collect_errors(
    steps: Iterable[RehearsedStep], states: FloatArray, angles: Any
) -> tuple[LeftOutErrors, LeftOutErrors, LeftOutErrors | None]:
    """Gather what corrected, predicted and smoothed beliefs said, and how wrong they were, where states are known."""
    kinds: tuple[list[tuple[Any, ...]], ...] = ([], [], [])
    for step in steps:
        truth = np.ravel(states[step.example])
        if not np.isfinite(truth).all():
            continue
        if step.belief.corrected:
            kinds[0].append(_said(step.belief, truth, angles, step.sequence))
        kinds[1].append(_said(step.predicted, truth, angles, step.sequence))
        if step.smoothed is not None:
            kinds[2].append(_said(step.smoothed, truth, angles, step.sequence))
    if len(kinds[0]) < FEWEST_EXAMPLES:
        raise ValueError(
            f"calibration needs at least {FEWEST_EXAMPLES} steps with a true state whose observation was used, but "
            f"there are {len(kinds[0])}."
        )
    corrected, predicted, *more = (
        LeftOutErrors(*(np.array(column) for column in zip(*kind, strict=True)))
        for kind in (kinds if len(kinds[2]) >= FEWEST_EXAMPLES else kinds[:2])
    )
    return corrected, predicted, next(iter(more), None)


def _said(belief: Belief, truth: FloatArray, angles: Any, sequence: int) -> tuple[Any, ...]:
    centre, below, above = raw_arms(belief, LEVELS)
    from_median, from_mean = wrapped_columns(truth - np.stack([centre, np.ravel(belief.mean())]), angles)
    reach, reached = belief.reach(LEVELS), np.zeros(below.shape, dtype=bool)
    if reach is not None:
        reached = np.where(from_median > 0, truth <= reach[:, 1], truth >= reach[:, 0])
    return below, above, from_median, belief.reaching_scatter(), from_mean, sequence, reached


def _ticking(steps: Iterable[RehearsedStep], tick: Any) -> Iterable[RehearsedStep]:
    for step in steps:
        tick()
        yield step
