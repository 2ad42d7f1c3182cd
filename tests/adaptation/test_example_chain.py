"""The chain of examples: likelihood and smoothed states against the sum over all paths; EM against a known change."""

import itertools

import numpy as np
import pytest
from scipy.stats import t as student

from kmcf.adaptation.chain_likelihood import Likelihood
from kmcf.adaptation.change_search import ChangeSearch, search_changes
from kmcf.adaptation.example_chain import Changes, ExampleChain, broad_densities

RNG = np.random.default_rng(0)


def chain_of(means, variances, seed=1):
    count = len(means) + 1
    moves = np.random.default_rng(seed).dirichlet(np.ones(count), size=count)
    return ExampleChain(means, variances, np.full(count, 1.0 / count), [moves])


def test_likelihood_and_states_are_sums_over_all_paths():
    means, variances = np.array([[0.0, 1.0], [2.0, -1.0]]), np.array([[1.0, 0.5], [2.0, 1.0]])
    chain = chain_of(means, variances)
    seen = np.array([[0.5, 2.0], [1.0, np.nan], [3.0, -2.0], [0.0, 0.0]])
    scale, shift = np.array([1.5, 0.8]), np.array([0.3, -0.2])
    density = np.ones((4, 3))
    for t, row in enumerate(seen):
        for c in np.flatnonzero(np.isfinite(row)):
            spread = scale[c] * np.sqrt(variances[:, c] / 2.0)
            density[t, :2] *= student.pdf((row[c] - scale[c] * means[:, c] - shift[c]) / spread, 4) / spread
            density[t, 2] *= np.exp(broad_densities(seen[:, c])[t])
    total, visits = 0.0, np.zeros((4, 3))
    for path in itertools.product(range(3), repeat=4):
        weight = chain.start[path[0]] * np.prod([density[t, i] for t, i in enumerate(path)])
        weight *= np.prod([chain.moves[0][i, j] for i, j in itertools.pairwise(path)])
        total += weight
        visits[range(4), path] += weight
    likelihood = Likelihood(chain, [seen], [np.ones((1, 4))])
    emissions = likelihood.emissions(Changes(scale[None], shift[None]))
    states, found = likelihood.states(emissions)
    assert found[0] == pytest.approx(np.log(total), abs=1e-10)
    assert likelihood.total(emissions)[0] == pytest.approx(np.log(total), abs=1e-10)
    np.testing.assert_allclose(states[0][0], visits / total, atol=1e-10)


def simulated(change, length=300):
    """Walk over 12 nodes, and see three columns of which one has changed."""
    means = np.stack([np.linspace(-3, 3, 12), np.linspace(3, -3, 12) ** 2 / 3, np.sin(np.linspace(0, 5, 12))], axis=1)
    place, rows = 6, []
    for _ in range(length):
        place = int(np.clip(place + RNG.integers(-1, 2), 0, 11))
        rows.append(means[place] + 0.3 * RNG.normal(size=3))
    moves = np.full((13, 13), 1e-4) + 0.32 * (np.abs(np.subtract.outer(np.arange(13), np.arange(13))) < 2)
    moves[:, -1] = 0.01
    moves /= moves.sum(axis=1, keepdims=True)
    chain = ExampleChain(means, np.full((12, 3), 0.09), np.full(13, 1.0 / 13), [moves])
    return Likelihood(chain, [change(np.array(rows))], [np.ones((1, length))]), np.array(rows)


def test_em_raises_the_likelihood_at_every_step():
    likelihood, _ = simulated(lambda rows: 1.6 * rows + 1.0)
    changes, totals = likelihood.none, []
    for _ in range(6):
        states, total = likelihood.states(likelihood.emissions(changes))
        totals.append(total[0])
        changes = likelihood.improved(changes, states, range(3), scaled=True)
    assert (np.diff(totals) > -1e-9).all()
    assert totals[-1] > totals[0] + 100


@pytest.mark.slow
def test_the_search_finds_the_change_that_was_made():
    likelihood, rows = simulated(lambda rows: rows + np.array([0.0, -2.0, 0.0]))
    found = search_changes(ChangeSearch(likelihood, rows))
    np.testing.assert_allclose(found["shift of some columns"].shift[0], [0.0, -2.0, 0.0], atol=0.15)
    likelihood, rows = simulated(lambda rows: np.array([2.0, 0.5, 1.0]) * rows + np.array([1.0, 0.0, -1.0]))
    found = search_changes(ChangeSearch(likelihood, rows))
    np.testing.assert_allclose(found["shift and scale"].scale[0], [2.0, 0.5, 1.0], rtol=0.1)
    np.testing.assert_allclose(found["shift and scale"].shift[0], [1.0, 0.0, -1.0], atol=0.2)
