"""How filters, runs and beliefs look in a terminal and in a notebook."""

from html.parser import HTMLParser

import numpy as np
import pytest

import kmcf

X = np.linspace(-1.0, 1.0, 40)


def move(states, control, rng):
    return states + 0.1 * rng.normal(size=states.shape)


class Table(HTMLParser):
    """Reads the rows of a table, and fails on tags that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.cells.append(data)

    def row(self, name):
        return self.cells[self.cells.index(name) + 1]


def fitted(**settings):
    return kmcf.KernelMonteCarloFilter(move, random_state=0, **settings).fit(X, X)


def test_a_filter_tells_what_was_set_and_what_was_learnt():
    table = Table(fitted(engine="exact")._repr_html_())
    assert table.row("transition") == "move"
    assert table.row("engine_") == "exact"
    assert table.row("examples") == "an array of shape (40, 1)"
    assert "n_resample" not in table.cells  # the default
    assert Table(kmcf.KernelMonteCarloFilter(move)._repr_html_()).cells[-1] == "not fitted"
    assert repr(fitted(augment=False)).endswith("fitted to 40 examples")
    assert repr(fitted(augment=True)).endswith("fitted to 40 examples and 116 pairs made up from them")
    assert "fitted" not in repr(kmcf.KernelMonteCarloFilter(move))


def test_runs_and_beliefs_tell_how_it_went():
    run = fitted().filter([0.1, None, 0.2])
    table = Table(run._repr_html_())
    assert (table.row("steps"), table.row("observations missing")) == ("3", "1")
    belief = Table(run[1]._repr_html_())
    assert belief.row("time") == "2"
    assert belief.row("negative mass") == "0"
    assert belief.cells[-1] == "no observation"
    assert float(belief.row("mean").strip("[]")) == np.round(run.mean[1, 0], 4)
    batch = fitted().filter(np.zeros((2, 3, 1)))
    assert Table(batch._repr_html_()).row("steps") == "2 × 3"


def test_a_study_tells_what_it_found():
    result = kmcf.tune(kmcf.KernelMonteCarloFilter(move, random_state=0), X, X, n_trials=2, random_state=0)
    table = Table(result._repr_html_())
    assert float(table.row(f"{result.metric}, best of 2 trials")) == pytest.approx(result.best_value, rel=1e-3)
    assert float(table.row("epsilon")) == pytest.approx(result.best_params["epsilon"], rel=1e-3)


def test_states_that_are_words_and_markup():
    kernel = kmcf.kernels.FromCallable(lambda a, b: np.array([[float(x == y) for y in b] for x in a]))
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, state_kernel=kernel, random_state=0)
    run = flt.fit(["<script>", "b"] * 5, X[:10]).filter(X[:2])
    for thing in (flt, run, run[0]):
        assert "<script>" not in thing._repr_html_()
        Table(thing._repr_html_())
