"""Every baseline that has something to tune can be tuned."""

import numpy as np
import pytest

import kmcf
from kmcf.tuning.examples import read_tuning_examples

baselines = pytest.importorskip("kmcf.baselines")
MODEL = kmcf.datasets.paper_model("1b")
DATA = MODEL.simulate(40, random_state=0)


@pytest.mark.parametrize("name", ["KNNParticleFilter", "GPParticleFilter", "KernelBayesFilter", "NearestNeighbor"])
def test_baselines(name):
    flt = getattr(baselines, name)(MODEL.transition, initial=MODEL.initial, random_state=0)
    space = None if flt.search_space() else {"n_particles": kmcf.tuning.Integer(100)}
    result = kmcf.tune(flt, DATA.states, DATA.observations, DATA.controls, n_trials=3, random_state=0, space=space)
    assert [trial.error for trial in result.trials] == [""] * 3
    assert np.isfinite(result.best_filter.filter(DATA.observations, DATA.controls).mean).all()


def test_learnt_transitions_stay_inside_sequences():
    flt = baselines.KernelBayesFilter()
    groups = [0] * 20 + [1] * 20
    examples = read_tuning_examples(flt, DATA.states, DATA.observations, DATA.controls, groups)
    kept = np.array([0, 1, 2, 5, 6, 18, 19, 20, 21])
    before, after, controls = examples.further(flt, kept)["transitions"]
    pairs = [(0, 1), (1, 2), (5, 6), (18, 19), (20, 21)]
    np.testing.assert_array_equal(before, DATA.states[[a for a, _ in pairs]])
    np.testing.assert_array_equal(after, DATA.states[[b for _, b in pairs]])
    np.testing.assert_array_equal(controls, DATA.controls[[b for _, b in pairs]])
