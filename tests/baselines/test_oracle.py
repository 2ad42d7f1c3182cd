"""The particle filter that knows the likelihood, against the Kalman filter and another package."""

import warnings

import numpy as np
import pytest
from known_models import kalman
from sklearn.exceptions import NotFittedError

from kmcf.baselines import ParticleFilter
from kmcf.datasets import paper_model

MODEL = paper_model("1a")


def oracle(**settings):
    settings = {"n_particles": 20_000, "random_state": 0} | settings
    return ParticleFilter(MODEL.transition, MODEL.log_likelihood, MODEL.initial, **settings)


@pytest.mark.parametrize("resampling", ["systematic", "stratified", "multinomial"])
@pytest.mark.parametrize("threshold", [0.5, 1.0])
def test_the_oracle_is_the_kalman_filter(resampling, threshold):
    observations = MODEL.simulate(30, random_state=0).observations.copy()
    observations[[7, 8, 20]] = np.nan
    means, variances, _ = kalman(observations)
    run = oracle(resampling=resampling, resample_threshold=threshold).filter(observations)
    np.testing.assert_allclose(run.mean[:, 0], means, atol=0.05)
    np.testing.assert_allclose(run.covariance[:, 0, 0], variances, rtol=0.08)
    assert run.missing.sum() == 3


def test_the_weight_sum_is_the_likelihood_of_the_observation():
    observations = MODEL.simulate(15, random_state=0).observations
    expected = kalman(observations).evidence
    np.testing.assert_allclose(oracle().filter(observations).weight_sum, expected, rtol=0.05)


def test_the_oracle_agrees_with_another_package():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        particles = pytest.importorskip("particles")
        from particles import distributions, state_space_models

    class Volatility(state_space_models.StateSpaceModel):
        """Model 2a."""

        def PX0(self):  # noqa: N802
            return distributions.Normal(scale=1.0 / np.sqrt(1.0 - 0.81))

        def PX(self, t, xp):  # noqa: N802
            return distributions.Normal(loc=0.9 * xp)

        def PY(self, t, xp, x):  # noqa: N802
            return distributions.Normal(scale=0.5 * np.exp(x / 2.0))

    model = paper_model("2a")
    observations = model.simulate(40, random_state=0).observations
    state = np.random.get_state()  # noqa: NPY002  # that package draws from the global generator
    np.random.seed(0)  # noqa: NPY002
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = particles.SMC(
            fk=state_space_models.Bootstrap(ssm=Volatility(), data=observations[:, 0]),
            N=20_000,
            collect=[particles.collectors.Moments()],
        )
        other.run()
    np.random.set_state(state)  # noqa: NPY002
    theirs = np.array([moments["mean"] for moments in other.summaries.moments])
    flt = ParticleFilter(model.transition, model.log_likelihood, model.initial, n_particles=20_000, random_state=0)
    run = flt.filter(observations)
    np.testing.assert_allclose(run.mean[:, 0], theirs, atol=0.06)
    assert np.log(run.weight_sum).sum() == pytest.approx(other.logLt, abs=0.2)


def test_the_oracle_needs_examples_only_for_drawing_initial_states():
    flt = ParticleFilter(MODEL.transition, MODEL.log_likelihood, n_particles=50, random_state=0)
    with pytest.raises(NotFittedError, match=r"pass initial=\.\.\., or call fit"):
        flt.start()
    X = np.array([[1.0], [5.0]])
    assert set(flt.fit(X, X).start().states.ravel()) == {1.0, 5.0}
    assert oracle(n_particles=50).step(oracle(n_particles=50).start(), 0.3).mean().shape == (1,)


def test_objects_can_be_states():
    def likelihood(states, y):
        return np.array([0.0 if state == y else -3.0 for state in states])

    flt = ParticleFilter(
        lambda states, control, rng: states,
        likelihood,
        lambda size, rng: [("left", "right")[i] for i in rng.integers(2, size=size)],
        n_particles=100,
        random_state=0,
    )
    assert flt.filter(["left", "left", None, "left"]).mode == ["left"] * 4


@pytest.mark.parametrize(("result", "message"), [(np.zeros((3, 2)), r"shape \(3, 2\)"), (np.full(50, np.nan), "NaN")])
def test_bad_likelihoods(result, message):
    flt = oracle(n_particles=50)
    flt.log_likelihood = lambda states, y: result
    with pytest.raises(ValueError, match=message):
        flt.filter([0.0])
    flt = oracle()
    flt.log_likelihood = "normal"
    with pytest.raises(TypeError, match="log_likelihood must be a function"):
        flt.start()
