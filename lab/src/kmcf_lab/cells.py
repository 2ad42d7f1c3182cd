"""Cells: the smallest parts of an experiment, computed in parallel, saved one by one, never computed twice.

The coordinates of a cell say everything that its result depends on, and its seed is derived from them. So a result
depends neither on the order of the cells nor on the number of workers, and a killed run continues where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Literal

import numpy as np
from threadpoolctl import ThreadpoolController

from kmcf._version import __version__
from kmcf.distributed.cluster import check_versions, connected
from kmcf.distributed.tasks import as_finished
from kmcf.numerics.interrupts import honoured
from kmcf.support.atomic import write_atomically
from kmcf.support.extras import progress_bar, require
from kmcf.support.plain_json import without_nan
from kmcf_lab._version import __version__ as lab_version

Coordinate = str | int | float | bool
Row = dict[str, Any]
"""What a cell computes, by name; a cell may give several rows."""
Backend = Literal["loky", "threading", "multiprocessing"]


@dataclass(frozen=True)
class Cell:
    """One part of an experiment: a study, and the settings it is computed with.

    Parameters
    ----------
    study : str
        What is computed.
    coordinates : mapping
        All settings.

    Examples
    --------
    >>> first, same = Cell("sweep", {"n": 100, "repetition": 3}), Cell("sweep", {"repetition": 3, "n": 100})
    >>> first.seed == same.seed, first.seed == Cell("sweep", {"n": 100, "repetition": 4}).seed
    (True, False)
    """

    study: str
    coordinates: Mapping[str, Coordinate]

    @property
    def digest(self) -> str:
        """A fingerprint of study and coordinates, which does not depend on their order."""
        return hashlib.sha256(json.dumps([self.study, dict(self.coordinates)], sort_keys=True).encode()).hexdigest()

    @property
    def seed(self) -> int:
        """The seed of all its random numbers."""
        return int(self.digest[:15], 16)

    def generator(self) -> np.random.Generator:
        """Return a fresh generator of its random numbers."""
        return np.random.default_rng(self.seed)

    def path(self, folder: Path) -> Path:
        """Return the file that keeps its result."""
        return folder / f"{self.study}-{self.digest[:16]}.json"


@dataclass(frozen=True)
class Result:
    """The rows of a cell, how long it took, and the version that computed it."""

    cell: Cell
    rows: tuple[Row, ...]
    seconds: float
    version: str

    def flat(self) -> Iterator[Row]:
        """Yield one dictionary per row: coordinates and values."""
        for row in self.rows:
            yield {**self.cell.coordinates, **row}


@dataclass(frozen=True)
class WithFiles:
    """A computation that keeps files of its own beside its result, such as the trials of a tuning.

    Parameters
    ----------
    compute : callable
        From a cell, and a folder for its files, to its rows.
    """

    compute: Callable[[Cell, Path], Sequence[Row]]


Computation = Callable[[Cell], Sequence[Row]] | WithFiles


def run_cells(
    cells: Sequence[Cell],
    compute: Computation,
    folder: Path,
    *,
    jobs: int = 1,
    backend: Backend = "loky",
    resume: bool = False,
    known: Iterable[Result] = (),
    progress: bool = False,
    seconds: float | None = None,
) -> list[Result]:
    """Compute cells, in parallel and resumably; inside :func:`kmcf.distributed.connect`, on that cluster.

    Parameters
    ----------
    cells : sequence of Cell
        What to compute; all different.
    compute : callable or WithFiles
        From a cell to its rows; a function at the top level of a module, so that other processes can import it.
    folder : Path
        Where each result is written as soon as it is computed, whole or not at all.
    jobs : int
        Number of workers; each uses one thread for linear algebra. A cluster uses all of its own.
    backend : {"loky", "threading", "multiprocessing"}
        The kind of joblib's workers.
    resume : bool
        Read the results that an earlier run left, if this version of the package wrote them.
    known : iterable of Result
        Results that are taken as they are, whichever version computed them, unless the folder has newer ones.
    progress : bool
        Show a bar with the remaining time.
    seconds : float, optional
        Start no cell later than this; cells not computed by then are left out of the results.

    Returns
    -------
    list of Result
        In the order of the cells.
    """
    began = perf_counter()
    _check(cells, jobs, backend)
    saved = {cell.digest: _load(cell, folder) for cell in cells} if resume else {}
    asked = {cell.digest for cell in cells}
    done = {result.cell.digest: result for result in known if result.cell.digest in asked}
    done |= {digest: result for digest, result in saved.items() if result is not None}
    missing = [cell for cell in cells if cell.digest not in done]
    with progress_bar(len(missing), _describe(len(done)), show=progress and bool(missing), unit="cell") as advance:
        in_time = takewhile(lambda _: seconds is None or perf_counter() - began < seconds, missing)
        client = connected()
        here = partial(_here, jobs=jobs, backend=backend)
        try:
            for result in (here if client is None else partial(_elsewhere, client))(in_time, compute, folder):
                done[result.cell.digest] = result
                advance()
        except (KeyboardInterrupt, ConnectionError) as stop:
            kept = sum(cell.path(folder).is_file() for cell in cells)
            stop.add_note(f"{kept} of {len(cells)} cells are kept in {folder}")
            raise
    return [done[cell.digest] for cell in cells if cell.digest in done]


def _check(cells: Sequence[Cell], jobs: int, backend: str) -> None:
    if jobs < 1:
        raise ValueError(f"jobs = {jobs}; at least one worker is needed.")
    if backend not in ("loky", "threading", "multiprocessing"):
        raise ValueError(f"backend = {backend!r}; choose loky, threading or multiprocessing.")
    if len({cell.digest for cell in cells}) != len(cells):
        raise ValueError("two cells have the same coordinates; give each its own, e.g. the number of the repetition.")


def _describe(resumed: int) -> str:
    return f"computing ({resumed} done before)" if resumed else "computing"


def _here(cells: Iterable[Cell], compute: Computation, folder: Path, jobs: int, backend: Backend) -> Iterator[Result]:
    """Compute cells on this machine, and write them, in any order."""
    joblib = require("joblib", "all")
    workers = joblib.Parallel(n_jobs=jobs, backend=backend, return_as="generator_unordered", batch_size=1)
    yield from workers(joblib.delayed(_compute)(cell, compute, folder) for cell in cells)


def _elsewhere(client: Any, cells: Iterable[Cell], compute: Computation, folder: Path) -> Iterator[Result]:
    """Compute cells on a cluster, and write them here as they arrive, in any order."""
    check_versions(client, "kmcf_lab", lab_version)
    for cell, files in as_finished(client, partial(_packed, compute), cells):
        result = _read(cell, files[cell.path(folder).name].decode())
        if result.version != __version__:  # a worker that came later
            raise RuntimeError(f"a worker has kmcf {result.version}, but this machine has {__version__}.")
        for name in sorted(files, key=lambda name: name == cell.path(folder).name):  # the result last, when it is whole
            write_atomically(folder / name, files[name])
        yield result


def _packed(compute: Computation, cell: Cell) -> dict[str, bytes]:
    """Compute a cell on a machine that may not have the folder of the results; return all files for it by name."""
    with TemporaryDirectory() as scratch:
        _compute(cell, compute, Path(scratch))
        return {path.name: path.read_bytes() for path in Path(scratch).iterdir()}


def _compute(cell: Cell, compute: Computation, folder: Path) -> Result:
    """Compute a cell on one thread and write it; return what a later run would read."""
    began = perf_counter()
    with honoured(), _threads(len(sys.modules)).limit(limits=1):
        computed = compute.compute(cell, folder) if isinstance(compute, WithFiles) else compute(cell)
        rows = [dict(row) for row in computed]
    content = {
        "study": cell.study,
        "coordinates": dict(cell.coordinates),
        "seed": cell.seed,
        "version": __version__,
        "seconds": perf_counter() - began,
        "rows": without_nan(rows),
    }
    text = json.dumps(content, indent=1, allow_nan=False, default=_plain)
    write_atomically(cell.path(folder), text + "\n")
    return _read(cell, text)


@lru_cache(maxsize=1)
def _threads(modules: int) -> ThreadpoolController:
    """Return what limits the threads of all loaded libraries.

    Looking for them takes longer than a small cell, so it is done again only when further modules have been imported.
    """
    return ThreadpoolController()


def _plain(value: Any) -> Any:
    """Turn NumPy's numbers into Python's."""
    if isinstance(value, np.generic):
        return without_nan(value.item())
    raise TypeError(f"a cell returned {value!r}, which cannot be written; return numbers, strings and booleans.")


def _load(cell: Cell, folder: Path) -> Result | None:
    """Read a result; None if there is none that this version wrote."""
    try:
        result = _read(cell, cell.path(folder).read_text())
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return result if result.version == __version__ else None


def _read(cell: Cell, text: str) -> Result:
    content = json.loads(text)
    rows = [{key: math.nan if value is None else value for key, value in row.items()} for row in content["rows"]]
    return Result(cell, tuple(rows), float(content["seconds"]), str(content["version"]))
