"""Section 5, measured: the three theorems with their proofs, the lemma, the assumptions and the three corollaries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kmcf_lab.cells import Backend, Cell, Result, Row, run_cells
from kmcf_lab.theory.benefit import benefit_cells, compute_benefit
from kmcf_lab.theory.bound import bound_cells, compute_bound
from kmcf_lab.theory.consistency import SIZES, compute_consistency, consistency_cells, normalisation_cells
from kmcf_lab.theory.corollaries import compute_corollaries, corollary_cells
from kmcf_lab.theory.hull import compute_hull, hull_cells
from kmcf_lab.theory.importance import compute_importance, importance_cells
from kmcf_lab.theory.rates import compute_candidates, compute_floor, compute_picks, rate_cells

_COMPUTE = {
    "bound": compute_bound,
    "benefit": compute_benefit,
    "candidates": compute_candidates,
    "picks": compute_picks,
    "floor": compute_floor,
    "hull": compute_hull,
    "importance": compute_importance,
    "corollaries": compute_corollaries,
    "consistency": compute_consistency,
    "normalisation": compute_consistency,
}


def compute(cell: Cell) -> Sequence[Row]:
    """Compute a cell of any of the studies."""
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
        Moves per cell of the bound, over which its expectation is measured; four times as many draws of candidates.
    sizes, steps : sequence of int, int
        Numbers of examples and length of the sequences for the consistency.
    seed : int
        Another seed gives independent results.
    jobs, backend, resume, progress
        As in :func:`kmcf_lab.cells.run_cells`.
    """
    cells = bound_cells(draws, max(1, repetitions // 10), seed)
    cells += benefit_cells(repetitions, seed)
    cells += rate_cells(repetitions, seed)
    cells += hull_cells(repetitions, seed)
    cells += importance_cells(4 * draws, seed)
    cells += corollary_cells(repetitions, seed)
    # The largest first: a worker that started them last would keep the others waiting.
    cells += consistency_cells(sorted(sizes, reverse=True), steps, repetitions, seed)
    cells += normalisation_cells(steps, repetitions, seed)
    return run_cells(cells, compute, folder, jobs=jobs, backend=backend, resume=resume, progress=progress)
