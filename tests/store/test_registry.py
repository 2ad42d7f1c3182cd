"""Which classes a file may name: ours, and those that a user registers."""

import pytest
from store_cases import (
    OBSERVATIONS,
    STATES,
    TEST,
    assert_same_run,
    make,
    move,
)

import kmcf
from kmcf.kernels import Gaussian


class Wide(Gaussian):
    """A kernel of the user's own."""


def test_classes_of_ones_own_are_registered_or_passed(tmp_path, monkeypatch):
    path = tmp_path / "model.kmcf"
    flt = make(observation_kernel=Wide()).fit(STATES, OBSERVATIONS)
    flt.save(path)
    twin = kmcf.load(path, transition=move, observation_kernel=flt.observation_kernel_)
    assert_same_run(flt.filter(TEST), twin.filter(TEST))
    monkeypatch.setattr("kmcf.store.registry._registered", {})
    kmcf.store.register(Wide)
    flt.save(path)
    assert_same_run(flt.filter(TEST), kmcf.load(path, transition=move).filter(TEST))
    monkeypatch.setattr("kmcf.store.registry._registered", {})
    with pytest.raises(kmcf.store.FileError, match="class 'Wide', which this version of kmcf does not know"):
        kmcf.load(path, transition=move)
    with pytest.raises(ValueError, match="a class named Gaussian can be restored already"):
        kmcf.store.register(type("Gaussian", (Gaussian,), {}))


def test_arguments_added_later_get_their_defaults(tmp_path, monkeypatch):
    class Earlier(Gaussian):
        pass

    class Later(Gaussian):
        def __init__(self, bandwidth=None, multiplier=1.0, mood="sunny"):
            super().__init__(bandwidth, multiplier)
            self.mood = mood

    Later.__name__ = "Earlier"
    monkeypatch.setattr("kmcf.store.registry._registered", {"Earlier": Earlier})
    kmcf.store.save(Earlier(2.0).fit(STATES), tmp_path / "kernel.kmcf")
    monkeypatch.setattr("kmcf.store.registry._registered", {"Earlier": Later})
    kernel = kmcf.load(tmp_path / "kernel.kmcf")
    assert (type(kernel), kernel.mood, kernel.bandwidth_) == (Later, "sunny", 2.0)
