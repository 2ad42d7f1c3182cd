"""What may be tuned: declared by the filter, changed by the user."""

import numpy as np
import pytest

import kmcf
from kmcf.kernels import Columns, Gaussian, Kernel, Laplace
from kmcf.support.search_space import Category, Integer, LogNormal
from kmcf.tuning.space import make_space

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 1)), RNG.normal(size=(60, 3))


def flt(**settings):
    return kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, **settings)


def test_defaults_become_explicit_and_tunable():
    space = make_space(flt(), X, Y[:, 0], None)
    assert list(space.filters) == ["plain"]
    parameters = space.parameters["plain"]
    assert {name: p.center for name, p in parameters.items()} == {
        "state_kernel__multiplier": 0.5,
        "observation_kernel__kernel__multiplier": 0.7,
        "epsilon": 1e-3,
        "delta": 9e-6,
    }
    assert space.default().settings["epsilon"] == 1e-3


def test_the_explicit_filter_is_the_untuned_one():
    untuned = flt(random_state=0).fit(X, Y)
    for name, one in untuned.variants(X, Y).filters.items():
        if name == untuned.kernel_choice_.name:
            explicit = one.fit(X, Y)
            np.testing.assert_allclose(explicit.filter(Y[:10]).mean, untuned.filter(Y[:10]).mean, rtol=1e-9)


def test_plain_and_learnt_are_two_variants_with_their_own_centres():
    space = make_space(flt(), X, Y, None)
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


def test_the_user_overrides_extends_and_holds():
    user = {"epsilon": LogNormal(1e-2), "n_resample": Integer(50), "delta": None}
    parameters = make_space(flt(), X, Y[:, 0], user).parameters["plain"]
    assert parameters["epsilon"].center == 1e-2
    assert parameters["n_resample"] == Integer(50)
    assert "delta" not in parameters


def test_whole_kernels_can_be_exchanged():
    options = (Gaussian(), Laplace())
    space = make_space(flt(), X, Y, {"observation_kernel": Category(options)})
    assert list(space.parameters) == ["given"]
    assert not any(name.startswith("observation_kernel__") for name in space.parameters["given"])
    proposal = space.default()._replace(settings={**space.default().settings, "observation_kernel": options[1]})
    assert space.encoded(proposal)["settings"]["observation_kernel"] == 1
    assert space.decoded(space.encoded(proposal)) == proposal


def test_bad_spaces():
    with pytest.raises(ValueError, match=r"space names 'epsilom'.*nearest is 'epsilon'"):
        make_space(flt(), X, Y[:, 0], {"epsilom": LogNormal(1.0)})
    with pytest.raises(ValueError, match=r"space names 'zzz'.*it has .*epsilon, .*transition\."):
        make_space(flt(), X, Y[:, 0], {"zzz": LogNormal(1.0)})  # unlike any
    with pytest.raises(TypeError, match=r"space\['epsilon'\] = 3"):
        make_space(flt(), X, Y[:, 0], {"epsilon": 3})
    with pytest.raises(TypeError, match="space must map"):
        make_space(flt(), X, Y[:, 0], [1])
    nothing = {"epsilon": None, "delta": None, "state_kernel__multiplier": None}
    with pytest.raises(ValueError, match="nothing to tune"):
        make_space(flt(), X, Y[:, 0], {**nothing, "observation_kernel__kernel__multiplier": None})


def test_a_background_is_tuned_where_there_is_one_and_an_infinite_delta_is_not():
    def searched(**settings):
        return set(kmcf.ParticleLikelihoodFilter(lambda s, u, r: s, **settings).search_space())

    assert searched() == {"delta"}
    assert searched(background=0.2) == {"delta", "background"}
    assert searched(background=0.2, delta=np.inf) == {"background"}
