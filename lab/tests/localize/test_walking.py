"""Walks whose parameters are known, and the problem made of them."""

import numpy as np
import pytest
from scipy.stats import norm

from kmcf.baselines import KNNRegression
from kmcf.datasets import Recording
from kmcf_lab.localize.methods import fitted
from kmcf_lab.localize.motion import inflated
from kmcf_lab.localize.problem import Data
from kmcf_lab.localize.walking import SteadyWalk
from kmcf_lab.localize.wifi import train_and_validate

TRUE = SteadyWalk(memory=20.0, agility=np.array([0.05, 0.02]), roughness=0.0)


def walked(steps=4000, seed=0):
    rng = np.random.default_rng(seed)
    elapsed = rng.uniform(3.0, 7.0, size=(steps, 1))
    states = [np.array([[0.0, 0.0, 0.2, 0.1]])]
    for h in elapsed[1:]:
        states.append(TRUE(states[-1], h, rng))
    return Recording("walk", np.cumsum(elapsed), np.concatenate(states), np.zeros((steps, 1)), controls=elapsed)


def test_parameters_are_found_again_from_irregular_steps():
    learnt = SteadyWalk().fit([walked()]).parameters()
    assert learnt["memory"] == pytest.approx(20.0, rel=0.15)
    np.testing.assert_allclose(learnt["agility"], [0.05, 0.02], rtol=0.05)


def test_the_density_is_that_of_the_draws():
    walk = SteadyWalk(memory=10.0, agility=0.1, roughness=0.2)
    before, after = np.array([[1.0, 0.3]]), np.array([[2.1, 0.25]])
    h = 4.0
    expected = norm.logpdf(0.25, np.exp(-0.4) * 0.3, 0.1 * 2) + norm.logpdf(2.1, 1.0 + h * 0.25, 0.2 * 2)
    np.testing.assert_allclose(walk.log_density(after, before, [h]), [expected])
    drawn = walk(np.repeat(before, 20_000, axis=0), [h], np.random.default_rng(0))
    assert drawn[:, 1].std() == pytest.approx(0.2, rel=0.05)
    assert drawn[:, 1].mean() == pytest.approx(np.exp(-0.4) * 0.3, abs=0.01)


def test_validation_walks_are_never_among_the_examples():
    walks = [
        Recording(f"{part}_{k}", np.arange(4.0), np.full((4, 6), float(k)), np.full((4, 2), 10.0 * k + len(part)))
        for part in ("train", "val")
        for k in range(5)
    ]
    data = Data(walks)
    folds = train_and_validate(data, every=2, most_folds=3)
    assert folds[0].states is train_and_validate(data, every=2)[4].states  # so that one fit serves all
    assert folds[0].states is not train_and_validate(data, every=1)[0].states
    assert [fold.name for fold in folds] == ["val_0", "val_2", "val_4"]
    for fold in folds:
        assert fold.size == 10
        assert all(one.name.startswith("train") for one in fold.training)
        assert not {row.tobytes() for row in fold.observations} & {row.tobytes() for row in fold.test.observations}


def test_one_fit_serves_all_folds_with_the_same_examples_and_settings(monkeypatch):
    counted = []
    plain = KNNRegression.fit
    monkeypatch.setattr(KNNRegression, "fit", lambda self, *given: counted.append(0) or plain(self, *given))
    walks = [
        Recording(f"{part}_{k}", np.arange(9.0), rng.normal(size=(9, 6)), rng.normal(size=(9, 2)))
        for part in ("train", "val")
        for k, rng in enumerate([np.random.default_rng(1), np.random.default_rng(2)])
    ]
    first, second = train_and_validate(Data(walks))
    made = [fitted(KNNRegression(n_neighbors=2), fold) for fold in (first, second)]
    assert made[0] is made[1]
    assert fitted(KNNRegression(n_neighbors=3), first) is not made[0]
    assert len(counted) == 2


def test_the_noise_of_walking_can_be_widened():
    usual, wider = TRUE.parameters(), inflated(TRUE, 2.0).parameters()
    np.testing.assert_allclose(wider["agility"], [0.1, 0.04])
    assert (wider["memory"], wider["roughness"]) == (usual["memory"], 2.0 * usual["roughness"])
