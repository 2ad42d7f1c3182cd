"""The filter on both supports: the examples, and the particles where the examples say too little."""

import numpy as np
import pytest

import kmcf
from kmcf.bayes_rule.both import LEAST_ESS
from kmcf.datasets import paper_model


@pytest.fixture(scope="module")
def case():
    model = paper_model("3a")
    train, test = model.simulate(150, random_state=0), model.simulate(60, random_state=1)

    def make(support, **settings):
        flt = kmcf.KernelMonteCarloFilter(
            model.transition, model.initial, support=support, random_state=0, augment=False, **settings
        )
        return flt.fit(train.states, train.observations)

    return model, train, test, make


@pytest.mark.parametrize("engine", ["auto", "exact", "lowrank"])
def test_every_step_is_one_of_the_two_corrections(case, engine):
    _, _, test, make = case
    flt = make("both", engine=engine)
    run = flt.filter(test.observations)
    on_examples, on_particles = flt.rule_.examples, flt.rule_.particles
    belief, kinds = flt.start(), set()
    for t, y in enumerate(test.observations):
        prior = flt.backend_.predicted(belief)
        first = on_examples.correct(prior, y[None])
        enough = 1.0 / np.sum(first.weights() ** 2) >= LEAST_ESS
        expected = first if enough else on_particles.correct(prior, y[None])
        belief = flt.step(belief, y)
        np.testing.assert_array_equal(belief.weights, expected.weights())
        np.testing.assert_array_equal(run.mean[t], belief.mean())
        kinds.add(bool(enough))
    assert kinds == {True, False}


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")
def test_it_follows_a_state_beyond_the_examples_and_is_the_filter_on_examples_among_them():
    rng = np.random.default_rng(0)
    states = rng.uniform(-2, 2, size=(300, 1))
    observations = states + 0.3 * rng.normal(size=states.shape)

    def transition(states, control, rng):
        return states + 0.25 * control + 0.1 * rng.normal(size=states.shape)

    def estimates(truth, control, support):
        flt = kmcf.KernelMonteCarloFilter(
            transition, lambda size, rng: np.zeros((size, 1)), support=support, random_state=0, augment=False
        )
        seen = np.minimum(truth, 2.2)  # a sensor that saturates
        return flt.fit(states, observations).filter(seen, np.full(len(truth), control)).mean[:, 0]

    away, among = np.linspace(0, 6, 25), np.zeros(25)
    assert estimates(away, 1.0, "both")[-1] > 4.0
    assert estimates(away, 1.0, "examples")[-1] < 3.5
    np.testing.assert_array_equal(estimates(among, 0.0, "both"), estimates(among, 0.0, "examples"))


@pytest.mark.slow
def test_saving_tuning_and_more_examples(case, tmp_path):
    model, train, test, make = case
    flt = make("both")
    expected = flt.filter(test.observations).mean
    flt.save(tmp_path / "both.kmcf")
    loaded = kmcf.load(tmp_path / "both.kmcf", transition=model.transition, initial=model.initial)
    np.testing.assert_array_equal(loaded.filter(test.observations).mean, expected)
    other = flt.refitted(train.states, train.observations, delta=1e-3).filter(test.observations).mean
    np.testing.assert_allclose(other, make("both", delta=1e-3).filter(test.observations).mean, atol=1e-9)
    assert not np.array_equal(other, expected)
    more = make("both").partial_fit(train.states[:10], train.observations[:10])
    assert more.rule_.size == 160


def test_what_it_cannot_do_is_said(case):
    _, _, _, make = case
    with pytest.raises(ValueError, match="engine='literal' is the paper's algorithm"):
        make("both", engine="literal")
    with pytest.raises(ValueError, match="one of 'examples', 'particles', 'both'"):
        make("neither")
