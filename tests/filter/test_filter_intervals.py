"""Credible intervals: what they are, and that they hold what they promise."""

import numpy as np
import pytest

import kmcf
from kmcf.datasets import paper_model


@pytest.mark.parametrize("engine", ["exact", "compressed"])
def test_an_interval_is_a_pair_of_quantiles(engine):
    model = paper_model("1a")
    train, test = model.simulate(150, random_state=0), model.simulate(10, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, engine=engine, random_state=0)
    run = flt.fit(train.states, train.observations).filter([*test.observations, None])
    assert run.interval.shape == (11, 2, 1)
    for t, belief in enumerate(run):
        np.testing.assert_allclose(run.interval[t, :, 0], belief.quantile([0.025, 0.975]), atol=1e-9)
    ahead = run[10]
    np.testing.assert_allclose(ahead.interval(0.5)[:, 0], np.quantile(ahead.states, [0.25, 0.75]), atol=0.05)


@pytest.mark.parametrize("name", ["1a", "1b"])
def test_intervals_hold_nearly_what_they_promise(name):
    """With 800 examples the 95 % intervals hold the true state about 95 % of the time."""
    model = paper_model(name)
    inside = []
    for seed in range(3):
        train, test = model.simulate(800, random_state=(seed, 0)), model.simulate(300, random_state=(seed, 1))
        flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=seed)
        run = flt.fit(train.states, train.observations).filter(test.observations, test.controls)
        inside.append((run.interval[:, 0] <= test.states) & (test.states <= run.interval[:, 1]))
        assert (run.interval[:, 1] >= run.interval[:, 0]).all()
    assert 0.91 <= np.mean(inside) <= 0.98


def test_intervals_of_angles_unroll_around_the_mean():
    angles = np.linspace(-np.pi, np.pi, 100, endpoint=False)[:, None]
    observations = np.hstack([np.cos(angles), np.sin(angles)])
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, r: s, angles=(0,), random_state=0).fit(angles, observations)
    belief = flt.step(flt.start(), [-1.0, 0.0])
    low, high = belief.interval()[:, 0]
    assert high - low < 2.5
    assert low - 0.1 <= np.pi <= high + 0.1 or low - 0.1 <= -np.pi <= high + 0.1
