"""Examples in chunks: states and observations side by side, checked where they lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray, IntArray, is_dask
from kmcf.support.extras import require

REDUCED_AT_ONCE = 8
"""How many results are added up by one task."""


@dataclass(frozen=True)
class Chunks:
    """Pairs of chunks, not computed yet."""

    pairs: list[tuple[Any, Any]]
    """Delayed arrays (rows, ...): states and observations."""
    lengths: IntArray
    """Rows of each chunk."""

    @property
    def size(self) -> int:
        """Number of examples."""
        return int(self.lengths.sum())

    @property
    def offsets(self) -> IntArray:
        """Number of the first row of each chunk."""
        return np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.intp)

    def rows(self, numbers: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return some examples, given in increasing order."""
        wanted = np.split(numbers, np.searchsorted(numbers, self.offsets[1:]))
        parts = [
            delayed()(take)(*pair, some - offset)
            for pair, some, offset in zip(self.pairs, wanted, self.offsets, strict=True)
            if len(some)
        ]
        found = computed(parts)
        return np.concatenate([x for x, _ in found]), np.concatenate([y for _, y in found])

    def reduced(self, work: Callable[..., Any], join: Callable[..., Any]) -> Any:
        """Apply a function to every chunk (number of its first row, states, observations), and join all.

        Parameters
        ----------
        work : callable
            Runs where the chunk is.
        join : callable
            Takes several results and returns one of their kind.
        """
        parts = [delayed()(work)(int(offset), *pair) for offset, pair in zip(self.offsets, self.pairs, strict=True)]
        while len(parts) > 1:
            groups = (parts[k : k + REDUCED_AT_ONCE] for k in range(0, len(parts), REDUCED_AT_ONCE))
            parts = [group[0] if len(group) == 1 else delayed()(join)(*group) for group in groups]
        return computed(parts)[0]


def delayed() -> Any:
    """Return Dask's decorator."""
    return require("dask", "distributed").delayed


def computed(parts: list[Any]) -> list[Any]:
    """Compute on the cluster in use, or in threads where there is none."""
    return list(require("dask", "distributed").compute(*parts))


def read_chunks(states: Any, observations: Any) -> Chunks:
    """Put the chunks of states and observations side by side.

    Parameters
    ----------
    states, observations : Dask arrays or dataframes
        Equally many rows. Arrays are chunked along rows only, dataframes have the same partitions.
    """
    for name, given in (("states", states), ("observations", observations)):
        if not is_dask(given):
            raise TypeError(
                f"the {name} are {type(given).__name__}, but the others are a Dask collection: pass both as Dask "
                "arrays (dask.array.from_array) or dataframes."
            )
    columns = [_chunked_by_rows(part) for part in (states, observations)]
    if all(_known(part) for part in columns):
        lengths = [sum(part.chunks[0]) for part in columns]
        if lengths[0] != lengths[1]:
            raise ValueError(f"there are {lengths[0]} states and {lengths[1]} observations; they must be pairs.")
        columns[1] = columns[1].rechunk({0: columns[0].chunks[0]})
    x, y = (list(np.ravel(part.to_delayed())) for part in columns)
    if len(x) != len(y):
        raise ValueError(
            f"the states have {len(x)} chunks and the observations {len(y)}, of unknown lengths: give both the same "
            "partitions, or compute the lengths first (compute_chunk_sizes)."
        )
    pairs = list(zip(x, y, strict=True))
    chunks = Chunks(pairs, np.array(computed([delayed()(checked)(k, *pair) for k, pair in enumerate(pairs)])))
    if chunks.size < 2:
        raise ValueError(f"there are {chunks.size} examples; at least 2 are needed.")
    return chunks


def checked(number: int, states: Any, observations: Any) -> int:
    """Return how many rows a chunk has; an error names the chunk that has something wrong with it."""
    x, y = as_rows(states), as_rows(observations)
    if len(x) != len(y):
        raise ValueError(f"chunk {number} has {len(x)} states and {len(y)} observations; they must be pairs.")
    for name, values in (("states", x), ("observations", y)):
        bad = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
        if bad.any():
            raise ValueError(
                f"chunk {number} has NaN or infinity in the {name}, first in its row {int(np.argmax(bad))}, in "
                f"{int(bad.sum())} rows altogether: remove these rows first."
            )
    return len(x)


def as_rows(chunk: Any) -> FloatArray:
    """Return a chunk as an array of doubles, (rows, ...)."""
    values = np.asarray(chunk)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"the chunks hold {values.dtype} values; states and observations in chunks are numbers.")
    values = values.astype(np.float64, copy=False)
    return values[:, None] if values.ndim == 1 else values


def take(states: Any, observations: Any, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return some rows of a chunk."""
    return as_rows(states)[rows], as_rows(observations)[rows]


def _chunked_by_rows(collection: Any) -> Any:
    """Return an array whose chunks are whole rows."""
    if hasattr(collection, "chunks") and collection.ndim > 1:
        return collection.rechunk(dict.fromkeys(range(1, collection.ndim), -1))
    return collection


def _known(collection: Any) -> bool:
    return hasattr(collection, "chunks") and not np.isnan(np.array(collection.chunks[0], float)).any()
