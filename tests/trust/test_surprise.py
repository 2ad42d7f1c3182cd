"""Weak signals added up: against the tail of the exponential distribution, and against simulated steps."""

import numpy as np
import pytest

from kmcf.trust.surprise import MOST, PARTS, Surprise, added_up, surprises_of
from kmcf.trust.thresholds import Thresholds, thresholds_from

RNG = np.random.default_rng(0)


def good_steps(steps, seed):
    """Steps at which all parts are independent and standard exponential, well inside the examples."""
    rng = np.random.default_rng(seed)
    edge, distance, ess = rng.exponential(size=(3, steps))
    return {
        "observation_distance": distance, "observation_shift": np.zeros(steps), "relative_evidence": np.zeros(steps),
        "ess": np.exp(-ess) * 1e4, "support_size": np.full(steps, 1e4), "negative_mass": np.zeros(steps),
        "state_coverage": np.ones(steps), "running": np.zeros((steps, 5)), "edge": edge - 50.0,
    }  # fmt: skip


def test_a_surprise_grows_like_the_negative_log_of_the_share_of_larger_values():
    known = Surprise.of(RNG.exponential(size=100_000))
    far = np.array([np.log(10.0), np.log(20.0), np.log(200.0), 100.0])
    np.testing.assert_allclose(known.of_values(far), np.minimum(far - np.log(2.0), MOST), atol=0.03)
    assert known.of_values(np.array([-3.0, 0.5, np.nan])).tolist() == [0.0, 0.0, 0.0]
    assert Surprise.of(np.array([np.nan])) is None


def test_where_the_edge_is_not_known_nothing_is_added_up():
    assert surprises_of({name: np.full(30, np.nan) for name in PARTS}) == {}
    assert surprises_of({"ess": np.ones(30)}) == {}
    usual = {name: Surprise(0.0, 1.0, 1.0) for name in PARTS}
    assert np.isnan(added_up({name: np.array([np.nan]) for name in PARTS}, usual)).all()


def test_weak_signals_raise_an_alarm_together_only():
    """Each part is at a value that one good step in 200 exceeds; only all of them at once are unusual."""
    thresholds, new = thresholds_from(good_steps(1000, seed=1)), good_steps(20_000, seed=2)
    assert thresholds.decide(new)[0].mean() <= 0.01
    few = {name: np.repeat(np.asarray(values)[:1], 4, axis=0) for name, values in good_steps(1, seed=3).items()}
    usual, odd = np.log(2.0), np.log(200.0)
    few["edge"] = np.array([odd, usual, usual, odd]) - 50.0
    few["observation_distance"] = np.array([usual, odd, usual, odd])
    few["ess"] = 1e4 * np.exp(-np.array([usual, usual, odd, odd]))
    alarm, reason = thresholds.decide(few)
    assert alarm.tolist() == [False, False, False, True]
    assert reason[3] == "uncovered state"


def test_files_keep_what_is_usual_of_the_parts():
    thresholds = thresholds_from(good_steps(300, seed=1))
    assert thresholds.parts
    assert Thresholds.restored(thresholds.stored()) == thresholds
    earlier = {name: kept for name, kept in thresholds.stored().items() if name != "parts"}
    assert Thresholds.restored(earlier).parts == {}
    with pytest.raises(ValueError, match="this version does not"):
        Thresholds.restored({**thresholds.stored(), "parts": {"colour": [1.0, 2.0, 3.0]}})
