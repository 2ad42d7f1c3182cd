"""Ranks by a matrix norm, and numbers of examples by an RKHS distance, instead of numbers chosen by hand."""

import numpy as np
import pytest

import kmcf
from kmcf.numerics.linalg import pivoted_cholesky

RNG = np.random.default_rng(0)
STATES = RNG.normal(size=(120, 1))
OBSERVATIONS = STATES + 0.4 * RNG.normal(size=STATES.shape)


def make(**settings):
    return kmcf.KernelMonteCarloFilter(lambda s, u, r: s, random_state=0, **settings).fit(STATES, OBSERVATIONS)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_the_rank_is_the_smallest_that_keeps_the_share_of_the_trace(share):
    G = kmcf.kernels.Gaussian(0.5)(STATES)
    found = pivoted_cholesky(lambda i: G[:, i], np.diag(G), tolerance=0.0, share=share)
    rank = found.factor.shape[1]
    errors = [
        np.trace(G - fewer.factor @ fewer.factor.T)
        for fewer in (pivoted_cholesky(lambda i: G[:, i], np.diag(G), tolerance=0.0, rank=r) for r in (rank, rank - 1))
    ]
    assert errors[0] <= (1 - share) * np.trace(G) < errors[1]


@pytest.mark.parametrize("engine", ["literal", "lowrank", "compressed"])
def test_filters_take_ranks_as_shares(engine):
    flt = make(engine=engine, rank=(0.99, 0.9))
    assert flt.trace_errors_[0] <= 0.01
    assert 0.005 < flt.trace_errors_[1] <= 0.1
    assert flt.ranks_[0] < 20
    assert np.isfinite(flt.filter(OBSERVATIONS[:5]).mean).all()


def test_examples_are_kept_until_they_are_close_to_all():
    flt = make(n_examples=0.05)
    chosen = kmcf.subsample(
        STATES, OBSERVATIONS, error=0.05, state_kernel=flt.state_kernel_, observation_kernel=flt.observation_kernel_
    )
    np.testing.assert_array_equal(flt.example_indices_, chosen.indices)
    assert flt.subsample_error_ <= 0.05 < chosen.errors[-2]
    assert len(flt.states_) == len(chosen.indices) < 120


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rank": 0.0}, "rank = 0.0"),
        ({"rank": 1.5}, "rank = 1.5"),
        ({"n_examples": -0.1}, "n_examples = -0.1"),
        ({"n_examples": 0}, "n_examples = 0"),
        ({"n_examples": 1.5}, r"n_examples = 1.5: one example is already at a distance of 0\.\d+ from all"),
    ],
)
def test_bad_sizes_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        make(**settings)
