"""Ctrl-C is Ctrl-C, wherever it comes."""

import os
import signal

import numpy as np
import pytest

import kmcf
from kmcf.numerics.greedy import greedy_loop
from kmcf.numerics.interrupts import honoured, noticed, raise_if_lost, uninterrupted, was_interrupted


def broken(*_):
    """What a function compiled by Numba does when Ctrl-C comes in the middle."""
    raise SystemError("returned a result with an exception set") from KeyboardInterrupt()


def test_ctrl_c_is_found_behind_other_errors():
    for error in (ValueError(), SystemError()):
        assert not was_interrupted(error)
        error.__cause__ = RuntimeError()
        error.__cause__.__cause__ = KeyboardInterrupt()
        assert was_interrupted(error)


def test_other_errors_stay_what_they_are():
    with pytest.raises(SystemError, match="real"), honoured():
        raise SystemError("real")
    with pytest.raises(KeyboardInterrupt), honoured():
        broken()


def test_the_compiled_loop_reports_ctrl_c(monkeypatch):
    numba = pytest.importorskip("numba")
    calls = []

    def compiled(*arguments):
        calls.append(arguments)
        return broken() if len(calls) > 1 else None  # the first call compiles

    monkeypatch.setattr(numba, "njit", lambda **_: lambda _: compiled)
    loop = greedy_loop.__wrapped__()
    with pytest.raises(KeyboardInterrupt):
        loop(np.zeros(2), np.eye(2), 1)


@pytest.fixture
def hearing():
    """Hear Ctrl-C, also where the tests run in the background and do not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_waits_for_what_must_be_whole(hearing):
    done = []

    def work():
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("all")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_second_one_does_not_wait(hearing):
    done = []

    def work():
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            done.append("all")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert not done


def test_a_handler_of_the_users_own_is_kept(hearing):
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append("mine"))
    with uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)
        assert not heard
    assert heard == ["mine"]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)


def lose_one():
    """Let Ctrl-C come where Python prints and forgets what is raised."""
    try:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass
    except KeyboardInterrupt:
        pass


def test_what_was_lost_is_honoured(hearing):
    with noticed():
        raise_if_lost()  # nothing came
    lose_one()
    raise_if_lost()  # nobody asked to notice it
    done = []

    def work():
        with noticed():
            with noticed():  # as tuning does, which filters
                lose_one()
            done.append("on")
            raise_if_lost()

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["on"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    raise_if_lost()  # it was honoured once, which is enough


def test_a_run_stops_after_the_step_in_which_ctrl_c_was_lost(hearing):
    moves = []

    def move(states, control, rng):
        moves.append(1)
        if len(moves) == 3:
            lose_one()
        return states + 0.1 * rng.normal(size=states.shape)

    flt = kmcf.KernelMonteCarloFilter(move, random_state=0).fit(np.linspace(0, 1, 20), np.linspace(0, 1, 20))
    moves.clear()
    with pytest.raises(KeyboardInterrupt):
        flt.filter(np.linspace(0, 1, 20))
    assert len(moves) == 3


def test_notes_of_an_error_are_kept():
    def stop():
        error = SystemError("odd")
        error.add_note("3 cells are kept")
        with honoured():
            raise error from KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt) as found:
        stop()
    assert found.value.__notes__ == ["3 cells are kept"]
