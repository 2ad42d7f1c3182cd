"""Times of low-rank methods at large n."""

import numpy as np

from kmcf_lab.synthetic import scaling
from kmcf_lab.synthetic.data import SimulatedData
from kmcf_lab.synthetic.methods import DELTA, paper_filter


def test_everything_is_timed_where_it_can_be(monkeypatch):
    monkeypatch.setattr(scaling, "WHOLE_STEP_UP_TO", 100)
    for n, names in (
        (100, {scaling.ALGORITHM_5, scaling.WHOLE_STEP, scaling.STABLE_STEP}),
        (200, {scaling.ALGORITHM_5, scaling.STABLE_STEP}),
    ):
        rows = scaling.scaling_times(n, 0)
        assert {row["method"] for row in rows} == names
        assert all(0.0 < row["milliseconds"] < 1000.0 for row in rows)


def test_what_is_timed_is_algorithm_5():
    model = scaling.paper_model("1a")
    train, test = model.simulate(80, random_state=0), model.simulate(scaling.SCALED_STEPS + 1, random_state=1)
    data = SimulatedData(model, train, test, test, 0)
    weights = scaling._corrections(data)[0]()
    flt = paper_filter(data, engine="literal", rank=scaling.RANK, delta=DELTA, epsilon=scaling.EPSILON)
    flt.fit(train.states, train.observations)
    prior = flt.rule_._prior(flt.rule_.examples.state_kernel.against(train.states[:200]).mean(axis=1))
    k_y = flt.rule_.examples.observation_kernel.against(test.observations[:1])[:, 0]
    np.testing.assert_allclose(weights, flt.rule_._corrected(prior, k_y), rtol=1e-6)
