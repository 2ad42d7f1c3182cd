"""Fits on Dask chunks against fits in memory."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import kmcf
from kmcf.bayes_rule.base import Sample
from kmcf.bayes_rule.tensors import Tensors

da = pytest.importorskip("dask.array", reason="Dask (the extra kmcf[distributed]) is not installed")
from kmcf.distributed import fitting  # noqa: E402

MODEL = kmcf.datasets.paper_model("1a")
TRAIN, TEST = MODEL.simulate(1200, random_state=0), MODEL.simulate(30, random_state=1)


def blank(**settings):
    settings = {"engine": "compressed", "n_particles": 200, "n_resample": 40, "random_state": 0} | settings
    return kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, **settings)


def chunked(rows=300):
    return [da.from_array(part, chunks=(rows, -1)) for part in (TRAIN.states, TRAIN.observations)]


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(fitting, "SAMPLE", 400)


def test_what_the_sample_holds_is_the_fit_in_memory():
    memory = blank().fit(TRAIN.states, TRAIN.observations)
    chunks = blank().fit(*chunked())
    assert chunks.ranks_ == memory.ranks_
    np.testing.assert_array_equal(chunks.filter(TEST.observations).mean, memory.filter(TEST.observations).mean)


@pytest.mark.usefixtures("small_sample")
def test_sums_run_over_all_examples():
    flt = blank().fit(*chunked())
    rule = flt.rule_
    U, V = rule.states.of_many(TRAIN.states)[0], rule.observations.of_many(TRAIN.observations)[0]
    expected = Tensors.of(U, V, rule.declared.values(TRAIN.states), squares=True)
    for name in ("state_gram", "total", "correction", "herding", "moments", "squares"):
        np.testing.assert_allclose(getattr(rule.tensors, name), getattr(expected, name), rtol=1e-9, atol=1e-9)
    assert rule.size == 1200
    assert repr(flt).endswith(f"fitted to 1200 examples, of which {len(flt.states_)} are kept")
    assert len(flt.states_) < 600


@pytest.mark.usefixtures("small_sample")
def test_the_weights_of_the_examples_kept_are_those_of_all_in_proportion():
    """The literal weights of all 1200 examples, at the rule's own prior coefficients, restricted to those kept."""
    flt = blank().fit(*chunked())
    prior = Sample(TEST.states, np.full(len(TEST.states), 1 / len(TEST.states)))
    posterior = flt.rule_.correct(prior, TEST.observations[:1])
    factors = (flt.rule_.states, TRAIN.states), (flt.rule_.observations, TRAIN.observations)
    U, V = (features.of_many(rows)[0] for features, rows in factors)
    everywhere = (U @ posterior.prior) * (V @ posterior.solution)
    everywhere /= everywhere.sum()
    assert posterior.mean()[0] == pytest.approx(everywhere @ TRAIN.states[:, 0], abs=1e-8)
    kept = [int(np.argmin(np.abs(TRAIN.states[:, 0] - x))) for x in flt.states_[:, 0]]
    np.testing.assert_allclose(posterior.weights(), everywhere[kept] / everywhere[kept].sum(), atol=1e-10)
    assert posterior.sum_of_squares() == pytest.approx(np.sum(everywhere**2), rel=1e-6)
    estimated = posterior.summarise([posterior])
    assert estimated.sum_of_squares[0] == pytest.approx(np.sum(everywhere**2), rel=0.5)  # from a third of the examples


@pytest.mark.usefixtures("small_sample")
def test_chunk_sizes_do_not_matter():
    runs = [blank().fit(*chunked(rows)).filter(TEST.observations) for rows in (300, 170)]
    np.testing.assert_allclose(runs[0].mean, runs[1].mean, atol=1e-10)


@pytest.mark.usefixtures("small_sample")
def test_pivots_reach_examples_that_the_sample_does_not_hold():
    states, observations = TRAIN.states.copy(), TRAIN.observations.copy()
    states[[7, 900]] = [[25.0], [-31.0]]
    flt = blank().fit(*(da.from_array(part, chunks=(300, -1)) for part in (states, observations)))
    assert {25.0, -31.0} <= set(flt.states_[:, 0])
    assert flt.rule_.states.of_many(states)[2].max() < 1e-6


@pytest.mark.usefixtures("small_sample")
def test_saved_with_its_sums(tmp_path):
    flt = blank().fit(*chunked())
    flt.save(tmp_path / "model.kmcf")
    again = kmcf.load(tmp_path / "model.kmcf", transition=MODEL.transition, initial=MODEL.initial)
    assert again.rule_.size == 1200
    np.testing.assert_array_equal(again.filter(TEST.observations).mean, flt.filter(TEST.observations).mean)
    with pytest.raises(ValueError, match="partial_fit needs all examples"):
        again.partial_fit(TRAIN.states, TRAIN.observations)
    with pytest.raises(ValueError, match="refresh needs all examples"):
        again.refresh()


