"""What a belief says, against its weights and states; that it cannot be changed."""

import numpy as np
import pytest
from any_data import planar
from controlled_walk import data, fitted

import kmcf
from kmcf.datasets import paper_model
from kmcf.kernels import Gaussian

MODEL = paper_model("1a")
TRAIN = MODEL.simulate(60, random_state=0)
TEST = MODEL.simulate(12, random_state=1)


def fitted_to_model(**settings):
    flt = kmcf.KernelMonteCarloFilter(
        MODEL.transition, initial=MODEL.initial, random_state=2, augment=False, **settings
    )
    return flt.fit(TRAIN.states, TRAIN.observations)


def test_summaries_follow_from_weights_and_states():
    run = planar().filter(np.array([[0.1, 0.2], [0.4, -0.3], [np.nan, np.nan]]))
    for t, belief in enumerate(run):
        w, X = belief.weights, belief.states
        mean = sum(w[i] * X[i] for i in range(len(w)))
        centred = sum(w[i] * np.outer(X[i] - mean, X[i] - mean) for i in range(len(w)))
        moment = sum(w[i] * np.outer(X[i], X[i]) for i in range(len(w)))
        np.testing.assert_allclose(run.mean[t], mean, atol=1e-12)
        np.testing.assert_allclose(run.covariance[t], centred, atol=1e-12)
        np.testing.assert_allclose(belief.second_moment(), moment, atol=1e-12)
        np.testing.assert_array_equal(run.mode[t], X[np.argmax(w)])
        assert run.ess[t] == pytest.approx(1.0 / sum(w**2))
        assert run.negative_mass[t] == pytest.approx(-sum(w[w < 0]))
        assert belief.probability(lambda x: x[:, 0] > 0.2) == pytest.approx(sum(w[X[:, 0] > 0.2]))
        assert belief.expectation(lambda x: x[:, 0] ** 3) == pytest.approx(sum(w * X[:, 0] ** 3))


def test_projected_covariances_are_positive_semidefinite():
    run = planar(relocate=False).filter(np.random.default_rng(3).normal(size=(40, 2)))  # noise contradicts anything
    for t, belief in enumerate(run):
        projected = belief.covariance(psd=True)
        assert np.linalg.eigvalsh(projected).min() > -1e-12
        values, vectors = np.linalg.eigh(run.covariance[t])
        np.testing.assert_allclose(projected, vectors @ np.diag(np.clip(values, 0, None)) @ vectors.T, atol=1e-12)


def test_a_belief_tells_where_it_stands():
    flt = fitted_to_model()
    belief = flt.step(flt.start(stream=4), TEST.observations[0])
    assert (belief.time, belief.stream, len(belief)) == (1, 4, 60)
    assert "time=1" in repr(belief)
    assert "missing" in repr(flt.step(belief, None))


def test_quantiles_density_and_samples_of_a_filtered_belief():
    """One well-placed observation: the belief is nearly Gaussian with Kalman's moments N(y v, v), v = p/(p+1)."""
    rng = np.random.default_rng(0)
    X = MODEL.initial(1000, rng)
    flt = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=0)
    flt.fit(X, MODEL.observe(X, rng))
    belief = flt.step(flt.start(), 1.0)
    p = 1 / 0.19
    mean, sd = p / (p + 1.0), np.sqrt(p / (p + 1.0))
    assert abs(belief.quantile(0.5) - mean) < 0.25
    low, high = belief.quantile([0.1, 0.9])
    assert abs((high - low) - 2 * 1.2816 * sd) < 0.7
    grid = np.linspace(-8, 8, 801)
    density = belief.density(grid)
    assert abs(np.trapezoid(density, grid) - 1.0) < 0.02
    assert abs(grid[np.argmax(density)] - mean) < 0.5
    assert abs(belief.mode(method="density")[0] - mean) < 0.5
    assert abs(belief.preimage()[0] - mean) < 0.5
    sample = belief.sample(300)
    assert abs(sample.mean() - belief.mean()[0]) < 0.05
    assert np.isin(sample, belief.states).all()


def test_the_herding_loss_is_the_distance_of_the_points_to_the_belief():
    flt = fitted_to_model(n_resample=6, resample_threshold=0, state_kernel=Gaussian(1.0))
    belief = flt.step(flt.start(), 0.7)
    points = belief.states[belief.resampled]

    def k(A, B):
        return np.exp(-0.5 * (A - B.T) ** 2)

    w = belief.weights
    square = (
        w @ k(belief.states, belief.states) @ w - 2 * (k(points, belief.states) @ w).mean() + k(points, points).mean()
    )
    assert belief.report.herding_loss == pytest.approx(np.sqrt(square), rel=1e-6)
    more = fitted_to_model(n_resample=50, resample_threshold=0, state_kernel=Gaussian(1.0))
    assert more.step(more.start(), 0.7).report.herding_loss < belief.report.herding_loss


def test_beliefs_cannot_be_written_to():
    flt = fitted()
    observations, _ = data()
    corrected = flt.step(flt.start(), observations[0])
    predicted = flt.step(corrected, None)
    for belief in (flt.start(), corrected, predicted):
        with pytest.raises(ValueError, match="read-only"):
            belief.weights[0] = 5.0
        with pytest.raises(ValueError, match="read-only"):
            belief.states[0] = 5.0
        for name in ("weights", "states", "time"):
            with pytest.raises(AttributeError):
                setattr(belief, name, None)
