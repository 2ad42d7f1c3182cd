"""Files that version 0.1 wrote."""

from pathlib import Path

import numpy as np
import pytest

import kmcf

FILES = Path(__file__).parent / "files"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(25, 1))
Y = np.sin(X) + X + 0.3 * RNG.normal(size=X.shape)
V = np.exp(X) * RNG.normal(size=(25, 3))
# What version 0.1 printed when it wrote the files.
MEANS = [0.11400528542791602, -0.23112538579697742, 0.37836667506836075, 0.16127029598197107, -0.7077824458949221]
ON_PARTICLES = [-0.17411826745709708, -0.28819190977107045, 0.3021256903204636, -0.004080351984251109]


def test_a_filter_gives_what_it_gave():
    with pytest.warns(kmcf.RefittedWarning, match="computed again"):
        flt = kmcf.load(FILES / "filter-0.1.kmcf")
    np.testing.assert_allclose(flt.filter(Y[:5]).mean.ravel(), MEANS, rtol=1e-8)
    assert flt.reject is None
    assert kmcf.store.describe_file(FILES / "filter-0.1.kmcf")["class"] == "KernelMonteCarloFilter"


def test_a_background_becomes_the_filter_on_particles():
    with pytest.warns(kmcf.RefittedWarning):
        flt = kmcf.load(FILES / "particles-0.1.kmcf")
    assert isinstance(flt, kmcf.ParticleLikelihoodFilter)
    assert (flt.background, flt.n_examples, len(flt.states_)) == (0.2, 20, 20)
    np.testing.assert_allclose(flt.filter(V[:4]).mean.ravel(), ON_PARTICLES, rtol=1e-8)


def test_kernels_load():
    kernel = kmcf.load(FILES / "kernel-0.1.kmcf")
    np.testing.assert_allclose(kernel(X), np.exp(-((X - X.T) ** 2) / 8.0) * (X @ X.T))


def test_parts_that_were_mixed_up_are_refused():
    """0.1 wrote a * b + a such that it loaded as a * b + a * b."""
    with pytest.raises(kmcf.store.FileError, match=r"occurs twice.*save it"):
        kmcf.load(FILES / "shared-0.1.kmcf")


def test_other_filters_must_be_fitted_again():
    with pytest.raises(kmcf.store.FileError, match=r"KNNRegression was saved by kmcf 0.1.*fit it again"):
        kmcf.load(FILES / "neighbours-0.1.kmcf")
