"""Kernels that cannot work get a sentence: its type, and a telling part of what it says."""

import numpy as np
import pytest
from numpy.linalg import LinAlgError
from sklearn.exceptions import NotFittedError
from vector_examples import X, Y, fitted, make, with_bad

from kmcf.kernels import AsinhScaled, Circular, Columns, Gaussian, Laplace, Linear, Matern


@pytest.mark.parametrize("which", ["state_kernel", "observation_kernel"])
@pytest.mark.parametrize("kind", [Gaussian, Laplace, Matern, Circular])
@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.nan, np.inf])
def test_bandwidths_must_be_positive(which, kind, bandwidth):
    with pytest.raises(ValueError, match=rf"{kind.__name__} has bandwidth = .*positive"):
        fitted(**{which: kind(bandwidth)})


def test_bandwidths_of_the_wrong_number():
    with pytest.raises(ValueError, match="2 bandwidths but the data have 3 columns"):
        fitted(observation_kernel=Gaussian(np.array([1.0, 2.0])))


def test_columns_that_do_not_exist():
    with pytest.raises(ValueError, match="columns 3 of data with 3 columns"):
        fitted(observation_kernel=Columns(Gaussian(), 3))


@pytest.mark.parametrize("which", ["state_kernel", "observation_kernel"])
@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (Gaussian, r"got the class Gaussian; write Gaussian\(\)"),
        (3.0, "must be a kmcf kernel, a scikit-learn kernel, a callable"),
        ("rbf", "must be a kmcf kernel.* not 'rbf'"),
        ("gaussian", r"write kmcf.kernels.named\('gaussian'\)"),
        (X, "must be a kmcf kernel"),
    ],
)
def test_kernels_of_the_wrong_type(which, kernel, sentence):
    with pytest.raises(TypeError, match=f"{which} {sentence}" if "must" in sentence else sentence):
        fitted(**{which: kernel})


@pytest.mark.parametrize("observations", [X.astype(str), [["1.0", 2.0]] * len(X)])
def test_numbers_that_are_text_are_named_as_such(observations):
    with pytest.raises(TypeError, match=r"pass an observation_kernel .* turned into numbers first"):
        make().fit(X, observations)


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), AsinhScaled(Gaussian()), 2 * Gaussian() + Linear()])
def test_an_unfitted_kernel_says_so(kernel):
    with pytest.raises(NotFittedError, match=r"learns .* call fit\(examples\) first"):
        kernel(X)


def test_a_kernel_for_vectors_given_objects():
    with pytest.raises(TypeError, match="the kernel Gaussian works on numeric arrays"):
        make(observation_kernel=Gaussian()).fit(X, ["a", "b"] * 10)


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (np.triu(np.ones((20, 20))), "not symmetric"),
        (np.ones((20, 20)) - np.eye(20), "not positive semi-definite"),
        (-np.eye(20), "not positive semi-definite"),
        (Y, r"square kernel matrix .* shape \(20, 3\)"),
        (np.eye(19), "20 states but 19 observations"),
        (with_bad(np.eye(20), np.nan), "NaN or infinity"),
    ],
)
def test_bad_precomputed_matrices(matrix, sentence):
    with pytest.raises(ValueError, match=sentence):
        make(observation_kernel="precomputed").fit(X, matrix)


def test_a_precomputed_observation_has_one_value_per_example():
    flt = make(observation_kernel="precomputed").fit(X, np.eye(20))
    with pytest.raises(ValueError, match=r"shape \(3,\).*\(20,\)"):
        flt.step(flt.start(), np.ones(3))


def test_states_cannot_be_precomputed():
    with pytest.raises(TypeError, match="state_kernel='precomputed' cannot work"):
        fitted(state_kernel="precomputed")


@pytest.mark.parametrize("which", ["state_kernel", "observation_kernel"])
def test_a_callable_that_returns_a_wrong_shape(which):
    def lopsided(A, B):
        return np.ones(3)

    with pytest.raises(ValueError, match=r"lopsided returned an array of shape \(3,\)"):
        fitted(**{which: lopsided})


@pytest.mark.parametrize("which", ["state_kernel", "observation_kernel"])
def test_a_kernel_that_is_not_positive_definite(which):
    def opposite(A, B):
        return -np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))

    with pytest.raises((LinAlgError, ValueError), match=r"not positive (semi-)?definite"):
        fitted(**{which: opposite}, engine="exact").filter(Y[:3])
