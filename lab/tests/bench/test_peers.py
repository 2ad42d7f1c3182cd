"""Other packages on the same data."""

import numpy as np
import pytest

from kmcf.datasets import paper_model
from kmcf_lab.bench import peers
from kmcf_lab.bench.peers import adaptive_kernel_kalman, bootstrap, installed_peers, measure_peers


def test_ours_and_what_is_installed_are_measured(monkeypatch):
    monkeypatch.setattr(peers, "LENGTH", 20)
    rows = measure_peers(["1b"], 60, repetitions=2, report=lambda message: None)
    assert [row.method for row in rows] == list(installed_peers(paper_model("1b")))
    assert all(np.isfinite([row.mean, row.standard_error]).all() and row.milliseconds > 0 for row in rows)


def test_a_filter_that_needs_the_mean_is_not_asked_where_it_says_nothing():
    assert not any("Stone Soup" in name for name in installed_peers(paper_model("3a")))


@pytest.mark.parametrize(("package", "peer"), [("particles", bootstrap), ("stonesoup", adaptive_kernel_kalman)])
@pytest.mark.parametrize("name", ["1a", "1b"])
def test_another_package_follows_the_state(package, peer, name):
    pytest.importorskip(package, reason=f"{package}, which is no dependency of this package, is not installed")
    model = paper_model(name)
    test = model.simulate(peers.LENGTH, random_state=1)
    means, seconds = peer(model, test, test, 0)
    assert means.shape == test.states.shape
    assert np.sqrt(np.mean((means - test.states) ** 2)) < 1.2 < test.states.std()
    assert seconds > 0
