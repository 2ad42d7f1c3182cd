"""Candidates: their densities against histograms and integrals, Assumption 2 against its definition."""

import itertools

import numpy as np
import pytest
from scipy import integrate, stats

from kmcf_lab.theory.designs import (
    CANDIDATE_SD,
    DESIGNS,
    draw_candidates,
    mean_density,
    ratios,
    target_density,
    unlikeness,
)


@pytest.mark.parametrize("design", DESIGNS)
def test_the_mean_density_is_that_of_the_pooled_candidates(design):
    rng = np.random.default_rng(0)
    pooled = np.concatenate([draw_candidates(design, 20, rng) for _ in range(2000)])
    edges = np.linspace(-0.5, 0.5, 11)
    counts = np.histogram(pooled, edges)[0] / len(pooled)
    masses = [
        integrate.quad(lambda x: float(mean_density(design, np.array(x))), a, b, points=[0.0] if a < 0 < b else None)[0]
        for a, b in itertools.pairwise(edges)
    ]
    np.testing.assert_allclose(counts, masses, atol=0.015 if design == "chain" else 0.01)


def test_independent_designs_are_independent_and_the_chain_is_not():
    rng = np.random.default_rng(1)
    for design, expected in (("iid", 0.0), ("halves", 0.0), ("chain", 0.9)):
        pairs = np.array([draw_candidates(design, 2, rng) for _ in range(4000)])
        assert np.corrcoef(pairs.T)[0, 1] == pytest.approx(expected, abs=0.06)


def test_strata_have_one_candidate_each():
    points = draw_candidates("strata", 50, np.random.default_rng(2))
    assert list((stats.norm.cdf(points / CANDIDATE_SD) * 50).astype(int)) == list(range(50))


def test_ratios_are_bounded_exactly_where_the_design_covers_the_target():
    grid = np.linspace(-1.0, 1.0, 2001)
    for design, largest in (("iid", 2.0), ("halves", 2.27), ("strata", 2.0), ("chain", 2.0)):
        assert ratios(design, grid).max() == pytest.approx(largest, rel=0.01)
    with np.errstate(divide="ignore"):
        assert np.isinf(ratios("uncovered", np.array([-0.1])))


@pytest.mark.parametrize("size", [4, 10, 40])
def test_assumption_2_is_its_definition(size):
    """max_i ∫ (q_i/q − 1)² dP with q_i written out as the mean of the other densities."""
    x = np.linspace(-1.2, 1.2, 200_001)
    p, step = target_density(x), x[1] - x[0]
    parts = {
        "halves": [stats.norm.pdf(x, (-0.1, 0.1)[i % 2], 0.2) for i in range(size)],
        "strata": [
            size * stats.norm.pdf(x, 0, 0.2) * ((stats.norm.cdf(x / 0.2) * size).astype(int) == i) for i in range(size)
        ],
    }
    for design, densities in parts.items():
        everything = np.sum(densities, axis=0)
        q = everything / size
        values = [np.sum(p * ((everything - one) / (size - 1) / q - 1) ** 2) * step for one in densities]
        assert unlikeness(design, size) == pytest.approx(max(values), rel=2e-3)


def test_assumption_2_is_not_asked_of_other_designs():
    with pytest.raises(ValueError, match="independent candidates"):
        unlikeness("chain", 10)
