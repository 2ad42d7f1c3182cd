"""Walks over examples: against the chain's own probabilities, and with a sensor that the chain describes badly."""

import numpy as np
import pytest

from kmcf.adaptation.chain_likelihood import Likelihood
from kmcf.adaptation.change_search import ChangeSearch, search_changes
from kmcf.adaptation.example_chain import Changes, ExampleChain
from kmcf.adaptation.unchanged_walks import UnchangedWalks

NODES = np.linspace(-3.0, 3.0, 120)
COUNT = len(NODES)


def chain_of(variance):
    """A walk along a line, whose sensor the chain believes to have this variance."""
    apart = np.subtract.outer(0.8 * NODES, NODES)
    moves = np.zeros((COUNT + 1, COUNT + 1))
    moves[:-1, :-1] = np.exp(-0.5 * (apart / 0.7) ** 2)
    moves /= np.maximum(moves.sum(axis=1, keepdims=True), 1e-300)
    moves[:-1, :-1], moves[:-1, -1], moves[-1] = 0.98 * moves[:-1, :-1], 0.02, 1.0 / (COUNT + 1)
    start = np.append(np.full(COUNT, 0.98 / COUNT), 0.02)
    return ExampleChain(NODES[:, None], np.full((COUNT, 1), variance), start, [moves])


def test_walks_move_as_the_chain_does_and_never_leave_the_examples():
    chain = chain_of(1.0)
    walks = chain.walks(0, 400, 50, np.random.default_rng(0))
    assert walks.shape == (50, 400)
    assert walks.max() < COUNT
    here, there = NODES[walks[:, :-1]].ravel(), NODES[walks[:, 1:]].ravel()
    moves = np.asarray(chain.moves[0])[:-1, :-1]
    for node in (40, 60, 80):
        from_here = there[here == NODES[node]]
        expected = moves[node] @ NODES / moves[node].sum()
        assert from_here.mean() == pytest.approx(expected, abs=5 * from_here.std() / np.sqrt(len(from_here)))


def test_copies_that_see_different_things_are_as_probable_as_each_by_itself():
    chain, rng = chain_of(1.0), np.random.default_rng(1)
    seen = rng.normal(size=(3, 30, 1))
    seen[1, 4] = np.nan
    changes = Changes(np.array([[1.0], [2.0], [0.7]]), np.array([[0.0], [1.0], [-0.5]]))
    together = Likelihood(chain, [seen], [np.ones((3, 30))])
    totals = together.total(together.emissions(changes))
    states, _ = together.states(together.emissions(changes))
    better = together.improved(changes, states, [0], scaled=True)
    for copy in range(3):
        alone = Likelihood(chain, [seen[copy]], [np.ones((1, 30))])
        own = Changes(changes.scale[[copy]], changes.shift[[copy]])
        assert totals[copy] == pytest.approx(alone.total(alone.emissions(own))[0])
        state, _ = alone.states(alone.emissions(own))
        one = alone.improved(own, state, [0], scaled=True)
        np.testing.assert_allclose([one.scale[0], one.shift[0]], [better.scale[copy], better.shift[copy]])


@pytest.mark.parametrize(("factor", "expected"), [(1.0, True), (3.0, False)])
def test_what_an_unchanged_sensor_gains_by_a_wrong_belief_about_it_is_no_evidence(factor, expected):
    rng = np.random.default_rng(2)
    chain = chain_of(0.16)  # the sensor's variance is 1
    examples = NODES[:, None] + rng.normal(size=(COUNT, 1))
    path = chain.walks(0, 80, 1, rng)[0]
    seen = factor * (NODES[path, None] + rng.normal(size=(80, 1)))
    likelihood = Likelihood(chain, [seen], [np.ones((1, 80))])
    found = search_changes(ChangeSearch(likelihood, examples))["gain"]
    before, after = (likelihood.total(likelihood.emissions(one))[0] for one in (likelihood.none, found))
    assert after - before > 5.0  # beyond any chance, if the chain were right
    assert UnchangedWalks(likelihood, examples, seed=0).gain_as_much("gain", after - before) is expected
