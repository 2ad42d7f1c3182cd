"""Reading what users pass: example sets, observation sequences, controls, seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kmcf.filter.fitting.silence import Filling
from kmcf.filter.naming import check_order, names_of
from kmcf.kernels import Kernel
from kmcf.numerics.arrays import FloatArray, all_finite
from kmcf.numerics.objects import Objects, as_objects, describe, is_numeric, plain
from kmcf.support.alerts import FewExamplesWarning, warn_user

FEW = 10
"""A filter with fewer examples than this warns: what it learns from them is hardly more than a guess."""


def read_examples(
    states: Any,
    observations: Any,
    *,
    state_kernel: Kernel | None,
    observation_kernel: Kernel | Accepts | None,
    fewest: int = 2,
) -> tuple[Objects, Objects]:
    """Check and read the example pairs; return private, read-only copies.

    Parameters
    ----------
    states, observations : array-like or list
        The n examples.
    state_kernel, observation_kernel : Kernel or None
        Their kernels, which say what kind of objects they accept and whether NaN or infinity mean something to them;
        for observations that no kernel compares, what is accepted.
    fewest : int
        How many examples there must be.
    """
    read_states = as_objects(states, "states", structured=state_kernel is not None and state_kernel.structured)
    accepts = Accepts.of(observation_kernel)
    read_observations = as_objects(observations, "observations", structured=accepts.structured)
    if len(read_states) != len(read_observations):
        raise ValueError(
            f"{len(read_states)} states but {len(read_observations)} observations: every example is a pair of one "
            "state and one observation."
        )
    if len(read_states) < fewest:
        needed = "one example is" if fewest == 1 else "two examples are"
        raise ValueError(f"at least {needed} needed, but got {len(read_states)}.")
    if fewest > 1 and len(read_states) < FEW:
        warn_user(
            f"there are only {len(read_states)} examples: estimates can lie at their states only, and neither the "
            "kernels nor the alarms can be chosen well. Record more.",
            FewExamplesWarning,
        )
    return (
        _finite_copy(read_states, "states", Accepts(), np.float64),
        _finite_copy(read_observations, "observations", accepts, None),
    )


class IncompleteError(ValueError):
    """A number is missing or infinite where the kernel needs one; whoever read it from a file can say where."""


class Accepts(NamedTuple):
    """What a kernel accepts besides vectors of finite numbers."""

    structured: bool = False
    missing: bool = False
    infinity: bool = False
    columns: bool = False
    """Vectors of which some numbers are NaN: the filter compares the others (:mod:`kmcf.filter.fitting.patterns`)."""

    @classmethod
    def of(cls, kernel: Kernel | Accepts | None) -> Accepts:
        """Ask a kernel; None stands for one that accepts vectors of finite numbers only."""
        if isinstance(kernel, Accepts):
            return kernel
        return cls() if kernel is None else cls(kernel.structured, kernel.handles_missing, kernel.handles_infinity)

    @property
    def gaps(self) -> bool:
        """Whether a vector may be partly NaN."""
        return self.missing or self.columns

    def with_gaps(self, filling: Any) -> Accepts:
        """Return what is accepted where something is filled in before a kernel looks at it."""
        return self if filling is None else self._replace(columns=True)

    def refused(self, values: Any) -> Any:
        """Say which numbers are NaN or infinite where that is not accepted."""
        return (np.isnan(values) & (not self.gaps)) | (np.isinf(values) & (not self.infinity))


def check_numbers(objects: Objects, name: str, accepts: Accepts) -> None:
    """Refuse examples with NaN or infinity where that is not accepted."""
    bad = accepts.refused(objects)
    if bad.any():
        rows = np.flatnonzero(bad.reshape(len(objects), -1).any(axis=1))
        raise IncompleteError(
            f"{name} contain NaN or infinity in {len(rows)} of {len(objects)} examples (first: example {rows[0]}); "
            "remove those examples."
        )


def _finite_copy(objects: Objects, name: str, accepts: Accepts, dtype: Any) -> Objects:
    if not is_numeric(objects):
        return objects
    if 0 in objects.shape:
        raise ValueError(f"{name} have no columns: {describe(objects)}.")
    check_numbers(objects, name, accepts)
    # C order, so that the same numbers give the same results however they were laid out in memory
    private = np.array(objects, dtype, order="C")
    private.flags.writeable = False
    return private


@dataclass(frozen=True)
class ObservationReader:
    """Knows the form of the example observations and reads new ones accordingly.

    Attributes
    ----------
    shape : tuple of int or None
        Trailing shape of numeric observations; None for arbitrary objects.
    flat : bool
        The examples were given as (n,): a two-dimensional array is then a batch of scalar sequences.
    accepts : Accepts
        What the kernel accepts besides vectors of finite numbers. If it accepts any objects (images, sets), new ones
        need not have the shape of the examples, and keep their type.
    filling : Filling or None
        What is done to numeric observations first.
    names : tuple of str
        The columns of the examples, if they came as a data frame.
    """

    shape: tuple[int, ...] | None
    flat: bool
    accepts: Accepts
    filling: Filling | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Any, read: Objects, kernel: Kernel | Accepts | None) -> ObservationReader:
        """Make a reader from the example observations as given and as read, and their kernel."""
        shape = tuple(read.shape[1:]) if is_numeric(read) else None
        flat = np.ndim(given) == 1 if shape is not None else False
        return cls(shape, flat, Accepts.of(kernel), names=names_of(given))

    def stored(self) -> dict[str, Any]:
        """Return what a file keeps."""
        return {
            "shape": None if self.shape is None else list(self.shape),
            "flat": self.flat,
            "accepts": [*self.accepts],
            "filling": None if self.filling is None else list(self.filling),
            **({"names": list(self.names)} if self.names else {}),
        }

    @classmethod
    def restored(cls, stored: dict[str, Any]) -> ObservationReader:
        """Restore a reader from what a file kept."""
        shape = stored["shape"]
        kinds = Accepts(*(bool(kind) for kind in stored["accepts"]))
        filling = stored.get("filling")
        sides = None if shape is None else tuple(int(side) for side in shape)
        names = tuple(str(name) for name in stored.get("names", ()))
        return cls(sides, bool(stored["flat"]), kinds, None if filling is None else Filling(*filling), names)

    @property
    def floor(self) -> FloatArray | None:
        """What NaN stands for in each column (NaN: it is missing); None if there is no floor."""
        return None if self.filling is None or np.isnan(self.filling.floor).all() else self.filling.floor

    def filled(self, values: FloatArray) -> FloatArray:
        """Fill in what silence stands for, in arrays (..., *shape)."""
        if self.filling is None:
            return values
        flat = values.reshape(*values.shape[: values.ndim - len(self.shape or ())], -1)
        return self.filling(flat).reshape(values.shape)

    def one(self, observation: Any) -> Objects | None:
        """Read one observation as a collection of length 1; None if it is missing (None or all NaN)."""
        if observation is None:
            return None
        if self.shape is None or (self.accepts.structured and not self._like_examples(observation)):
            return None if _all_nan(observation) else [observation]
        if type(observation) is not np.ndarray:
            check_order(self.names, observation)
        try:
            given = observation if type(observation) is np.ndarray else plain(observation)
            values = np.asarray(given, dtype=None if self.accepts.structured else np.float64)
        except (TypeError, ValueError):
            raise TypeError(
                f"an observation is {observation!r}, but the examples are numeric with shape {self.shape}."
            ) from None
        if values.ndim == 0 and self.shape == (1,):
            values = values[None]
        if values.shape != self.shape:
            raise ValueError(
                f"an observation has shape {values.shape}, but the example observations have shape {self.shape}."
            )
        if self.filling is not None:
            values = self.filled(values)
        if values.dtype.kind != "f" or all_finite(values):
            return values[None]
        return self._with_gaps(values)

    def _like_examples(self, observation: Any) -> bool:
        """Say whether an observation could be a row of the array of examples."""
        try:
            array = np.asarray(plain(observation))
        except ValueError:  # ragged
            return False
        return array.dtype.kind in "biuf" and array.shape == self.shape

    def _with_gaps(self, values: Any) -> Objects | None:
        absent = np.isnan(values)
        if absent.all():
            return None
        if np.isinf(values).any() and not self.accepts.infinity:
            raise IncompleteError(f"an observation contains infinity: {values!r}.")
        if absent.any() and not self.accepts.gaps:
            raise IncompleteError(
                f"an observation is partly NaN ({int(absent.sum())} of {absent.size} values), which its kernel cannot "
                "handle; fill the gaps, or pass None to skip the observation."
            )
        return values[None]

    def is_batch(self, observations: Any) -> bool:
        """Say whether an array holds several sequences: one more leading axis than one sequence. Lists never do."""
        if self.shape is None or isinstance(observations, list | tuple):
            return False
        extra = np.ndim(observations) - len(self.shape)
        if self.accepts.structured and extra == 2:  # colour images for grey examples are not a batch
            return bool(np.shape(observations)[2:] == self.shape)
        if self.shape == (1,) and self.flat and np.ndim(observations) == 2:
            return bool(np.shape(observations)[1] != 1)
        return extra == 2

    def sequence(self, observations: Any) -> Any:
        """Read one sequence of T observations."""
        if isinstance(observations, str | bytes | dict | set) or not hasattr(observations, "__iter__"):
            raise TypeError(
                f"observations must be a sequence with one entry per time step, not {type(observations).__name__}; "
                "for a single observation use step(belief, y)."
            )
        given_singly = isinstance(observations, list | tuple) or not hasattr(observations, "__len__")
        if self.shape is None or self.accepts.structured or given_singly:
            return _not_empty(list(plain(observations)))
        check_order(self.names, observations)
        array = _not_empty(np.asarray(plain(observations)))
        if array.dtype.kind == "O":
            return list(array)
        expected = array.shape[1:] == self.shape or (array.ndim == 1 and self.shape == (1,))
        if not expected:
            inner = ", ".join(str(size) for size in self.shape)
            if array.shape == self.shape:
                raise ValueError(
                    f"observations have shape {array.shape}, as one observation has: one sequence has shape "
                    f"(T, {inner}), a batch (B, T, {inner}); step(belief, y) takes a single observation."
                )
            raise ValueError(
                f"observations have shape {array.shape}, but the filter was fitted on observations of shape "
                f"{self.shape}: one sequence has shape (T, {inner}), a batch (B, T, {inner})."
            )
        return array


def _all_nan(observation: Any) -> bool:
    """Say whether an object is a number or an array of numbers, all of them NaN."""
    if not isinstance(observation, float | np.floating | np.ndarray):
        return False
    values = np.asarray(observation)
    return values.dtype.kind == "f" and values.size > 0 and bool(np.isnan(values).all())


def _not_empty(sequence: Any) -> Any:
    if len(sequence) == 0:
        raise ValueError("a sequence of observations is empty; it must have at least one entry (None if missing).")
    return sequence


def read_controls(controls: Any, steps: int) -> Any:
    """Check that there is one control per step."""
    if controls is None:
        return None
    if isinstance(controls, str | bytes | dict | set) or not hasattr(controls, "__len__"):
        raise TypeError(f"controls must have one entry per step, not be a single {type(controls).__name__}.")
    if len(controls) != steps:
        raise ValueError(
            f"{len(controls)} controls for {steps} steps: controls[t] drives the move to step t, so there must be as "
            "many as observations (the first one is ignored)."
        )
    return controls if isinstance(controls, np.ndarray | list | tuple) else np.asarray(controls)


def read_seed(random_state: Any) -> int:
    """Turn a random state (None, int, Generator or RandomState) into one integer.

    Examples
    --------
    >>> read_seed(7)
    7
    """
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    raise ValueError(f"random_state = {random_state!r}; it must be None, a non-negative integer or a NumPy Generator.")
