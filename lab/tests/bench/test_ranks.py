"""Low rank on all models, and its two readings."""

import numpy as np
import pytest

from kmcf.datasets import PAPER_MODELS
from kmcf_lab.bench import ranks


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(ranks, "N_EXAMPLES", 40)
    monkeypatch.setattr(ranks, "LENGTH", 25)


def test_the_study_covers_all_models():
    rows = ranks.measure_ranks([10], repetitions=1, report=lambda message: None)
    expected = [(name, *kind) for name in PAPER_MODELS for kind in [(None, "features"), (10, "features")]]
    expected += [(name, 10, "Algorithm 5") for name in PAPER_MODELS]
    assert sorted(map(str, expected)) == sorted(str((row.model, row.rank, row.reading)) for row in rows)
    assert np.isfinite([row.mean for row in rows]).all()


def test_algorithm_5_is_the_printed_one(monkeypatch):
    """Both readings have a finite error at a small rank, and they are not the same algorithm."""
    monkeypatch.setattr(ranks, "N_EXAMPLES", 40)
    features, printed = (ranks._error("1a", 8, reading, seed=0) for reading in ("features", "Algorithm 5"))
    assert np.isfinite([features, printed]).all()
    assert features != printed
