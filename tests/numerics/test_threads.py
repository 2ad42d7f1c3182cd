"""Inside, linear algebra has one thread; afterwards it has as many as before, also where several parts overlap."""

import gc
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - loaded before threads are counted
from threadpoolctl import threadpool_info, threadpool_limits

import kmcf
from kmcf.numerics.threads import SMALL, one_thread


def threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_one_thread_inside_and_as_before_outside():
    with one_thread():
        assert threads() == {1}
    assert threads() == {2}


def test_many_rows_keep_all_threads():
    with one_thread(SMALL + 1):
        assert threads() == {2}


def test_threads_come_back_when_the_last_part_ends_not_the_first():
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == {1}
    second.__exit__(None, None, None)
    assert threads() == {2}


def test_threads_come_back_after_an_error():
    with pytest.raises(ZeroDivisionError), one_thread():
        1 / 0  # noqa: B018
    assert threads() == {2}


def test_a_fit_to_few_examples_uses_one_thread_and_gives_the_others_back():
    seen = []

    def kernel(a, b):
        seen.append(threads())
        return np.exp(-0.5 * (a - b.T) ** 2)

    x = np.linspace(-1.0, 1.0, 30)[:, None]
    kmcf.KernelMonteCarloFilter(lambda x, u, rng: x, observation_kernel=kernel, random_state=0).fit(x, x)
    assert {1} in seen
    assert threads() == {2}


@pytest.fixture
def _ctrl_c_by_a_timer():
    before = signal.signal(signal.SIGALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    gc.disable()  # Ctrl-C inside what is called when garbage is collected cannot be raised to anybody
    yield
    gc.enable()
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer here")
@pytest.mark.usefixtures("_ctrl_c_by_a_timer")
def test_ctrl_c_wherever_it_comes_limits_no_later_part_for_good():
    came = 0
    for microseconds in range(100, 1000, 3):
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-6 * microseconds)
            for _ in range(1000):
                with one_thread():
                    pass
        except KeyboardInterrupt:
            came += 1
        with one_thread():
            assert threads() == {1}
        assert threads() == {2}
    assert came > 250


FORKED = """
import os
import signal
from threading import Event, Thread

import scipy.linalg
from threadpoolctl import threadpool_info

from kmcf.numerics.threads import _LIMITED, one_thread

ready, done = Event(), Event()


def hold():
    with _LIMITED._lock:
        ready.set()
        done.wait()


Thread(target=hold, daemon=True).start()
assert ready.wait(20)
child = os.fork()
if child == 0:
    try:
        signal.alarm(20)
        with one_thread():
            os._exit({info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"} != {1})
    finally:
        os._exit(2)
done.set()
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_process_forked_while_another_thread_begins_does_not_wait_for_it():
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=120)