def test_dataframes():
    frames = pytest.importorskip("dask.dataframe")
    import pandas as pd

    table = pd.DataFrame({"x": TRAIN.states[:, 0], "y": TRAIN.observations[:, 0]})
    frame = frames.from_pandas(table, npartitions=3)
    found = blank().fit(frame[["x"]], frame[["y"]]).filter(TEST.observations)
    expected = blank().fit(TRAIN.states, TRAIN.observations).filter(TEST.observations)
    np.testing.assert_array_equal(found.mean, expected.mean)


def nan_in_chunk_two():
    states, observations = chunked()
    return states, da.where(da.arange(1200, chunks=300)[:, None] == 650, np.nan, observations)


def ragged():
    states, observations = chunked()
    short = da.concatenate([observations[:300], observations[301:]])
    return [part.map_blocks(lambda rows: rows, chunks=((np.nan,) * 4, (1,))) for part in (states, short)]


@pytest.mark.parametrize(
    ("examples", "problem"),
    [
        (lambda: (chunked()[0], TRAIN.observations), "the observations are ndarray"),
        (lambda: (chunked()[0], chunked()[1][:-1]), "1200 states and 1199 observations"),
        (nan_in_chunk_two, "chunk 2 has NaN or infinity in the observations, first in its row 50"),
        (ragged, "chunk . has 300 states and 299 observations"),
        (lambda: [part[:1] for part in chunked()], "at least 2 are needed"),
        (lambda: [part.astype(str) for part in chunked()], "are numbers"),
    ],
)
def test_what_is_wrong_with_chunks(examples, problem):
    with pytest.raises((TypeError, ValueError), match=problem):
        blank().fit(*examples())


@pytest.mark.parametrize(
    "settings",
    [{"support": "particles", "engine": "auto"}, {"rule": "importance", "engine": "lowrank"}, {"n_examples": 100}],
)
def test_settings_that_need_all_examples(settings):
    with pytest.raises(ValueError, match="Dask chunks"):
        blank(**settings).fit(*chunked())


@pytest.mark.usefixtures("small_sample")
def test_no_pairs_are_made_up_beside_sums_over_chunks():
    with pytest.raises(ValueError, match="pairs beside examples in memory; the 1200 of these Dask chunks are too many"):
        blank(augment=True).fit(*chunked())


@pytest.fixture(scope="module")
def client():
    pytest.importorskip("distributed")
    with kmcf.distributed.connect(workers=2) as client:
        yield client


@pytest.mark.slow
@pytest.mark.usefixtures("client", "small_sample")
def test_a_killed_worker_costs_time_only(client):
    def slow(rows):  # travels by value: workers cannot import this module
        time.sleep(0.03)
        return rows

    states, observations = (part.map_blocks(slow) for part in chunked(200))
    victim = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(0.3, os.kill, (victim, signal.SIGKILL))
    killer.start()
    run = blank().fit(states, observations).filter(TEST.observations)
    killer.join()
    np.testing.assert_allclose(run.mean, blank().fit(*chunked()).filter(TEST.observations).mean, atol=1e-10)


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_a_fleet_in_order_and_lazily():
    memory = blank().fit(TRAIN.states, TRAIN.observations)
    sequences = [TEST.observations[k : k + 6] for k in range(20)]
    read = []
    runs = kmcf.distributed.filter_many(memory, (read.append(k) or s for k, s in enumerate(sequences)))
    first = next(runs)
    assert len(read) < 20
    for run, expected in zip([first, *runs], memory.filter_many(sequences), strict=True):
        np.testing.assert_array_equal(run.mean, expected.mean)


@pytest.mark.slow
def test_closures_travel(client):
    shift = 0.25
    flt = kmcf.KernelMonteCarloFilter(
        lambda x, control, rng: 0.9 * x + shift + rng.normal(size=x.shape), random_state=0
    )
    flt.fit(TRAIN.states[:100], TRAIN.observations[:100])
    (run,) = kmcf.distributed.filter_many(flt, [TEST.observations])
    np.testing.assert_array_equal(run.mean, flt.filter(TEST.observations).mean)


def test_other_versions_are_refused(client, monkeypatch):
    monkeypatch.setattr("kmcf.distributed.cluster.__version__", "0.0.0")
    with (
        pytest.raises(RuntimeError, match=r"has kmcf .*, but this machine has 0\.0\.0"),
        kmcf.distributed.connect(client.scheduler.address),
    ):
        pass


@pytest.mark.slow
def test_no_scheduler_answers():
    begin = time.monotonic()
    with (
        pytest.raises(ConnectionError, match=r"no scheduler answers at 'tcp://127\.0\.0\.1:1' within 1 s"),
        kmcf.distributed.connect("tcp://127.0.0.1:1", patience=1.0),
    ):
        pass
    assert time.monotonic() - begin < 10
