"""Windows on the paper's models, on little data."""

import pytest

from kmcf_lab.bench import window_models


@pytest.mark.filterwarnings("ignore::kmcf.CalibrationWarning")
def test_ratios_are_to_single_observations(monkeypatch):
    monkeypatch.setattr(window_models, "LENGTH", 40)
    arguments = {"repetitions": 1, "report": lambda message: None}
    rows = window_models.measure_model_windows(["1a"], 60, [1, 3], **arguments)
    assert [(row.k, row.model, row.n) for row in rows] == [(1, "1a", 60), (3, "1a", 60)]
    assert rows[0].ratio == 1.0
    assert rows[1].ratio == pytest.approx(rows[1].rmse / rows[0].rmse)
    assert rows[1].rmse != rows[0].rmse
    for row in rows:
        assert row.calibrated_inside >= row.inside
        assert row.calibrated_width > row.width > 0.0
