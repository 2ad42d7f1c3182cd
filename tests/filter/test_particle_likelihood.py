"""The filter on particles: following a state beyond the examples, past gaps between them."""

import warnings

import numpy as np
import pytest

import kmcf
from kmcf.datasets import paper_model
from kmcf.kernels import Gaussian


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


def test_the_short_way_is_the_class_of_its_own():
    model = paper_model("2b")
    train, test = model.simulate(80, random_state=0), model.simulate(15, random_state=1)
    shared = {"initial": model.initial, "n_particles": 60, "random_state": 3}
    short = kmcf.KernelMonteCarloFilter(model.transition, support="particles", **shared)
    own = kmcf.ParticleLikelihoodFilter(model.transition, **shared)
    runs = [flt.fit(train.states, train.observations).filter(test.observations, test.controls) for flt in (short, own)]
    np.testing.assert_array_equal(runs[0].mean, runs[1].mean)
    np.testing.assert_array_equal(runs[0].covariance, runs[1].covariance)
