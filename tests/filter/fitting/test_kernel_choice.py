"""Which observation kernel a filter takes where none was given."""

import numpy as np
import pytest

import kmcf
from kmcf.datasets import paper_model
from kmcf.filter.fitting.kernel_choice import choose_observation_kernel
from kmcf.kernels import AsinhScaled, Learned


def test_a_single_number_gets_the_plain_kernel_without_a_trial():
    train = paper_model("2a").simulate(100, random_state=0)
    choice = choose_observation_kernel(train.states, train.observations)
    assert choice.name == "plain"
    assert choice.scores == {}
    assert isinstance(choice.kernel, AsinhScaled)


@pytest.mark.parametrize("seed", range(3))
def test_many_noisy_numbers_get_the_learnt_kernel(seed):
    train = paper_model("3a").simulate(200, random_state=seed)
    choice = choose_observation_kernel(train.states, train.observations)
    assert choice.name == "learnt"
    assert choice.scores["learnt"] < choice.scores["plain"]


def test_the_lower_score_is_chosen_and_the_filter_says_so(monkeypatch):
    train = paper_model("3a").simulate(80, random_state=0)
    for scores, expected in (((1.0, 1.0, 0.0, 0.0), Learned), ((0.0, 0.0, 1.0, 1.0), AsinhScaled)):
        values = iter(scores)
        monkeypatch.setattr("kmcf.filter.fitting.kernel_choice._score", lambda *a, values=values, **k: next(values))
        flt = kmcf.KernelMonteCarloFilter(lambda s, u, r: s, augment=False, random_state=0)
        flt.fit(train.states, train.observations)
        assert isinstance(flt.observation_kernel_, expected)
        assert flt.kernel_choice_.name == ("learnt" if expected is Learned else "plain")
        assert flt.delta_ == pytest.approx(1e-4 if expected is Learned else 9e-6)


def test_few_examples_and_given_kernels_are_not_tried():
    train = paper_model("3a").simulate(30, random_state=0)
    assert choose_observation_kernel(train.states, train.observations).name == "plain"
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, r: s, observation_kernel=kmcf.kernels.Gaussian(), random_state=0)
    assert flt.fit(train.states, train.observations).kernel_choice_ is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")
def test_the_default_beats_the_plain_kernel_on_model_3():
    model = paper_model("3b")
    ratios = []
    for seed in range(2):
        train, test = model.simulate(200, random_state=(seed, 0)), model.simulate(200, random_state=(seed, 1))
        errors = []
        for kernel in (None, AsinhScaled(kmcf.kernels.Gaussian(multiplier=0.7))):
            flt = kmcf.KernelMonteCarloFilter(
                model.transition, initial=model.initial, observation_kernel=kernel, random_state=seed
            ).fit(train.states, train.observations)
            run = flt.filter(test.observations, test.controls)
            errors.append(np.sqrt(np.mean((run.mean - test.states) ** 2)))
        ratios.append(errors[0] / errors[1])
    assert np.mean(ratios) < 0.7
