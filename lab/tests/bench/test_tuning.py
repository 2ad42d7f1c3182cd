"""The study of what tuning costs and gains."""

from kmcf_lab.bench import tuning


def test_a_study_is_timed_and_judged_on_new_data(monkeypatch):
    monkeypatch.setattr(tuning, "TEST_LENGTH", 100)
    said = []
    (row,) = tuning.measure_tuning(["1b"], 60, n_trials=2, repetitions=1, report=said.append)
    assert (row.model, row.n, row.trials) == ("1b", 60, 2)
    assert 0.3 < row.tuned < 3.0
    assert row.seconds > 0
    assert len(said) == 1
