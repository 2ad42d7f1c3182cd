"""Sequences filtered at once: the same as one after the other, to the last bit."""

import os
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kmcf
from kmcf.datasets import paper_model
from kmcf.filter import parallel

MODEL = paper_model("1a")
TRAIN = MODEL.simulate(120, random_state=0)
SEQUENCES = [MODEL.simulate(5 + k, random_state=(1, k)).observations for k in range(5)]
COLUMNS = ("mean", "covariance", "mode", "ess", "weight_sum", "negative_mass", "interval", "herding_loss", "alarm")


@pytest.fixture(scope="module", params=["compressed", "exact", "local"])
def flt(request):
    made = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, engine=request.param, random_state=0)
    return made.fit(TRAIN.states, TRAIN.observations)


def test_processes_give_the_same_runs_and_beliefs(flt):
    serial, at_once = (flt.filter_many(SEQUENCES, n_jobs=n) for n in (1, 2))
    for one, other in zip(serial, at_once, strict=True):
        for name in COLUMNS:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        np.testing.assert_array_equal(one[3].weights, other[3].weights)
        np.testing.assert_array_equal(one[3].mean(), other[3].mean())
        after = [flt.step(run[-1], SEQUENCES[0][0]).mean() for run in (one, other)]
        np.testing.assert_array_equal(*after)


def test_beliefs_refer_to_the_filter_they_came_from():
    made = kmcf.KernelMonteCarloFilter(MODEL.transition, engine="compressed", random_state=0)
    made.fit(TRAIN.states, TRAIN.observations)
    belief = made.filter_many(SEQUENCES, n_jobs=2)[0][2]
    assert belief.source.rule is made.rule_
    assert belief.unformed


def test_states_that_are_objects_are_not_copied():
    words = ["a", "ab", "abc", "b", "bc"] * 4

    def stay(states, control, rng):
        return list(states)

    made = kmcf.KernelMonteCarloFilter(
        stay, state_kernel=lambda a, b: np.array([[float(u == v) for v in b] for u in a])
    )
    made.fit(words, np.array([[float(len(word))] for word in words]))
    runs = made.filter_many([np.array([[1.0], [2.0]])] * 3, n_jobs=2)
    assert runs[0][-1].states is made.filter(np.array([[1.0]]))[-1].states


def test_two_filters_can_run_at_once_from_two_threads():
    filters = [
        kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=seed) for seed in (0, 1)
    ]
    for made in filters:
        made.fit(TRAIN.states, TRAIN.observations)
    alone = [[run.mean for run in made.filter_many(SEQUENCES)] for made in filters]
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(lambda made: made.filter_many(SEQUENCES, n_jobs=2), filters))
    for means, runs in zip(alone, together, strict=True):
        for mean, run in zip(means, runs, strict=True):
            np.testing.assert_array_equal(mean, run.mean)


def test_steps_are_taken_in_other_processes(tmp_path):
    def telling(states, control, rng):
        (tmp_path / str(os.getpid())).touch()
        return MODEL.transition(states, control, rng)

    flt = kmcf.KernelMonteCarloFilter(telling, random_state=0).fit(TRAIN.states, TRAIN.observations)
    flt.filter_many(SEQUENCES, n_jobs=2)
    seen = {path.name for path in tmp_path.iterdir()}
    assert str(os.getpid()) not in seen or not parallel.can_fork()


def test_an_error_in_a_process_is_an_error(tmp_path):
    def failing(states, control, rng):
        raise RuntimeError("the motor is off")

    flt = kmcf.KernelMonteCarloFilter(failing, random_state=0).fit(TRAIN.states, TRAIN.observations)
    with pytest.raises(RuntimeError, match="the motor is off"):
        flt.filter_many(SEQUENCES, n_jobs=2)


def test_threads_serve_where_nothing_forks(monkeypatch):
    monkeypatch.setattr(parallel, "can_fork", lambda: False)
    assert list(parallel.in_parallel(lambda k: k + 1, 5, 2, None)) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, "all", True])
