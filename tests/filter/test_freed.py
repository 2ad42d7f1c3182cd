"""Fitted filters are freed at once when nobody uses them: many are made in a loop, each with matrices of its own."""

import gc
import weakref

import numpy as np
import pytest

import kmcf

MODEL = kmcf.datasets.paper_model("1a")
TRAIN, TEST = MODEL.simulate(60, random_state=0), MODEL.simulate(6, random_state=1)
SETTINGS = [{"engine": engine} for engine in ("literal", "exact", "lowrank", "compressed", "local")]
SETTINGS += [{"relocate": True}, {"support": "both"}, {"resample_threshold": "bound"}]


@pytest.fixture
def _without_collector():
    """Only what nothing refers to is freed."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def used(flt):
    """Fit, filter, smooth, ask for alarms."""
    flt.fit(TRAIN.states, TRAIN.observations)
    run = flt.filter(TEST.observations)
    assert run.alarm.shape == (6,)
    assert np.isfinite(flt.smooth(TEST.observations).mean).all()
    return [weakref.ref(part) for part in (flt, flt.learnt_, flt.backend_, flt.backend_.watch)]


@pytest.mark.usefixtures("_without_collector")
@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: "-".join(map(str, settings.values())))
def test_nothing_of_a_filter_stays(settings):
    parts = used(kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=0, **settings))
    assert [part() for part in parts] == [None] * 4


@pytest.mark.usefixtures("_without_collector")
def test_nothing_of_a_filter_on_particles_stays():
    parts = used(kmcf.ParticleLikelihoodFilter(MODEL.transition, initial=MODEL.initial, random_state=0))
    assert [part() for part in parts] == [None] * 4
