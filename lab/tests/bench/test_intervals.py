"""How often intervals contain the truth."""

from kmcf_lab.bench import intervals


def test_most_true_states_are_inside(monkeypatch):
    monkeypatch.setattr(intervals, "LENGTH", 100)
    rows = intervals.measure_intervals([60], repetitions=1, report=lambda message: None)
    assert [(row.model, row.n) for row in rows] == [("1a", 60), ("1b", 60)]
    for row in rows:
        assert 0.3 < row.interval <= 1.0
        assert 0.3 < row.normal_band <= 1.0
