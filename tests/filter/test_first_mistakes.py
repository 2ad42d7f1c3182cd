"""What a newcomer to Python's side gets wrong first, and the sentence for it."""

import numpy as np
import pytest

import kmcf

X = np.random.default_rng(0).normal(size=(30, 2))
Y = np.tile(X, 6)


@pytest.fixture(scope="module")
def flt():
    walk = kmcf.transitions.GaussianRandomWalk(0.5)
    return kmcf.KernelMonteCarloFilter(walk, random_state=0, engine="exact").fit(X, Y)


def test_a_step_without_a_belief(flt):
    with pytest.raises(TypeError, match=r"the belief before, then the observation: flt.step\(flt.start\(\), y\)"):
        flt.step(Y[0])
    with pytest.raises(TypeError, match=r"a belief, then the number of steps"):
        flt.forecast(3)


def test_one_observation_is_no_sequence(flt):
    with pytest.raises(ValueError, match=r"shape \(12,\), as one observation has: .* step\(belief, y\) takes"):
        flt.filter(Y[0])


def test_kernels_are_checked_whoever_uses_them():
    with pytest.raises(TypeError, match=r"Hellinger has normalize = 'false'; it must be True or False."):
        kmcf.kernels.Hellinger(normalize="false")([[1.0, 2.0]])
    inside = kmcf.kernels.Gaussian(1.0) + kmcf.kernels.Matern(nu="smooth")
    walk = kmcf.transitions.GaussianRandomWalk(0.5)
    with pytest.raises(TypeError, match=r"Matern has nu = 'smooth'; it must be a number."):
        kmcf.KernelMonteCarloFilter(walk, observation_kernel=inside).fit(X, Y)


def test_three_examples_are_told_and_ten_are_not(recwarn):
    walk = kmcf.transitions.GaussianRandomWalk(0.5)
    kmcf.KernelMonteCarloFilter(walk, engine="exact").fit(X[:10], Y[:10])
    assert not recwarn
    with pytest.warns(kmcf.FewExamplesWarning, match="only 3 examples"):
        kmcf.KernelMonteCarloFilter(walk, engine="exact").fit(X[:3], Y[:3])
