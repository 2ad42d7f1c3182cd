"""Sequences as rectangular arrays, (B, T, ...), with NaN for missing observations and after the end of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kmcf.filter.clock import Drive, read_times, times_of_each
from kmcf.filter.inputs import ObservationReader, read_controls
from kmcf.numerics.arrays import BoolArray, IntArray


class Batch(NamedTuple):
    """Sequences padded to equal length."""

    observations: Any
    """(B, T, ...)"""
    controls: Any
    """A pytree of arrays (B, T, ...), or None."""
    lengths: IntArray
    """How many steps each sequence has, (B,)."""
    times: Any = None
    """The user's times, (B, T), or None."""

    @property
    def drives(self) -> Drive:
        """What moves the states on, as arrays (B, T, ...)."""
        return Drive(self.controls, clock=self.times)

    @property
    def valid(self) -> BoolArray:
        """Which steps are not padding, (B, T)."""
        return np.arange(self.observations.shape[1])[None, :] < self.lengths[:, None]


def read_batch(reader: ObservationReader, observations: Any, controls: Any, dtype: Any, times: Any = None) -> Batch:
    """Read B sequences of equal length given as one array (B, T, ...)."""
    shape = _observation_shape(reader)
    values = jnp.asarray(observations) if isinstance(observations, jax.Array) else np.asarray(observations)
    if values.ndim == 2 and shape == (1,):
        values = values[:, :, None]
    if values.shape[0] == 0 or values.shape[1] == 0:
        raise ValueError(f"the batch of shape {values.shape} holds no sequence or no step.")
    if values.shape[2:] != shape:
        raise ValueError(
            f"the observations of the batch have shape {values.shape[2:]}, but the example observations have shape "
            f"{shape}."
        )
    values = _filled_in(values.astype(dtype), reader)
    _check_gaps(values, reader)
    size, steps = values.shape[:2]
    if controls is not None:
        if isinstance(controls, dict):
            raise TypeError(
                "the controls of a batch are an array (B, T, ...) or a list of B sequences, each with one entry per "
                "step (which may be a dict), not one dict."
            )
        if not isinstance(controls, jax.Array):
            controls = [read_controls(c, steps) for c in controls]
            controls = jax.tree.map(lambda *parts: np.stack(parts), *[_stacked(c) for c in controls])
        for leaf in jax.tree.leaves(controls):
            if leaf.shape[:2] != (size, steps):
                raise ValueError(
                    f"the controls have shape {leaf.shape}, but there are {size} sequences of {steps} steps: their "
                    f"shape must start with ({size}, {steps})."
                )
    lengths = np.full(size, steps)
    return Batch(values, controls, lengths, _read_times(times, lengths))


def read_sequences(
    reader: ObservationReader, sequences: Sequence[Any], controls: Any, dtype: Any, times: Any = None
) -> Batch:
    """Read sequences of any lengths; the shorter ones are padded with missing observations."""
    read = [_read_sequence(reader, sequence, dtype) for sequence in sequences]
    per_sequence = [None] * len(read) if controls is None else list(controls)
    if len(per_sequence) != len(read):
        raise ValueError(f"{len(per_sequence)} sequences of controls for {len(read)} sequences of observations.")
    checked = [_stacked(read_controls(c, len(s))) for c, s in zip(per_sequence, read, strict=True)]
    given = [c is not None for c in checked]
    if any(given) and not all(given):
        raise ValueError(
            "some sequences have controls and others None: with JAX arrays either all of a batch have them, or none."
        )
    lengths = np.array([len(s) for s in read])
    longest = int(lengths.max())
    padded, clock = np.stack([_filled(s, longest, np.nan) for s in read]), _read_times(times, lengths)
    if not any(given):
        return Batch(padded, None, lengths, clock)
    stacked = jax.tree.map(lambda *parts: np.stack([_filled(part, longest, None) for part in parts]), *checked)
    return Batch(padded, stacked, lengths, clock)