def test_a_strange_number_of_processes_is_refused(flt, n_jobs):
    with pytest.raises(ValueError, match="n_jobs"):
        flt.filter_many(SEQUENCES, n_jobs=n_jobs)


class UnsendableError(Exception):
    """An error that pickle cannot make again."""

    def __init__(self, what, where):
        super().__init__(f"{what} {where}")


@pytest.fixture
def _forking():
    if not parallel.can_fork():
        pytest.skip("another test of this process has imported JAX, so that nothing is forked")


@pytest.mark.usefixtures("_forking")
def test_an_error_that_cannot_travel_is_told_in_words():
    def failing(states, control, rng):
        raise UnsendableError("the motor is off", "on the left")

    flt = kmcf.KernelMonteCarloFilter(failing, random_state=0).fit(TRAIN.states, TRAIN.observations)
    with pytest.raises(RuntimeError, match="UnsendableError: the motor is off on the left"):
        flt.filter_many(SEQUENCES, n_jobs=2)


@pytest.mark.usefixtures("_forking")
def test_a_process_that_dies_is_told_in_words():
    parent = os.getpid()

    def dying(states, control, rng):
        if os.getpid() != parent:
            os._exit(1)
        return states

    flt = kmcf.KernelMonteCarloFilter(dying, random_state=0).fit(TRAIN.states, TRAIN.observations)
    with pytest.raises(RuntimeError, match=r"ended abruptly.*n_jobs=1"):
        flt.filter_many(SEQUENCES, n_jobs=2)


@pytest.mark.usefixtures("_forking")
def test_processes_do_not_go_on_where_nobody_waits_for_them():
    results = parallel.in_parallel(lambda number: time.sleep(30.0 * number), 2, 2, None)
    next(results)
    began = time.monotonic()
    results.close()  # as Ctrl-C does, in this process alone
    assert time.monotonic() - began < 10.0


def test_threads_do_not_go_on_where_nobody_waits_for_them(monkeypatch):
    monkeypatch.setattr(parallel, "can_fork", lambda: False)
    begun = threading.Event()

    def slow(states, control, rng):
        begun.set()
        time.sleep(0.01)
        return states

    def failing(states, control, rng):
        begun.wait(10.0)
        raise RuntimeError("the motor is off")

    def first_fails(states, control, rng):
        return failing(states, control, rng) if control == 0 else slow(states, control, rng)

    made = kmcf.KernelMonteCarloFilter(first_fails, random_state=0).fit(TRAIN.states, TRAIN.observations)
    observations = np.repeat(TRAIN.observations, 10, axis=0)
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="the motor is off"):
        made.filter_many([observations] * 2, [[k] * len(observations) for k in range(2)], n_jobs=2)
    assert time.monotonic() - began < 5.0


def test_processes_end_with_the_one_that_began_them():
    code = """import multiprocessing, os, time
from kmcf.filter.parallel import in_parallel
results = in_parallel(lambda number: time.sleep(30.0 * number), 2, 2, None)
next(results)
print(*(one.pid for one in multiprocessing.active_children()), flush=True)
os.kill(os.getpid(), 9)"""
    told = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, timeout=15).stdout  # to their end
    assert len(told.split()) == 2


@pytest.mark.usefixtures("_forking")
@pytest.mark.parametrize("known", [True, False])
def test_warnings_of_the_users_transition_arrive(known):
    class Local(UserWarning):
        """Cannot be imported by another process."""

    def slippery(states, control, rng):
        warnings.warn("the floor is wet", RuntimeWarning if known else Local, stacklevel=1)
        return states

    expected = RuntimeWarning if known else UserWarning

    made = kmcf.KernelMonteCarloFilter(slippery, random_state=0).fit(TRAIN.states, TRAIN.observations)
    with pytest.warns(expected, match="the floor is wet"):
        made.filter_many(SEQUENCES, n_jobs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((RuntimeWarning, RuntimeError), match="the floor is wet"):
            made.filter_many(SEQUENCES, n_jobs=2)
