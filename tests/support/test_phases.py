"""Times of parts, and a bar that advances with them."""

import time

import pytest

from kmcf.support import phases
from kmcf.support.phases import Phases, bar_if_slow


def test_parts_of_the_same_name_add_up():
    measured = Phases()
    for _ in range(2):
        with measured("sleep"):
            time.sleep(0.01)
    assert measured.seconds["sleep"] >= 0.02


def test_a_part_that_fails_is_measured_and_not_told(monkeypatch):
    told = []
    monkeypatch.setattr(phases, "_told", phases.ContextVar("test", default=lambda: told.append(1)))
    measured = Phases()
    with pytest.raises(RuntimeError), measured("failing"):
        raise RuntimeError
    assert list(measured.seconds) == ["failing"]
    assert told == []


def test_a_bar_appears_only_where_parts_are_slow(monkeypatch, capsys):
    for delay, shown in ((0.0, True), (60.0, False)):
        monkeypatch.setattr(phases, "SLOW_SECONDS", delay)
        with bar_if_slow(2, "fitting", show=True):
            for name in "ab":
                with Phases()(name):
                    time.sleep(0.11)
        assert ("fitting: 100%" in capsys.readouterr().err) == shown
