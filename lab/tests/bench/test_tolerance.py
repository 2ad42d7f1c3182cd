"""Tolerances against the exact rule."""

import pytest

from kmcf_lab.bench import tolerance


@pytest.fixture
def _small(monkeypatch):
    monkeypatch.setattr(tolerance, "STEPS", 6)
    monkeypatch.setattr(tolerance, "PARTICLES", 200)
    monkeypatch.setattr(tolerance, "REGULARISERS", ((1e-3, 9e-6),))


@pytest.mark.usefixtures("_small")
def test_tolerances_are_measured_against_the_exact_rule():
    rows = {row.tolerance: row for row in tolerance.measure_tolerances([80], models=["1a"], report=lambda text: None)}
    loose, tight = rows["observations 1 √δ"], rows["observations 0.03 √δ"]
    assert loose.ranks[1] < tight.ranks[1]
    assert tight.largest < loose.largest
    assert rows["auto"].largest < 0.1
    assert rows["states 0.03 ε"].ranks[0] > rows["states 1 ε"].ranks[0]