def read_one(reader: ObservationReader, observation: Any, dtype: Any) -> Any:
    """Read one observation; None becomes NaN. Of a traced one only the shape is checked."""
    shape = _observation_shape(reader)
    if observation is None:
        return np.full(shape, np.nan, dtype)
    if isinstance(observation, jax.core.Tracer):
        value = observation.reshape(shape) if observation.shape == () else observation
        if value.shape != shape:
            raise ValueError(
                f"an observation has shape {value.shape}, but the example observations have shape {shape}."
            )
        return value.astype(dtype)
    read = reader.one(np.asarray(observation) if isinstance(observation, jax.Array) else observation)
    return np.full(shape, np.nan, dtype) if read is None else np.asarray(read[0], dtype)


def _read_times(times: Any, lengths: IntArray) -> Any:
    """Read the times of sequences of some lengths, (B, T); after the end of a sequence they go on."""
    each = times_of_each(np.asarray(times) if isinstance(times, jax.Array) else times, len(lengths))
    read = [read_times(clock, int(length)) for clock, length in zip(each, lengths, strict=True)]
    known = [clock for clock in read if clock is not None]
    if len(known) not in (0, len(read)):
        raise ValueError(
            "some sequences have times and others None: with JAX arrays either all of a batch have them, or none."
        )
    longest = int(lengths.max())
    rest = [np.arange(1.0, longest - len(clock) + 1.0) for clock in known]
    return np.stack([np.append(c, c[-1] + r) for c, r in zip(known, rest, strict=True)]) if known else None


def _read_sequence(reader: ObservationReader, sequence: Any, dtype: Any) -> Any:
    read = reader.sequence(np.asarray(sequence) if isinstance(sequence, jax.Array) else sequence)
    if isinstance(read, list):
        return np.stack([read_one(reader, y, dtype) for y in read])
    values = np.asarray(read).reshape(len(read), *_observation_shape(reader)).astype(dtype)
    values = _filled_in(values, reader)
    _check_gaps(values, reader)
    return values


def _filled_in(values: Any, reader: ObservationReader) -> Any:
    """Fill in what silence stands for; only then do the numbers have to leave the device."""
    return values if reader.filling is None else reader.filled(np.asarray(values)).astype(values.dtype)


def _observation_shape(reader: ObservationReader) -> tuple[int, ...]:
    if reader.shape is None:
        raise TypeError("with JAX arrays, observations must be numbers or arrays of numbers.")
    return reader.shape


def _check_gaps(values: Any, reader: ObservationReader) -> None:
    """Check that observations are finite or missing as a whole."""
    xp = jnp if isinstance(values, jax.Array) else np
    axes = tuple(range(2 if values.ndim > len(reader.shape or ()) + 1 else 1, values.ndim))
    absent = xp.isnan(values)
    if bool(xp.isinf(values).any()):
        raise ValueError("the observations contain infinity.")
    partly = absent.any(axis=axes) & ~absent.all(axis=axes)
    if not reader.accepts.gaps and bool(partly.any()):
        raise ValueError(
            f"{int(partly.sum())} observations are partly NaN, which their kernel cannot handle; fill the gaps, or "
            "make all their values NaN to skip them."
        )


def _stacked(controls: Any) -> Any:
    """Return a sequence of controls (numbers, arrays or pytrees of them) as one pytree of arrays (T, ...)."""
    if controls is None or isinstance(controls, np.ndarray):
        if controls is not None and controls.dtype.kind == "O":
            return _stacked(list(controls))
        return controls
    if isinstance(controls, jax.Array):
        return np.asarray(controls)
    try:
        return jax.tree.map(lambda *parts: np.stack([np.asarray(part) for part in parts]), *controls)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"with JAX arrays controls must be numbers, arrays or trees of them, all alike: {error}"
        ) from error


def _filled(rows: Any, length: int, value: Any) -> Any:
    """Pad to a length with a value or, if that is None, with the last row."""
    missing = length - len(rows)
    if missing == 0:
        return rows
    filler = (
        np.full((missing, *rows.shape[1:]), value, rows.dtype) if value is not None else rows[-1:].repeat(missing, 0)
    )
    return np.concatenate([rows, filler])
