"""The examples that are tuned on: what to train on, what to filter, which steps belong together."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.filter.inputs import read_controls
from kmcf.filter.left_out import consecutive, read_group_times, read_groups, read_marks
from kmcf.filter.sequential import SequentialFilter
from kmcf.kernels import Precomputed, as_kernel
from kmcf.numerics.arrays import BoolArray, FloatArray, IntArray
from kmcf.numerics.objects import Objects, as_objects, plain, take


@dataclass(frozen=True)
class TuningExamples:
    """States with their observations, in order of time.

    Attributes
    ----------
    states : array (n, ...) or list
        The true states.
    observations : array (n, ...) or list
        What was observed; with a precomputed kernel the n × n matrix of its values.
    controls : array, list or None
        ``controls[t]`` drove the move to step t.
    groups : array (n,) of int
        Number of the sequence that each example belongs to.
    observed : array (n,) of bool
        False where a filter is shown no observation; such steps are judged as well.
    taught : array (n,) of bool
        Whether a filter may learn from it: never where the observation is missing.
    precomputed : bool
        Whether observations are rows of kernel values.
    sequential : bool
        Whether the examples of a group follow each other in time.
    times : array (n,) or None
        The user's times, increasing within a group.
    """

    states: Objects
    observations: Objects
    controls: Any
    groups: IntArray
    observed: BoolArray
    taught: BoolArray
    precomputed: bool
    sequential: bool = True
    times: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.states)

    def learnable(self, indices: IntArray) -> IntArray:
        """Return those of some examples that may be learnt from."""
        return indices[self.taught[indices]]

    def training(self, indices: IntArray) -> tuple[Objects, Objects]:
        """Return the states and observations to fit a filter on."""
        observations = take(self.observations, indices)
        if self.precomputed:
            observations = observations[:, indices]
        return take(self.states, indices), observations

    def further(self, flt: SequentialFilter, indices: IntArray) -> dict[str, Any]:
        """Return what else a filter's ``fit`` takes: observed moves, for filters that learn the transition.

        Moves never lead from one sequence to another, or across examples that are left out.
        """
        if not self.sequential or "transitions" not in inspect.signature(flt.fit).parameters:
            return {}
        before, after = consecutive(self.groups, indices)
        controls = () if self.controls is None else (take(self.controls, after),)
        return {"transitions": (take(self.states, before), take(self.states, after), *controls)}

    def observation(self, index: int, training: IntArray) -> Any:
        """Return one observation as a filter fitted on ``training`` takes it."""
        if not self.observed[index]:
            return None
        return self.observations[index][training] if self.precomputed else self.observations[index]

    def time(self, index: int) -> float | None:
        """Return the time of one step."""
        return None if self.times is None or not self.sequential else float(self.times[index])

    def control(self, index: int) -> Any:
        """Return the control of one step."""
        return None if self.controls is None else self.controls[index]


def read_tuning_examples(
    flt: SequentialFilter,
    states: Any,
    observations: Any,
    controls: Any,
    groups: Any,
    *,
    sequential: bool = True,
    learned_from: Any = None,
    corrected_at: Any = None,
    times: Any = None,
) -> TuningExamples:
    """Read what the user passed to ``tune``.

    Parameters
    ----------
    flt : filter
        Its kernels say whether states and observations are vectors.
    states, observations, controls, groups, sequential, learned_from, corrected_at, times
        As for :func:`kmcf.tune`.
    """
    kernels = {}
    for name in ("state_kernel", "observation_kernel"):
        given = getattr(flt, name, None)
        kernels[name] = None if given is None else as_kernel(given, name)
    read_states = as_objects(states, "states", structured=_structured(kernels["state_kernel"]))
    structured = _structured(kernels["observation_kernel"])
    as_objects(observations, "observations", structured=structured)  # raises an error for what is not a collection
    read_observations = plain(observations)
    if not isinstance(read_observations, np.ndarray) or read_observations.dtype.kind == "O":
        read_observations = list(read_observations)
    n = len(read_states)
    if len(read_observations) != n:
        raise ValueError(
            f"{n} states but {len(read_observations)} observations: every example is a pair of one state and one "
            "observation."
        )
    read = read_controls(controls, n)
    precomputed = isinstance(kernels["observation_kernel"], Precomputed)
    numbers = read_groups(groups, n)
    present = np.array([not _missing(y) for y in read_observations], dtype=bool)
    return TuningExamples(
        states=read_states,
        observations=np.asarray(read_observations, dtype=np.float64) if precomputed else read_observations,
        controls=list(read) if isinstance(read, tuple) else read,
        groups=numbers,
        observed=present & read_marks("corrected_at", corrected_at, n),
        taught=present & read_marks("learned_from", learned_from, n),
        precomputed=precomputed,
        sequential=bool(sequential),
        times=read_group_times(times, numbers),
    )


def numbered_groups(groups: Any, held_out: Sequence[Any] | None) -> tuple[int, ...]:
    """Return the numbers of some groups, which count from 0 in order of their first example.

    Examples
    --------
    >>> numbered_groups(["b", "b", "a"], ["a"])
    (1,)
    """
    if held_out is None:
        return ()
    labels = list(dict.fromkeys([] if groups is None else plain(groups)))
    unknown = [label for label in held_out if label not in labels]
    if unknown or not len(held_out):
        known = ", ".join(map(str, labels)) or "none: there are no groups"
        raise ValueError(f"held_out = {list(held_out)!r} must name groups to leave out, which are {known}.")
    return tuple(labels.index(label) for label in dict.fromkeys(held_out))


def _structured(kernel: Any) -> bool:
    return kernel is not None and bool(kernel.structured)


def _missing(observation: Any) -> bool:
    if observation is None:
        return True
    values = np.asarray(observation) if isinstance(observation, float | np.floating | np.ndarray | list) else None
    return values is not None and values.dtype.kind == "f" and values.size > 0 and bool(np.isnan(values).all())
