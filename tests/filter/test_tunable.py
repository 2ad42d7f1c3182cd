"""What a filter lets a tuner change, and from where it starts."""

import numpy as np
import pytest

import kmcf
from kmcf.kernels import Columns, Gaussian, Kernel, Laplace
from kmcf.support.search_space import Category, Integer
from kmcf.tuning.space import make_space

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 1)), RNG.normal(size=(60, 3))


def flt(**settings):
    return kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, **settings)


@pytest.mark.slow
def test_the_explicit_filter_is_the_untuned_one():
    untuned = flt(random_state=0).fit(X, Y)
    for name, one in untuned.variants(X, Y).filters.items():
        if name == untuned.kernel_choice_.name:
            explicit = one.fit(X, Y)
            np.testing.assert_allclose(explicit.filter(Y[:10]).mean, untuned.filter(Y[:10]).mean, rtol=1e-9)


def test_plain_and_learnt_are_two_variants_with_their_own_centres():
    space = make_space(flt(augment=False), X, Y, None)
    assert set(space.filters) == {"plain", "learnt"}
    centres = {
        v: (p["observation_kernel__kernel__multiplier"].center, p["delta"].center) for v, p in space.parameters.items()
    }
    assert centres == {"plain": (0.7, 9e-6), "learnt": (1.0, 1e-4)}
    only = make_space(flt(), X, Y, {"observation_kernel": Category(("learnt",))})
    assert list(only.filters) == ["learnt"]
    assert space.names()[0] == "observation_kernel"


def test_user_kernels_of_any_class():
    class Own(Kernel):
        def __init__(self, multiplier=3.0, power=2):
            self.multiplier = multiplier
            self.power = power

        def evaluate(self, a, b):
            return np.exp(-(((a[:, None] - b[None]) / self.multiplier) ** 2).sum(-1))

    space = make_space(flt(observation_kernel=Own(), state_kernel=Columns(Laplace(2.0), 0)), X, Y, None)
    assert {"observation_kernel__multiplier", "state_kernel__kernel__bandwidth"} < set(space.parameters["given"])
    assert not any("power" in name for name in space.parameters["given"])
    function = make_space(flt(observation_kernel=lambda a, b: a @ b.T, state_kernel=Gaussian([2.0])), X, Y, None)
    assert list(function.parameters["given"]) == ["epsilon", "delta"]


def test_regularisers_scale_with_the_kernels():
    space = make_space(flt(observation_kernel=100.0 * Gaussian(), state_kernel=4.0 * Gaussian()), X, Y, None)
    assert space.parameters["given"]["epsilon"].center == pytest.approx(4e-3)
    assert space.parameters["given"]["delta"].center == pytest.approx(1e-4 * 100.0**2)


def test_rank_and_particles():
    assert make_space(flt(rank=20), X, Y[:, 0], None).parameters["plain"]["rank"] == Integer(20)
    particles = make_space(flt(support="particles"), X, Y[:, 0], None).parameters["plain"]
    assert "epsilon" not in particles
    assert particles["delta"].center == pytest.approx(1e-2)
    assert particles["state_kernel__multiplier"].center == 0.15


def test_a_background_is_tuned_where_there_is_one_and_an_infinite_delta_is_not():
    def searched(**settings):
        return set(kmcf.ParticleLikelihoodFilter(lambda s, u, r: s, **settings).search_space())

    assert searched() == {"delta"}
    assert searched(background=0.2) == {"delta", "background"}
    assert searched(background=0.2, delta=np.inf) == {"background"}
