"""The progress bar."""

from tuning_cases import run


def test_the_progress_bar_shows_the_best_value(capsys):
    result = run(n_trials=3, progress=True)
    assert f"best {result.best_value:.4g}" in capsys.readouterr().err
