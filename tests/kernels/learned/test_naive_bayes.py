"""The naive-Bayes predictor, against refitting without each point."""

import numpy as np
import pytest

from kmcf.kernels.learned import naive_bayes
from kmcf.kernels.learned.naive_bayes import NaiveBayes
from kmcf.kernels.learned.places import representative


@pytest.mark.parametrize("shared", [False, True])
def test_naive_bayes_leave_one_out_equals_refitting_without_each_point(problem, monkeypatch, shared):
    monkeypatch.setattr(naive_bayes, "STATE_WIDTHS", (0.4,))
    monkeypatch.setattr(naive_bayes, "COLUMN_WIDTHS", (0.3,))
    monkeypatch.setattr(naive_bayes, "TEMPERS", (0.7,))
    z, targets, weights, states = problem
    fitted = NaiveBayes(shared=shared).fit(z, targets, weights, states)
    # Brute force: densities from all other examples, on the same grid of z.
    scaled, bins = z / fitted._scale, fitted._bins(z)
    grid = np.linspace(*fitted._edges, naive_bayes.BINS)
    rows = (states - states.mean(axis=0)) / states.std(axis=0)
    places = representative(rows)
    del scaled
    for i in (3, 40):
        others = np.delete(np.arange(len(z)), i)
        evidence = np.zeros(len(places))
        for j in range(z.shape[1]):
            columns = range(z.shape[1]) if shared else [j]
            kernel = np.mean(
                [np.exp(-0.5 * ((grid[bins[i, j]] - grid[bins[others, c]]) / 0.3) ** 2) for c in columns], axis=0
            )
            marginal = kernel.mean()
            for g, place in enumerate(places):
                closeness = np.exp(-0.5 * ((rows[place, 0] - rows[others, 0]) / 0.4) ** 2)
                density = (closeness @ kernel + 1e-3 * marginal) / (closeness.sum() + 1e-3)
                evidence[g] += np.log(density / marginal)
        chances = np.exp(0.7 * evidence - np.max(0.7 * evidence))
        expected = chances / chances.sum() @ targets[places]
        np.testing.assert_allclose(fitted.out_of_sample[i], expected, atol=1e-6)
    assert fitted.predict(z[:5]).shape == (5, targets.shape[1])


def test_large_tables_are_added_up_column_by_column(problem, monkeypatch):
    z, targets, weights, states = problem
    fitted = NaiveBayes(shared=False).fit(z, targets, weights, states)
    at_once = fitted.predict(z)
    monkeypatch.setattr(naive_bayes, "GATHERED", 0)
    np.testing.assert_allclose(fitted.predict(z), at_once, rtol=1e-10, atol=1e-12)
