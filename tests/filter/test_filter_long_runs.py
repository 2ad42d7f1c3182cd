"""Long runs: no drift into NaN, no growing memory, no hoarding of beliefs."""

import gc
import tracemalloc

import numpy as np
import pytest

import kmcf
from kmcf.datasets import paper_model

MODEL = paper_model("1a")


def tiny(n=15, **settings):
    train = MODEL.simulate(n, random_state=0)
    flt = kmcf.KernelMonteCarloFilter(
        MODEL.transition, initial=MODEL.initial, n_resample=5, random_state=0, engine="exact", **settings
    )
    return flt.fit(train.states, train.observations)


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")
def test_a_hundred_thousand_online_steps():
    """With gaps and rejected steps on the way."""
    flt = tiny()
    observations = MODEL.simulate(1000, random_state=1).observations[:, 0].tolist()
    observations[10:15] = [None] * 5
    observations[500] = 1e6
    belief = flt.start()
    objects, means = [], []
    for t in range(97_000):
        belief = flt.step(belief, observations[t % 1000])
        assert np.isfinite(belief.weights).all()
        if t % 10_000 == 9_999:
            gc.collect()
            objects.append(len(gc.get_objects()))
            means.append(belief.mean()[0])
    assert max(objects[1:]) - objects[0] < 100
    assert np.ptp(means) < 4.0  # the same observations again and again: what lies far back must be forgotten

    tracemalloc.start()  # tracing is slow, so only the last steps are traced
    try:
        for t in range(97_000, 100_000):
            belief = flt.step(belief, observations[t % 1000])
            if t == 97_499:
                before = tracemalloc.get_traced_memory()[0]
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 20_000  # bytes over 2500 steps; the weights alone would take 300 000
    assert belief.time == 100_000
    assert belief.rejections == 100
    assert belief.weights.sum() == pytest.approx(1.0)
    assert np.isfinite(belief.mean()).all()


def test_the_end_of_a_long_sequence_does_not_depend_on_its_length():
    """The same hundred observations at the end give nearly the same belief, whatever came before."""
    train = MODEL.simulate(200, random_state=0)
    flt = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=0)
    flt.fit(train.states, train.observations)
    end = MODEL.simulate(100, random_state=5).observations
    long = flt.filter(np.concatenate([MODEL.simulate(3000, random_state=6).observations, end]))
    short = flt.filter(end)
    difference = long.mean[-50:] - short.mean[-50:]
    assert np.sqrt(np.mean(difference**2)) < 0.25
    assert np.isfinite(long.mean).all()


def test_a_long_batch_run_keeps_its_summaries_only():
    flt = tiny()
    observations = np.resize(MODEL.simulate(500, random_state=1).observations, (12_000, 1))
    run = flt.filter(observations)
    assert run.mean.shape == (12_000, 1)
    assert np.isfinite(run.mean).all()
    for ask in (lambda: run[3], lambda: run.beliefs, lambda: list(run)):
        with pytest.raises(LookupError, match="keep_beliefs=True"):
            ask()


def test_beliefs_of_many_examples_are_not_kept_either():
    """Fewer steps but more weights per step: what counts is memory."""
    run = tiny(n=800, n_particles=5).filter([None] * 6000)
    with pytest.raises(LookupError, match="keep_beliefs=True"):
        run[0]


@pytest.mark.parametrize("keep", [True, False, None])
def test_beliefs_are_kept_when_asked(keep):
    flt = tiny()
    observations = MODEL.simulate(30, random_state=1).observations
    run = flt.filter(observations, keep_beliefs=keep)
    if keep is False:
        with pytest.raises(LookupError, match="keep_beliefs=True"):
            run[0]
    else:
        np.testing.assert_array_equal(run[29].mean(), run.mean[29])
        assert len(run.beliefs) == 30


def test_asking_keeps_the_beliefs_of_a_long_run():
    run = tiny().filter([None] * 11_000, keep_beliefs=True)
    assert run[10_999].time == 11_000


def test_a_summary_run_takes_little_memory():
    """Per step a run keeps some fifteen numbers (one chunk of 512 steps may still hold beliefs)."""
    flt = tiny()

    def kept(steps):
        observations = MODEL.simulate(steps, random_state=1).observations
        gc.collect()
        tracemalloc.start()
        try:
            run = flt.filter(observations, keep_beliefs=False)
            gc.collect()
            size = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert len(run) == steps
        return size

    kept(512)
    assert (kept(512 * 9) - kept(512 * 3)) / (512 * 6) < 250
