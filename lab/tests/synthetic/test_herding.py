"""Herding as printed picks what the library picks."""

import numpy as np
import pytest

from kmcf.herding.herding import herd
from kmcf.kernels import Gaussian
from kmcf_lab.synthetic.data import simulate_data
from kmcf_lab.synthetic.herding import PrintedFilter, herd_as_printed
from kmcf_lab.synthetic.methods import paper_filter, paper_settings


@pytest.mark.parametrize("seed", range(5))
def test_the_picks_are_the_librarys(seed):
    rng = np.random.default_rng(seed)
    gram = Gaussian(0.7)(rng.normal(size=(40, 2)))
    weights = rng.normal(size=40)  # signed, as posteriors are
    weights /= weights.sum()
    expected = herd(gram @ weights, gram, 25, float(weights @ gram @ weights)).indices
    np.testing.assert_array_equal(herd_as_printed(weights, gram, 25), expected)


@pytest.mark.parametrize("settings", [{}, {"rank": 10}, {"n_examples": 20}])
def test_the_filter_as_printed_is_the_same_filter(settings):
    data = simulate_data("1b", 50, 0, 15, 0)
    settings = {**paper_settings(data), "engine": "literal", **settings}
    printed = PrintedFilter(data.model.transition, **settings)
    usual = paper_filter(data, **settings)
    means = [
        flt.fit(data.train.states, data.train.observations).filter(data.test.observations, data.test.controls).mean
        for flt in (printed, usual)
    ]
    np.testing.assert_allclose(means[0], means[1], rtol=1e-9)
