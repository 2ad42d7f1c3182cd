"""The local engine against Algorithm 1 with explicit inverses and all examples."""

import numpy as np
import pytest
from bayes_rules import algorithm_1, importance_rule
from scipy.spatial.distance import cdist

from kmcf.bayes_rule import Examples, Sample
from kmcf.bayes_rule.local import Accuracy, LocalRule
from kmcf.herding.resampling import KeepAll
from kmcf.kernels import Gaussian, Linear

EPSILON, DELTA = 1e-3, 1e-4
TRUTHS = {"kbr": algorithm_1, "importance": importance_rule}


def gaussian_matrix(a, b, width):
    return np.exp(-cdist(a, b, "sqeuclidean") / (2.0 * width**2))


class World:
    """Examples in a square, some far away, and particles around a place in the middle."""

    def __init__(self, n=300, far=0, seed=0, side=16.0):
        rng = np.random.default_rng(seed)
        self.states = rng.uniform(0, side, size=(n + far, 2))
        self.states[n:] += 500.0
        self.frequencies, self.phases = rng.normal(size=(2, 6)), rng.uniform(0, 6, size=6)
        self.observations = self.observe(self.states) + 0.1 * rng.normal(size=(n + far, 6))
        self.place = np.full((1, 2), side / 2)
        self.particles = self.place + 0.8 * rng.normal(size=(60, 2))
        self.weights = rng.dirichlet(np.ones(60))
        self.y = self.observe(self.place)

    def observe(self, states):
        return np.sin(0.4 * states @ self.frequencies + self.phases)

    def fit(self, tolerance=1e-8, most=None, epsilon=EPSILON, rule="kbr"):
        examples = Examples(
            self.states, Gaussian(1.0).on_examples(self.states), Gaussian(0.8).on_examples(self.observations)
        )
        accuracy = Accuracy.of(tolerance, 1e-6 if tolerance is None else tolerance, most)
        return LocalRule.fit(examples, epsilon=epsilon, delta=DELTA, rule=rule, resampler=KeepAll(), accuracy=accuracy)

    def correct(self, **settings):
        return self.fit(**settings).correct(Sample(self.particles, self.weights), self.y)

    def truth(self, rule="kbr"):
        G_X = gaussian_matrix(self.states, self.states, 1.0)
        G_Y = gaussian_matrix(self.observations, self.observations, 0.8)
        m_pi = gaussian_matrix(self.states, self.particles, 1.0) @ self.weights
        k_y = gaussian_matrix(self.observations, self.y, 0.8)[:, 0]
        return TRUTHS[rule](k_y, m_pi, G_X, G_Y, EPSILON, DELTA)

    def error(self, posterior, rule="kbr"):
        expected = self.truth(rule)
        found = np.zeros_like(expected)
        found[posterior.indices] = posterior.unnormalised
        return float(np.abs(found - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("rule", ["kbr", "importance"])
def test_weights_are_those_of_the_literal_formulas(rule):
    world = World()
    posterior = world.correct(rule=rule)
    assert world.error(posterior, rule) < 1e-4
    np.testing.assert_array_equal(posterior.support, world.states[posterior.indices])
    assert posterior.weights().sum() == pytest.approx(1.0)


def test_the_error_falls_with_the_tolerance_and_few_examples_do_nearly_as_well():
    world = World(n=600)
    found = [world.correct(tolerance=tolerance) for tolerance in (1e-1, 1e-3, 1e-6)]
    errors = [world.error(posterior) for posterior in found]
    assert errors[2] < errors[1] < errors[0] < 0.3
    assert errors[2] < 1e-3
    quick = world.correct(tolerance=None)
    expected = world.truth() / world.truth().sum()
    mean = expected @ world.states
    spread = np.sqrt(expected @ np.sum((world.states - mean) ** 2, axis=1))
    assert len(quick.indices) < 300
    assert np.linalg.norm(quick.weights() @ quick.support - mean) < 0.02 * spread


def test_examples_far_away_are_never_looked_at():
    near, with_far = World(), World(far=700)
    with_far.states[:300], with_far.observations[:300] = near.states, near.observations
    for name in ("particles", "weights", "y"):
        setattr(with_far, name, getattr(near, name))
    alone = near.correct(epsilon=EPSILON)
    beside = with_far.correct(epsilon=EPSILON * 300 / 1000)  # n ε is the same
    np.testing.assert_array_equal(beside.indices, alone.indices)
    np.testing.assert_allclose(beside.unnormalised, alone.unnormalised, rtol=1e-12)


def test_a_prior_over_the_whole_world_is_narrowed_down_by_the_observation():
    world = World(n=3000, side=120.0)
    world.particles = np.random.default_rng(1).uniform(0, 120, size=(200, 2))  # 8 widths apart
    world.weights = np.full(200, 1 / 200)
    posterior = world.correct(tolerance=None, most=100)
    assert len(posterior.indices) <= 100
    assert posterior.usable
    alike = gaussian_matrix(world.observations, world.y, 0.8)[:, 0]
    weighted = posterior.weights() @ alike[posterior.indices]
    assert weighted > 0.8 * np.sort(alike)[-100:].mean()


def test_where_no_example_is_near_there_is_nothing_to_use():
    world = World()
    world.particles = world.particles + 100.0
    posterior = world.correct()
    assert not posterior.usable
    assert posterior.weight_sum == posterior.observation_coverage == posterior.state_coverage == 0.0


def test_coverage_of_states_is_that_of_the_closest_example():
    world = World()
    prior = Sample(world.particles, world.weights)
    expected = gaussian_matrix(world.states, world.particles, 1.0).max(axis=0) @ world.weights
    rule = world.fit()
    assert rule.state_coverage(prior) == pytest.approx(expected)
    assert rule.correct(prior, world.y).state_coverage == pytest.approx(expected)


def test_herded_points_represent_the_posterior():
    world = World()
    posterior = world.correct()
    herded = posterior.herd(50)
    mean, picked = posterior.weights() @ posterior.support, posterior.support[herded.indices].mean(axis=0)
    np.testing.assert_allclose(picked, mean, atol=0.15)
    assert posterior.resampling_loss(herded.indices) == pytest.approx(herded.loss, abs=1e-6)


def test_a_state_kernel_that_reaches_everywhere_is_refused():
    world = World(n=20)
    examples = Examples(world.states, Linear().on_examples(world.states), Gaussian(1.0).on_examples(world.observations))
    with pytest.raises(ValueError, match=r"does not fall off with a distance\. Use Gaussian"):
        LocalRule.fit(
            examples,
            epsilon=EPSILON,
            delta=DELTA,
            rule="kbr",
            resampler=KeepAll(),
            accuracy=Accuracy.of(None, 1e-4, None),
        )


def test_other_regularisers_give_the_rule_fitted_with_them():
    world = World()
    prior = Sample(world.particles, world.weights)
    changed = world.fit(epsilon=0.3).regularised(EPSILON, DELTA).correct(prior, world.y)
    np.testing.assert_array_equal(changed.unnormalised, world.correct().unnormalised)


def test_no_example_near_covers_nothing():
    world = World()
    assert world.fit().state_coverage(Sample(world.particles + 100.0, world.weights)) == 0.0


def test_few_particles_over_a_whole_world_are_widened_to_their_spacing():
    """Thirty particles in a world of sixteen by sixteen lie farther apart than the kernel is wide."""
    world = World(n=600)
    rng = np.random.default_rng(5)
    world.particles, world.weights = rng.uniform(0, 16, size=(30, 2)), np.full(30, 1 / 30)
    posterior = world.correct(tolerance=1e-2, most=40)
    found = posterior.weights() @ posterior.support
    similar = gaussian_matrix(world.observations, world.y, 0.8)[:, 0]
    assert np.linalg.norm(found - world.states[np.argmax(similar)]) < 2.0
