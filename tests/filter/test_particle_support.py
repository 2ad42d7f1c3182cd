"""The posterior on particles: its formula, and following a state beyond the examples."""

import warnings

import numpy as np
import pytest

import kmcf
from kmcf.bayes_rule import Sample
from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.bayes_rule.particles import ParticleRule
from kmcf.datasets import paper_model
from kmcf.herding.resampling import KeepAll
from kmcf.kernels import Gaussian


def test_weights_are_the_formula_written_out():
    rng = np.random.default_rng(0)
    X, particles = rng.normal(size=(40, 1)), rng.normal(size=(25, 1))
    Y = X + 0.3 * rng.normal(size=X.shape)
    gamma = rng.dirichlet(np.ones(25))
    observations = KernelFeatures.fit(Gaussian(0.7).on_examples(Y), tolerance=1e-12)
    rule = ParticleRule(Gaussian(0.3).on_examples(X), observations, delta=1e-2, resampler=KeepAll())
    y = np.array([[0.4]])
    A = np.exp(-0.5 * ((particles - X.T) / 0.3) ** 2)
    A = A / A.sum(axis=1, keepdims=True)
    Lambda = np.diag(gamma @ A)
    G, k = Gaussian(0.7)(Y), Gaussian(0.7)(Y, y)[:, 0]
    # V z = V (VᵀΛV + δI)⁻¹ ψ = (G Λ + δI)⁻¹ k
    likelihood = np.linalg.inv(G @ Lambda + 1e-2 * np.eye(40)) @ k
    expected = gamma * np.maximum(A @ likelihood, 0.0)
    posterior = rule.correct(Sample(particles, gamma), y)
    np.testing.assert_allclose(posterior.weights(), expected / expected.sum(), atol=1e-5)


def test_a_particle_far_from_all_examples_uses_the_nearest_one():
    X = np.array([[0.0], [1.0], [2.0]])
    observations = KernelFeatures.fit(Gaussian(0.5).on_examples(X), tolerance=1e-12)
    rule = ParticleRule(Gaussian(0.01).on_examples(X), observations, delta=1e-2, resampler=KeepAll())
    posterior = rule.correct(Sample(np.array([[0.0], [500.0]]), np.array([0.5, 0.5])), np.array([[2.0]]))
    assert posterior.weights()[1] > 0.9


def test_beliefs_live_on_particles_with_positive_weights():
    model = paper_model("2a")
    train, test = model.simulate(200, random_state=0), model.simulate(30, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(
        model.transition, initial=model.initial, support="particles", n_particles=300, random_state=0
    ).fit(train.states, train.observations)
    run = flt.filter([*test.observations, None])
    assert (run.negative_mass == 0).all()
    assert len(run[5].states) == 300
    assert run[5].weights.min() >= 0
    again = flt.start()
    for y in test.observations[:4]:
        again = flt.step(again, y)
    np.testing.assert_array_equal(again.mean(), run.mean[3])
    assert flt.delta_ == pytest.approx(1e-2)
    assert flt.engine_ == "lowrank"


def test_it_follows_a_state_beyond_the_examples():
    """Examples end at 2; the state walks on to 6. On examples the estimate stops there, on particles it goes on."""
    rng = np.random.default_rng(0)
    states = rng.uniform(-2, 2, size=(300, 1))
    observations = states + 0.3 * rng.normal(size=states.shape)
    truth = np.linspace(0, 6, 25)

    def transition(states, control, rng):
        return states + 0.25 + 0.1 * rng.normal(size=states.shape)

    ends = {}
    for support in ("examples", "particles"):
        flt = kmcf.KernelMonteCarloFilter(
            transition,
            initial=lambda m, r: 0.2 * r.normal(size=(m, 1)),
            support=support,
            n_particles=300,
            random_state=0,
        ).fit(states, observations)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kmcf.RejectedStepWarning)
            ends[support] = flt.filter(np.minimum(truth, 2.2)[:, None]).mean[-1, 0]
    assert ends["examples"] < 3.5
    assert ends["particles"] > 4.0


def test_other_engines_are_refused():
    with pytest.raises(ValueError, match="support='particles' is computed by engine='lowrank'"):
        kmcf.KernelMonteCarloFilter(lambda s, u, r: s, support="particles", engine="compressed").fit(
            np.zeros((5, 1)), np.zeros((5, 1))
        )


