"""The theorems, corollaries and remarks of Section 5 and its appendices, checked."""

from __future__ import annotations

from collections.abc import Sequence

from kmcf.report import Statement
from kmcf_lab.cells import Result
from kmcf_lab.tables import rows_of
from kmcf_lab.theory.bound_checks import benefit_statements, bound_statements
from kmcf_lab.theory.filter_checks import (
    consistency_statements,
    corollary_statements,
    normalisation_statements,
)
from kmcf_lab.theory.rate_checks import candidate_statements, hull_statements, importance_statements, pick_statements


def statements(results: Sequence[Result]) -> list[Statement]:
    """Check everything, in the paper's order; the proofs after the theorems."""
    return [
        *bound_statements(rows_of(results, "bound")),
        *benefit_statements(rows_of(results, "benefit")),
        *candidate_statements(rows_of(results, "candidates")),
        *pick_statements(rows_of(results, "picks"), rows_of(results, "floor")),
        *hull_statements(rows_of(results, "hull")),
        *importance_statements(rows_of(results, "importance")),
        *corollary_statements(rows_of(results, "corollaries")),
        *consistency_statements(rows_of(results, "consistency")),
        *normalisation_statements(rows_of(results, "normalisation"), rows_of(results, "consistency")),
    ]
