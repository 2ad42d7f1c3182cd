"""Long runs: no drift into NaN, no growing memory."""

import gc
import tracemalloc

import numpy as np
import pytest
from engine_cases import MODEL, tiny

import kmcf


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")
def test_ten_thousand_online_steps(monkeypatch):
    """With gaps and rejected steps on the way."""
    monkeypatch.setattr("kmcf.bayes_rule.base.MOST_NEGATIVE_MASS", np.inf)  # only what resembles no example is rejected
    flt = tiny()
    observations = MODEL.simulate(1000, random_state=1).observations[:, 0].tolist()
    observations[10:15] = [None] * 5
    observations[500] = 1e6
    belief = flt.start()
    objects, means = [], []
    for t in range(9_200):
        belief = flt.step(belief, observations[t % 1000])
        assert np.isfinite(belief.weights).all()
        if t % 1_000 == 999:
            gc.collect()
            objects.append(len(gc.get_objects()))
            means.append(belief.mean()[0])
    assert max(objects[1:]) - objects[0] < 100  # over 8 000 steps
    assert np.ptp(means) < 4.0  # the same observations again and again: what lies far back must be forgotten

    tracemalloc.start()  # tracing is slow, so only the last steps are traced
    try:
        for t in range(9_200, 10_000):
            belief = flt.step(belief, observations[t % 1000])
            if t == 9_399:
                before = tracemalloc.get_traced_memory()[0]
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 20_000  # bytes over 600 steps; the weights alone would take 72 000
    assert belief.time == 10_000
    assert belief.rejections == 10
    assert belief.weights.sum() == pytest.approx(1.0)
    assert np.isfinite(belief.mean()).all()


def test_the_end_of_a_long_sequence_does_not_depend_on_its_length():
    """The same hundred observations at the end give nearly the same belief, whatever came before."""
    train = MODEL.simulate(200, random_state=0)
    flt = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=0)
    flt.fit(train.states, train.observations)
    end = MODEL.simulate(100, random_state=5).observations
    long = flt.filter(np.concatenate([MODEL.simulate(1000, random_state=6).observations, end]))
    short = flt.filter(end)
    difference = long.mean[-50:] - short.mean[-50:]
    assert np.sqrt(np.mean(difference**2)) < 0.25
    assert np.isfinite(long.mean).all()
