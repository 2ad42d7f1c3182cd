"""The table of scores that ``kmcf demo`` and ``kmcf localize`` print."""

import io

import pytest
from rich.console import Console

from kmcf_lab.commands.localize import print_scores
from kmcf_lab.localize.radio import BLE
from kmcf_lab.localize.scores import Score

OTHERS = {"median": 0.9, "share": 0.5, "rmse": 1.5, "rmse_of_mean": 1.4, "milliseconds": 1.2345, "crps": 0.5}
COUNTS = {"within": 0.95, "steps": 50, "examples": 614, "repetition": 0, "missing": 0, "rejected": 0, "tuned": ""}


def score(method, fold, inside):
    return dict(method=method, fold=fold, group="", mean=1.2 + inside, inside=inside, **OTHERS, **COUNTS)


def printed(width, milliseconds):
    scores = [
        score(method, fold, 0.9865 + 0.004 * k) | {"milliseconds": milliseconds + k}
        for method in ("kmcf", "nai")
        for k, fold in enumerate("abc")
    ]
    output = io.StringIO()
    print_scores(Console(file=output, width=width), [Score(**one) for one in scores], BLE.measure, "Position")
    return output.getvalue()


def test_numbers_are_whole_on_a_narrow_terminal():
    text = printed(80, 1.2345)
    assert "0.9905±0.0023" in text
    assert "…" not in text


def test_errors_stand_below_means_where_the_terminal_is_too_narrow():
    """The last column was cut off there, and nothing said so."""
    assert {"0.9905", "±0.0023", "123457.00", "±0.58", "(nearest)"} <= set(printed(58, 123456.0).split())


@pytest.mark.parametrize("width", [70, 72, 75, 78, 79, 80, 81, 90, 120])
def test_no_width_cuts_a_number_off(width):
    text = printed(width, 1.2345)
    assert {"0.9905±0.0023", "2.23±0.58"} <= set(text.split())
    assert max(map(len, text.splitlines())) <= width
