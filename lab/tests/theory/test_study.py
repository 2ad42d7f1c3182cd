"""The cells of Section 5."""

from kmcf_lab.theory.benefit import benefit_cells
from kmcf_lab.theory.bound import bound_cells
from kmcf_lab.theory.consistency import consistency_cells
from kmcf_lab.theory.corollaries import corollary_cells
from kmcf_lab.theory.hull import hull_cells
from kmcf_lab.theory.importance import importance_cells
from kmcf_lab.theory.rates import rate_cells


def test_cells_are_all_different():
    cells = [*bound_cells(10, 2, 0), *rate_cells(3, 0), *consistency_cells((50, 100), 10, 2, 0)]
    cells += [*benefit_cells(2, 0), *hull_cells(2, 0), *importance_cells(10, 0), *corollary_cells(2, 0)]
    assert len({cell.digest for cell in cells}) == len(cells)
    assert not {cell.digest for cell in cells} & {cell.digest for cell in rate_cells(3, 1)}
