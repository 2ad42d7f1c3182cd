"""Parameters learnt from observations alone: the transitions that are made, and how results are summed up."""

import numpy as np

from kmcf.datasets import paper_model
from kmcf_lab.bench.transition_learning import LearningCell, by_particles, maker, summarise_learning


def test_the_true_numbers_make_the_papers_transitions():
    states = np.linspace(-2.5, 2.5, 50)[:, None]
    for name, numbers in (("1a", {"scale": 1.0, "drift": 0.9}), ("4a", {"scale": np.sqrt(2.0)})):
        made, true = (
            transition(states, None, np.random.default_rng(0))
            for transition in (maker(name)(**numbers), paper_model(name).transition)
        )
        np.testing.assert_allclose(made, true)


def test_rows_say_how_often_intervals_hold_the_truth():
    cells = [LearningCell("walk", "kmcf", "scale", k, 1.0, 1.0 + k, 0.5, 1.5 + 0 * k) for k in range(2)]
    cells.append(LearningCell("walk", "other", "scale", 0, 1.0, 2.0, np.nan, np.nan))
    first, second = summarise_learning([vars(cell) for cell in cells])
    assert (first.mean, first.inside, first.data_sets) == (1.5, 1.0, 2)
    assert np.isnan(second.inside)


def test_the_rival_learns_from_the_same_observations():
    found = by_particles("1a", paper_model("1a").simulate(20, random_state=0).observations, 0)
    assert {cell.parameter for cell in found} <= {"scale", "drift"}
