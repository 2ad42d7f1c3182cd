"""The likelihood of neighbours against its formula."""

import numpy as np
import pytest

import kmcf
from kmcf.baselines import KNNParticleFilter


@pytest.mark.parametrize("divide", [False, True])
def test_the_nearest_neighbour_likelihood_is_its_formula(divide):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 2)), rng.normal(size=(40, 3))
    flt = KNNParticleFilter(
        lambda states, control, rng: states,
        n_neighbors=5,
        state_kernel=kmcf.kernels.Gaussian(0.4),
        divide_by_density=divide,
        n_particles=60,
        resample_threshold=0.0,
        random_state=0,
    ).fit(X, Y)
    y = rng.normal(size=3)
    start = flt.start()
    nearest = sorted(range(40), key=lambda i: np.sum((Y[i] - y) ** 2))[:5]

    def smooth(a, b):
        return np.exp(-np.sum((a - b) ** 2) / (2 * 0.4**2))

    density = [sum((5 - r) / 15 * smooth(p, X[i]) for r, i in enumerate(nearest)) for p in start.states]
    if divide:
        density = [d / sum(smooth(p, x) for x in X) for d, p in zip(density, start.states, strict=True)]
    np.testing.assert_allclose(flt.step(start, y).weights, np.array(density) / np.sum(density), atol=1e-12)


def test_dividing_by_the_density_undoes_uneven_examples():
    """Examples crowd at one end; the state is uniform. Undivided, the estimate leans towards the crowd."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(scale=0.7, size=(2000, 1)))
    Y = X + 0.5 * rng.normal(size=X.shape)
    errors = {}
    for divide in (False, True):
        flt = KNNParticleFilter(
            lambda states, control, rng: states,
            lambda size, rng: rng.uniform(0, 2, size=(size, 1)),
            n_neighbors=150,
            divide_by_density=divide,
            random_state=0,
        ).fit(X, Y)
        errors[divide] = abs(float(flt.step(flt.start(), 1.0).mean()[0]) - 1.0)  # flat prior: the mean is y
    assert errors[True] < 0.5 * errors[False]
