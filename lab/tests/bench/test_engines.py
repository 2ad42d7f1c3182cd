"""Every engine against the literal formulas."""

import pytest

from kmcf_lab.bench import engines
from kmcf_lab.bench.engines import measure_engines


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "PARTICLES", 100)
        return measure_engines(["1a"], [60], steps=6, report=lambda message: None)


def test_every_engine_is_measured_against_literal(rows):
    measured = {row.method: row for row in rows}
    assert {"literal", "exact", "lowrank", "compressed", "auto", "kNN-PF, 5000 particles"} <= set(measured)
    assert measured["literal"].speed_up == 1.0
    assert measured["exact"].largest_difference < 1e-9
    assert measured["compressed"].largest_difference < 1e-3
    assert measured["compressed"].speed_up == pytest.approx(
        measured["literal"].milliseconds / measured["compressed"].milliseconds
    )


def test_the_parts_of_a_step_add_up(rows):
    shares = [row.shares for row in rows if row.shares]
    assert len(shares) == len(engines.ENGINE_VARIANTS)
    for parts in shares:
        assert sum(parts.values()) == pytest.approx(1.0)
        assert set(parts) == {"kernel", "solve", "herding", "transition", "rest"}


def test_what_would_take_too_long_is_left_out():
    assert [engines._feasible(name, 5000) for name in ("literal", "exact", "compressed")] == [False, False, True]
    assert not engines._feasible("subsample of 100", 100_000)
