"""Summary columns equal those of the beliefs, also where weights are formed late, and take little memory."""

import gc
import tracemalloc

import numpy as np
import pytest
from engine_cases import MODEL, TEST, fitted, tiny

from kmcf.filter.results import summaries


def test_lazy_summaries_equal_those_of_the_beliefs():
    run = fitted("compressed").filter([*TEST.observations[:10], None, *TEST.observations[10:15]])
    for t, belief in enumerate(run):
        weights = belief.weights
        assert run.ess[t] == pytest.approx(1.0 / np.sum(weights**2), rel=1e-6)
        assert run.negative_mass[t] == pytest.approx(-weights[weights < 0].sum(), abs=1e-12)
        tied = np.sum(weights == weights.max()) > 1  # predicted particles: the density decides
        heaviest = belief.mode() if tied else belief.states[np.argmax(weights)]
        np.testing.assert_array_equal(run.mode[t], heaviest)
        np.testing.assert_allclose(run.mean[t], weights @ belief.states, atol=1e-8)
        assert weights.sum() == pytest.approx(1.0)
    assert len(run[10].states) == 300
    assert run.missing.sum() == 1


def test_a_long_compressed_run_keeps_no_beliefs_but_completes_its_summaries():
    run = fitted("compressed").filter(TEST.observations, keep_beliefs=False)
    with pytest.raises(LookupError, match="keep_beliefs"):
        run[0]
    kept = fitted("compressed").filter(TEST.observations, keep_beliefs=True)
    np.testing.assert_array_equal(run.mode, kept.mode)
    assert np.isfinite(run.negative_mass).all()


@pytest.mark.slow
def test_a_summary_run_takes_little_memory(monkeypatch):
    """Per step a run keeps some twenty numbers (one chunk may still hold beliefs).

    The interpreter keeps some 20 kB of small objects for later, more or less by chance: many steps
    between the two runs make that small beside what the steps themselves keep.
    """
    monkeypatch.setattr(summaries, "CHUNK", 128)
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

    kept(20)
    assert (kept(128 * 9) - kept(128)) / (128 * 8) < 300
