"""The study of smoothed intervals counts what the runs say."""

from kmcf.datasets import paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf_lab.bench.smoothing_intervals import measure_coverage


def test_shares_are_those_of_the_intervals():
    (row,) = measure_coverage(["1a"], 60, steps=30, repetitions=1)
    model = paper_model("1a")
    train, test = (model.simulate(size, random_state=(0, part)) for part, size in ((10, 60), (11, 30)))
    flt = KernelMonteCarloFilter(model.transition, model.initial, random_state=0, tolerance="auto")
    run = flt.fit(train.states, train.observations).smooth(test.observations)
    for share, one in ((row.filtered, run.filtered), (row.smoothed, run)):
        held = (test.states >= one.interval[:, 0]) & (test.states <= one.interval[:, 1])
        assert share == held.mean()
    assert 0.0 <= row.smoothed_calibrated <= 1.0
    assert row.smoothed_score > 0.0
