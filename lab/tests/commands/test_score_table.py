"""The table of scores that ``kmcf demo`` and ``kmcf localize`` print."""

import io

from rich.console import Console

from kmcf_lab.commands.localize import score_table
from kmcf_lab.localize.radio import BLE
from kmcf_lab.localize.scores import Score

OTHERS = {"median": 0.9, "share": 0.5, "rmse": 1.5, "rmse_of_mean": 1.4, "milliseconds": 1.2345, "crps": 0.5}
COUNTS = {"within": 0.95, "steps": 50, "examples": 614, "repetition": 0, "missing": 0, "rejected": 0, "tuned": ""}


def score(method, fold, inside):
    return Score(method=method, fold=fold, group="", mean=1.2 + inside, inside=inside, **OTHERS, **COUNTS)


def test_numbers_are_whole_on_a_narrow_terminal():
    scores = [score(method, fold, 0.9865 + 0.004 * k) for method in ("kmcf", "nai") for k, fold in enumerate("abc")]
    output = io.StringIO()
    Console(file=output, width=80).print(score_table(scores, BLE.measure, "Position"))
    assert "0.9905±0.0023" in output.getvalue()
    assert "…" not in output.getvalue()