@pytest.mark.parametrize("background", [0.0, 0.3])
def test_an_infinite_delta_takes_the_similarities_themselves(background):
    """The limit of large finite ones, written out."""
    rng = np.random.default_rng(0)
    X, particles = rng.normal(size=(40, 1)), 2.0 * rng.normal(size=(25, 1))
    Y = X + 0.3 * rng.normal(size=X.shape)
    gamma, y = rng.dirichlet(np.ones(25)), np.array([[0.4]])
    on_states, on_observations = Gaussian(0.3).on_examples(X), Gaussian(0.7).on_examples(Y)
    K = np.exp(-0.5 * ((particles - X.T) / 0.3) ** 2)
    likelihood = K @ np.exp(-0.5 * ((Y - 0.4) / 0.7) ** 2)[:, 0] / K.sum(axis=1)
    expected = gamma * (background + K.max(axis=1) * likelihood if background else likelihood)
    rule = ParticleRule(on_states, on_observations, delta=np.inf, resampler=KeepAll(), background=background)
    np.testing.assert_allclose(rule.correct(Sample(particles, gamma), y).unnormalised, expected, rtol=1e-12)
    features = KernelFeatures.fit(on_observations, tolerance=1e-12)
    nearly = ParticleRule(on_states, features, delta=1e6, resampler=KeepAll(), background=background).correct(
        Sample(particles, gamma), y
    )
    np.testing.assert_allclose(nearly.weights(), expected / expected.sum(), rtol=1e-4)


def corridor(background):
    """Follow a walk through a corridor with an unrecorded stretch, from 10 to 14, reached at step 20."""
    places = np.concatenate([np.arange(0.0, 10.0, 0.2), np.arange(14.0, 20.0, 0.2)])[:, None]
    looks = np.concatenate([np.sin(places), np.cos(places)], axis=1)
    flt = kmcf.ParticleLikelihoodFilter(
        lambda states, control, rng: states + 0.2 + 0.2 * rng.normal(size=states.shape),
        initial=lambda size, rng: 6.0 + 0.3 * rng.normal(size=(size, 1)),
        state_kernel=Gaussian(0.3),
        observation_kernel=Gaussian(0.3),
        delta=np.inf,
        background=background,
        n_particles=500,
        random_state=0,
    ).fit(places, looks)
    truth = 6.0 + 0.2 * np.arange(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kmcf.RejectedStepWarning)
        run = flt.filter(np.stack([np.sin(truth), np.cos(truth)], axis=1))
    return np.abs(run.mean[:, 0] - truth), run


def test_a_background_carries_the_belief_past_a_stretch_without_examples():
    """Without one, particles in the gap borrow the likelihood of its edges, which look different, and are misled."""
    misled, _ = corridor(0.0)
    errors, run = corridor(0.3)
    assert run.state_coverage[25:35].max() < 0.3
    assert errors[20:42].mean() < 0.5 * misled[20:42].mean()
    assert errors[-10:].max() < 0.1
    assert not run.rejected.any()


def test_a_background_bounds_what_one_observation_can_do():
    X = np.linspace(-1.0, 1.0, 21)[:, None]
    rule = ParticleRule(
        Gaussian(0.1).on_examples(X), Gaussian(0.1).on_examples(X), delta=np.inf, resampler=KeepAll(), background=0.25
    )
    particles = np.array([[-1.0], [1.0], [50.0]])  # as observed, looks different, not recorded
    weights = rule.correct(Sample(particles, np.full(3, 1 / 3)), np.array([[-1.0]])).weights()
    assert weights[0] / weights[1] <= 1 + 1 / 0.25
    np.testing.assert_allclose(weights[1], weights[2], rtol=1e-6)
    unlike = rule.correct(Sample(particles, np.array([0.5, 0.3, 0.2])), np.array([[30.0]])).weights()
    np.testing.assert_allclose(unlike, [0.5, 0.3, 0.2])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"background": -0.1}, "background = -0.1"),
        ({"resampling": "herding"}, "resampling = 'herding'; it must be one of 'systematic', 'none'"),
        ({"delta": 0.0}, "delta = 0.0"),
        ({"reject": "no"}, "reject = 'no'; it must be True or False or None"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        kmcf.ParticleLikelihoodFilter(lambda s, u, r: s, **settings).fit(np.zeros((5, 1)), np.zeros((5, 1)))


def test_an_infinite_delta_is_for_particles_only():
    with pytest.raises(ValueError, match="delta = inf"):
        kmcf.KernelMonteCarloFilter(lambda s, u, r: s, delta=np.inf).fit(np.zeros((5, 1)), np.zeros((5, 1)))


def test_the_short_way_is_the_class_of_its_own():
    model = paper_model("2b")
    train, test = model.simulate(80, random_state=0), model.simulate(15, random_state=1)
    shared = {"initial": model.initial, "n_particles": 60, "random_state": 3}
    short = kmcf.KernelMonteCarloFilter(model.transition, support="particles", **shared)
    own = kmcf.ParticleLikelihoodFilter(model.transition, **shared)
    runs = [flt.fit(train.states, train.observations).filter(test.observations, test.controls) for flt in (short, own)]
    np.testing.assert_array_equal(runs[0].mean, runs[1].mean)
    np.testing.assert_array_equal(runs[0].covariance, runs[1].covariance)
