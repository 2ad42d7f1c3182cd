"""Spliced walks: every step is a recorded one, and changes happen where walks meet and part."""

import numpy as np
import pytest

from kmcf.datasets import Recording
from kmcf_lab.localize.spliced import APART, LEAST, NEAR, spliced
from kmcf_lab.localize.wifi import WIFINE_SPLICED, load_spliced


def walks(count=8, steps=60):
    """Walks to and fro on lines through one square, all steps told apart by their observations."""
    rng = np.random.default_rng(0)
    found = []
    for k in range(count):
        along = 10.0 - np.abs(np.linspace(-20.0, 20.0, steps) + rng.normal()) + 0.0
        across = np.full(steps, rng.uniform(-5.0, 5.0))
        flat = np.stack([along, across] if k % 2 else [across, along], axis=1)
        states = np.column_stack([flat, np.full(steps, 4.5 * (k % 3 == 0))])
        numbers = (1000.0 * k + np.arange(steps))[:, None]
        found.append(Recording(f"train_{k % 3}_{k}", np.cumsum(rng.uniform(4, 6, size=steps)), states, numbers))
    return found


def test_steps_are_recorded_ones_and_changes_are_where_walks_meet_and_part():
    recorded = walks()
    changes = 0
    for seed in range(40):
        walk = spliced(recorded, 30, seed)
        owner, step = np.divmod(walk.observations[:, 0].astype(int), 1000)
        for k, (who, when) in enumerate(zip(owner, step, strict=True)):
            np.testing.assert_array_equal(walk.states[k], recorded[who].states[when])
        broken = np.flatnonzero((np.diff(owner) != 0) | (np.diff(step) != 1)) + 1
        assert (np.diff(broken) >= LEAST).all()
        for k in broken:
            old, new = recorded[owner[k - 1]], recorded[owner[k]]
            met, left = new.states[step[k] - 1], old.states[step[k - 1]]
            assert np.linalg.norm((met - left)[:2]) < NEAR
            ahead = old.states[min(step[k - 1] + 3, len(old) - 1)] - new.states[min(step[k] + 2, len(new) - 1)]
            assert np.linalg.norm(ahead[:2]) > APART
            assert walk.time[k] - walk.time[k - 1] == pytest.approx(new.time[step[k]] - new.time[step[k] - 1])
        changes += len(broken)
    assert changes > 40


def test_the_same_seed_gives_the_same_walk():
    recorded = walks()
    first, second, other = (spliced(recorded, 20, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.observations, second.observations)
    assert not np.array_equal(first.observations, other.observations)


def test_walks_that_are_spliced_are_not_among_the_examples(monkeypatch):
    monkeypatch.setattr("kmcf_lab.localize.wifi.wifine", lambda *_: walks(36))
    data = load_spliced("", scans=2, count=5, length=20, draw=1)
    kept = [one for one in data.recordings if one.name.startswith("train")]
    assert len(kept) == 36 - 3 * 10
    folds = WIFINE_SPLICED.split(data)
    assert [fold.name for fold in folds] == [f"spliced {k}" for k in range(5)]
    for fold in folds:
        assert not set(fold.observations[:, 0].tolist()) & set(fold.test.observations[:, 0].tolist())
        assert fold.test.observations.shape == (len(fold.test), 2)
