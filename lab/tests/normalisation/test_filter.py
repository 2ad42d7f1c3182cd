"""The filter without line 16 against Algorithm 1 and Algorithm 3 written out."""

import numpy as np
import pytest
from bayes_rules import algorithm_1
from kernels_by_hand import gaussian_matrix

import kmcf
from kmcf.kernels import Gaussian
from kmcf_lab.normalisation.filter import PrintedFilter, UnnormalisedFilter

MODEL = kmcf.datasets.paper_model("1a")
TRAIN, TEST = MODEL.simulate(40, random_state=0), MODEL.simulate(8, random_state=1)
SETTINGS = {
    "initial": MODEL.initial,
    "state_kernel": Gaussian(1.0),
    "observation_kernel": Gaussian(1.0),
    "epsilon": 1e-3,
    "delta": 1e-4,
    "n_resample": 20,
    "random_state": 0,
}


def run_of(kind, **settings):
    flt = kind(MODEL.transition, **{**SETTINGS, "engine": "literal", **settings})
    return flt.fit(TRAIN.states, TRAIN.observations), flt.filter(TEST.observations)


def test_the_first_weights_are_those_of_algorithm_1():
    flt, run = run_of(UnnormalisedFilter)
    particles = flt.start().states
    G_X, G_Y = (gaussian_matrix(a, a, 1.0) for a in (TRAIN.states, TRAIN.observations))
    m_pi = gaussian_matrix(TRAIN.states, particles, 1.0).mean(axis=1)
    k_y = gaussian_matrix(TRAIN.observations, TEST.observations[:1], 1.0)[:, 0]
    weights = algorithm_1(k_y, m_pi, G_X, G_Y, 1e-3, 1e-4)
    np.testing.assert_allclose(run[0].weights, weights, rtol=1e-6, atol=1e-9)
    assert run.mean[0, 0] == pytest.approx(weights @ TRAIN.states[:, 0], rel=1e-6)
    assert run.weight_sum[0] == pytest.approx(weights.sum(), rel=1e-6)


def test_with_line_16_it_is_the_papers_filter():
    _, printed = run_of(PrintedFilter)
    _, known = run_of(kmcf.KernelMonteCarloFilter)
    np.testing.assert_array_equal(printed.mean, known.mean)


def test_the_first_step_differs_by_the_sum_alone():
    (_, printed), (_, without) = run_of(PrintedFilter), run_of(UnnormalisedFilter)
    np.testing.assert_allclose(without[0].weights, printed[0].weights * printed.weight_sum[0], rtol=1e-12)
    assert abs(without.weight_sum[0] - 1.0) > 1e-6


def test_without_resampling_the_sum_enters_the_next_prior():
    _, run = run_of(UnnormalisedFilter, resampling="none")
    flt, _ = run_of(UnnormalisedFilter, resampling="none")
    prior = flt.backend_.predicted(run[2])
    assert prior.weights.sum() == pytest.approx(run.weight_sum[2], rel=1e-9)


@pytest.mark.parametrize("kind", [PrintedFilter, UnnormalisedFilter])
def test_the_prediction_stays_only_where_all_weights_are_zero(kind):
    flt = kind(MODEL.transition, **{**SETTINGS, "engine": "exact"}).fit(TRAIN.states, TRAIN.observations)
    belief = flt.start()
    far, very_far = flt.backend_.advance.rule.correct(belief, np.array([[9.0]])), np.array([[1e6]])
    assert far.usable
    assert not flt.backend_.advance.rule.correct(belief, very_far).usable


def test_weights_that_were_never_formed_are_refused():
    flt = UnnormalisedFilter(MODEL.transition, **{**SETTINGS, "engine": "compressed"})
    flt.fit(TRAIN.states, TRAIN.observations)
    with pytest.raises(TypeError, match="engine='exact'"):
        flt.filter(TEST.observations)
