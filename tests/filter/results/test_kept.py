"""Beliefs that were pickled, or sent by another process: the same, to the last bit."""

import dataclasses
import pickle

import numpy as np
import pytest

import kmcf
from kmcf.datasets import paper_model
from kmcf.filter import parallel
from kmcf.filter.results import summaries

MODEL = paper_model("1a")
TRAIN = MODEL.simulate(100, random_state=0)
CHANGED = np.array(MODEL.simulate(40, random_state=1).observations)
CHANGED[[0, 7, 8]] = np.nan
CHANGED[12], CHANGED[20:] = 1e6, CHANGED[20:] + 3.0


def fitted(**settings):
    made = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=0, **settings)
    return made.fit(TRAIN.states, TRAIN.observations)


def bits(value):
    """Return something that is equal only for the same bits and types."""
    if dataclasses.is_dataclass(value):
        return {field.name: bits(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return type(value), [bits(entry) for entry in value]
    numbers = np.asarray(value)
    return type(value), numbers.dtype, numbers.shape, numbers.tobytes() if numbers.dtype.kind != "O" else value


def assert_same(one, other):
    assert len(one.beliefs) == len(other.beliefs)
    for a, b in zip(one.beliefs, other.beliefs, strict=True):
        assert bits(a.report) == bits(b.report)
        for name in ("time", "stream", "rejections", "clock", "elapsed", "resampled", "corrected", "angles"):
            assert bits(getattr(a, name)) == bits(getattr(b, name)), name
        for array in ("states", "weights"):
            assert bits(getattr(a, array)) == bits(getattr(b, array))
        np.testing.assert_array_equal(a.interval(), b.interval())
        assert (a.alarm_reason, a.ess, a.negative_mass) == (b.alarm_reason, b.ess, b.negative_mass)
    for name, column in one.columns().items():
        assert bits(column) == bits(other.columns()[name]), name


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")
@pytest.mark.parametrize("engine", ["compressed", "exact", "local"])
def test_a_pickled_run_is_the_same(engine):
    flt = fitted(engine=engine)
    run = flt.filter(CHANGED, times=np.arange(40.0) * 0.5)
    assert run.rejected.any()
    assert run.missing.any()
    assert run.alarm.any()
    again = pickle.loads(pickle.dumps(run))
    assert_same(run, again)
    assert_same(again, pickle.loads(pickle.dumps(again)))
    after = [flt.step(one[k], 0.3, time=one[k].clock + 0.5).mean() for one in (run, again) for k in (-1, 7, 12)]
    np.testing.assert_array_equal(after[:3], after[3:])


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")
@pytest.mark.parametrize("engine", ["compressed", "exact"])
def test_runs_from_other_processes_are_the_same(engine, tmp_path):
    flt = fitted(engine=engine)
    serial, at_once = (flt.filter_many([CHANGED, CHANGED[::-1]], n_jobs=n) for n in (1, 2))
    for one, other in zip(serial, at_once, strict=True):
        assert_same(one, other)
        assert_same(one, pickle.loads(pickle.dumps(other)))
        for k, run in enumerate((one, other)):
            run.save(tmp_path / f"{k}.npz")
        files = [np.load(tmp_path / f"{k}.npz") for k in (0, 1)]
        for name in files[0]:
            np.testing.assert_array_equal(files[0][name], files[1][name])
        after = [flt.filter(CHANGED[:3]).mean, flt.step(other[-1], 0.1).mean(), flt.step(one[-1], 0.1).mean()]
        np.testing.assert_array_equal(*after[1:])


@pytest.mark.parametrize("keep", [True, False])
def test_long_runs_from_other_processes_are_completed(keep, monkeypatch):
    monkeypatch.setattr(summaries, "CHUNK", 8)
    monkeypatch.setattr(summaries, "FEW_STATES", 0)  # so that all chunks arrive open
    flt = fitted()
    long = [MODEL.simulate(20, random_state=(2, k)).observations for k in range(2)]
    serial, at_once = (flt.filter_many(long, n_jobs=n, keep_beliefs=keep) for n in (1, 2))
    for one, other in zip(serial, at_once, strict=True):
        for name, column in one.columns().items():
            assert bits(column) == bits(other.columns()[name]), name


def test_smoothed_runs_and_batches_are_pickled_with_their_beliefs():
    flt = fitted()
    smooth = flt.smooth(CHANGED[20:30])
    again = pickle.loads(pickle.dumps(smooth))
    assert_same(smooth, again)
    assert_same(smooth.filtered, again.filtered)
    assert again[3].final
    assert not again[-1].final
    several = flt.filter(np.stack([CHANGED[20:30], CHANGED[30:40]]))
    for one, other in zip(several, pickle.loads(pickle.dumps(several)), strict=True):
        assert_same(one, other)


def test_a_belief_is_made_once_and_only_when_it_is_asked_for():
    kept = pickle.loads(pickle.dumps(fitted().filter(CHANGED[20:30]))).beliefs
    assert kept[-1] is kept[9] is kept[8:][1]
    with pytest.raises(IndexError):
        kept[10]


def test_no_belief_is_sent_twice():
    flt = fitted(engine="compressed")
    if not parallel.can_fork():
        pytest.skip("another test of this process has imported JAX, so that nothing is forked")
    sizes = []
    for keep in (True, False):
        run = flt.filter(CHANGED[20:], keep_beliefs=keep)
        parallel._work[-1] = (None, parallel._reachable(flt.backend_.advance))
        file = parallel.io.BytesIO()
        parallel._Sender(file, -1, parallel._work[-1][1]).dump(run)
        sizes.append(len(file.getvalue()))
        received = pickle.loads(file.getvalue())
        assert (received.beliefs[3].source.rule is flt.rule_) if keep else (received.mean == run.mean).all()
        del parallel._work[-1]
    assert sizes[0] < 1.05 * sizes[1]
