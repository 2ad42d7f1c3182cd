"""A small world, followed in a process of its own."""

import pytest

from kmcf_lab.bench.world import measure_world


@pytest.mark.slow
def test_the_walk_is_followed_from_either_start():
    known, unknown = measure_world(3000, steps=15)
    assert (known.start, unknown.start) == ("known", "unknown")
    assert known.n == 3000
    assert known.error < 3.0
    assert known.solved_for < 600
    assert known.milliseconds_per_step > 0
    assert 0.01 < known.peak_gigabytes < 4
