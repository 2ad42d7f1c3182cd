"""Batches that do not fit in memory are split."""

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

from kmcf.compiled import memory, runner
from kmcf.compiled.memory import plan


def test_a_batch_too_large_is_split(flt, batch, runs, monkeypatch):
    engine = flt.backend_
    one = memory.bytes_per_sequence(engine.model, engine.settings, 4, 8)
    monkeypatch.setattr(runner, "free_bytes", lambda device: 2 * one)
    monkeypatch.setattr(memory, "MOST_STEPS", 4)
    again = flt.filter(jnp.asarray(batch))
    np.testing.assert_allclose(again.mean, runs.mean, atol=1e-11)
    np.testing.assert_array_equal(again.missing, runs.missing)
    monkeypatch.setattr(runner, "free_bytes", lambda device: 1000)
    with pytest.raises(MemoryError, match="n_particles"):
        flt.filter(jnp.asarray(batch))


@pytest.mark.parametrize(
    ("sequences", "steps", "devices", "available", "expected"),
    [(10, 8, 1, 10_000, (10, 8)), (10, 8, 1, 3300, (4, 8)), (10, 8, 4, 800, (4, 8)), (3, 8, 1, 450, (1, 4))],
)
def test_plans_fit_the_memory(sequences, steps, devices, available, expected):
    width, piece = plan(sequences, steps, devices, lambda length: 100 * length, available)
    assert (width, piece) == expected
    assert width // devices * 100 * piece <= available


@pytest.mark.parametrize(
    ("statistics", "expected"),
    [(None, memory.USUAL_BYTES), ({}, memory.USUAL_BYTES), ({"bytes_limit": 1000, "bytes_in_use": 500}, 300)],
)
def test_a_share_of_what_is_free_is_planned_with(statistics, expected):
    assert memory.free_bytes(SimpleNamespace(memory_stats=lambda: statistics)) == expected
