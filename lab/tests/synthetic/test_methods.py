"""The methods of Section 6.2 and their settings."""

import numpy as np

from kmcf_lab.synthetic.data import simulate_data
from kmcf_lab.synthetic.methods import METHODS


def test_methods_have_the_papers_settings():
    data = simulate_data("1b", 30, 0, 10, 0)
    made = {name: method.make(data) for name, method in METHODS.items()}
    for name in ("KMCF", "KMCF-low10", "KMCF-low20", "KMCF-sub50", "KMCF-sub100"):
        assert made[name].n_resample == 50
        assert type(made[name].observation_kernel).__name__ == "Gaussian"
    assert [made[f"KMCF-low{rank}"].rank for rank in (10, 20)] == [10, 20]
    assert [made[f"KMCF-sub{count}"].n_examples for count in (50, 100)] == [50, 100]
    assert made["kNN-PF"].n_particles == made["GP-PF"].n_particles == made["oracle"].n_particles == 5000
    assert made["importance"].rule == "importance"
    kbr = made["KBR"].fit(data.train.states, data.train.observations)
    predicted = kbr.forecast(kbr.start(), 2, [0.0, 0.0])[1]
    np.testing.assert_array_equal(predicted.states, data.moves.states[1:])
    assert len(predicted.states) == 1000


def test_tuning_keeps_what_a_method_is():
    data = simulate_data("1a", 40, 0, 10, 0)
    flt, result = METHODS["KMCF-low10"].fitted(data, 3)
    assert flt.rank == 10
    assert "rank" not in result.best_params
    assert result.trials[0].proposal.settings["delta"] == 9e-6
    flt, result = METHODS["kNN-PF"].fitted(data, 3)
    assert flt.n_particles == 5000
    assert flt.n_neighbors == result.best_params["n_neighbors"]
    assert METHODS["defaults"].fitted(data, 0)[1] is None
