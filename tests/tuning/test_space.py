"""What may be tuned: declared by the filter, changed by the user."""

import numpy as np
import pytest

import kmcf
from kmcf.kernels import Gaussian, Laplace
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
