"""Tasks on a cluster of real processes: items, errors, workers and schedulers that die."""

import os
import signal
import threading
import time

import pytest

import kmcf

pytest.importorskip("distributed", reason="Dask (the extra kmcf[distributed]) is not installed")
import kmcf.distributed
from kmcf.distributed import cluster
from kmcf.distributed.tasks import AHEAD, as_finished


@pytest.fixture(scope="module")
def client():
    with kmcf.distributed.connect(workers=2) as client:
        yield client


def test_results_come_with_their_items_which_are_read_as_needed(client):
    read = []
    found = as_finished(client, lambda n: n**2, (read.append(n) or n for n in range(30)))
    first = next(found)
    assert len(read) <= AHEAD * 2
    assert sorted([first, *found]) == [(n, n**2) for n in range(30)]
    assert list(as_finished(client, abs, [])) == []


def test_the_error_of_a_task_is_raised_as_it_is(client):
    def fail(n):
        raise FileNotFoundError(f"there is no file {n}")

    with pytest.raises(FileNotFoundError, match="there is no file 3"):
        list(as_finished(client, fail, [3]))


def test_inside_a_connection_its_client_is_known(client):
    assert cluster.connected() is client
    seen = []
    outside = threading.Thread(target=lambda: seen.append(cluster.connected()))
    outside.start()
    outside.join()
    assert seen == [None]


@pytest.mark.slow
def test_other_packages_are_compared_too(client):
    with pytest.raises(RuntimeError, match=r"does not have no_such_package, but this machine has 1\.0"):
        cluster.check_versions(client, "no_such_package", "1.0")


def test_a_killed_worker_costs_time_only(client):
    def slow(n):
        time.sleep(0.05)
        return -n

    victim = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(0.2, os.kill, (victim, signal.SIGKILL))
    killer.start()
    found = sorted(as_finished(client, slow, range(20)))
    killer.join()
    assert found == [(n, -n) for n in range(20)]


@pytest.mark.slow
def test_a_cluster_without_workers_is_given_up(client):
    """Last, because the cluster of this module ends here."""
    client.cluster.scale(0)
    begin = time.monotonic()
    while client.nthreads() and time.monotonic() - begin < 20:
        time.sleep(0.05)
    begin = time.monotonic()
    with pytest.raises(ConnectionError, match=r"has had no workers for 0\.5 s"):
        list(as_finished(client, abs, [1, 2], patience=0.5))
    assert time.monotonic() - begin < 10


@pytest.mark.slow
def test_a_scheduler_that_dies_is_a_sentence():
    def lose(client):
        slow = client.submit(time.sleep, 60)
        os.kill(client.run_on_scheduler(os.getpid), signal.SIGKILL)
        slow.result()

    with pytest.raises(ConnectionError, match=r"the scheduler at 'tcp://.*' does not answer any more\."):
        in_a_cluster_of_its_own(lose)


def in_a_cluster_of_its_own(work):
    begin = time.monotonic()
    try:
        with kmcf.distributed.connect(workers=1) as client:
            work(client)
    finally:
        assert time.monotonic() - begin < 30
