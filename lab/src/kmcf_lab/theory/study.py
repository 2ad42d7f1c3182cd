"""Section 5, measured: the bound of Theorem 1, the rates of Theorem 2, the consistency of the filter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kmcf_lab.cells import Backend, Cell, Result, Row, run_cells
from kmcf_lab.theory.bound import bound_cells, compute_bound
from kmcf_lab.theory.consistency import SIZES, compute_consistency, consistency_cells
from kmcf_lab.theory.rates import compute_candidates, compute_picks, rate_cells

_COMPUTE = {
    "bound": compute_bound,
    "candidates": compute_candidates,
    "picks": compute_picks,
    "consistency": compute_consistency,
}


def compute(cell: Cell) -> Sequence[Row]:
    """Compute a cell of any of the four studies."""
    return _COMPUTE[cell.study](cell)


def run_theory(
    folder: Path,
    *,
    repetitions: int = 20,
    draws: int = 300,
    sizes: Sequence[int] = SIZES,
    steps: int = 100,
    seed: int = 0,
    jobs: int = 1,
    backend: Backend = "loky",
    resume: bool = False,
    progress: bool = False,
) -> list[Result]:
    """Measure everything that Section 5 says.

    Parameters
    ----------
    folder : Path
        Where the cells are kept.
    repetitions : int
        Independent repetitions of every study; a tenth of them for the bound, whose cells repeat their moves anyway.
    draws : int
        Moves per cell of the bound, over which its expectation is measured.
    sizes, steps : sequence of int, int
        Numbers of examples and length of the sequences for the consistency.
    seed : int
        Another seed gives independent results.
    jobs, backend, resume, progress
        As in :func:`kmcf_lab.cells.run_cells`.
    """
    cells = bound_cells(draws, max(1, repetitions // 10), seed)
    cells += rate_cells(repetitions, seed)
    # The largest first: a worker that started them last would keep the others waiting.
    cells += consistency_cells(sorted(sizes, reverse=True), steps, repetitions, seed)
    return run_cells(cells, compute, folder, jobs=jobs, backend=backend, resume=resume, progress=progress)
