"""Coverage, width and ranks before and after calibration."""

import warnings

import numpy as np
import pytest
from scipy.stats import norm

from kmcf import CalibrationWarning
from kmcf.filter import Belief
from kmcf_lab.bench import calibration
from kmcf_lab.bench.calibration import RANKS, CalibrationCell, rank_of, summarise


@pytest.fixture(scope="module")
def cells():
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)  # forty examples
        patch.setattr(calibration, "LENGTH", 60)
        patch.setattr(calibration, "PARTICLES", 100)
        yield calibration.measure_calibration(["1a"], [40], repetitions=1, report=lambda message: None)
    calibration._oracle.cache_clear()


def test_every_method_is_measured_against_the_oracle(cells):
    assert [cell.method for cell in cells] == list(calibration.METHODS)
    found = {cell.method: cell for cell in cells}
    assert found["oracle"].width == 1.0
    assert found["KMCF, calibrated"].inside >= found["KMCF"].inside
    assert all(sum(cell.ranks) == 60 for cell in cells)


def test_ranks_of_draws_from_the_belief_are_uniform():
    rng = np.random.default_rng(0)
    belief = Belief(norm.ppf((np.arange(400) + 0.5) / 400)[:, None], np.full(400, 1 / 400), time=1)
    counts = np.bincount([rank_of(belief, x, rng) for x in rng.normal(size=1000)], minlength=RANKS)
    assert len(counts) == RANKS
    assert (np.abs(counts - 50) < 5 * np.sqrt(50)).all()
    narrow = Belief(0.5 * belief.states, belief.weights, time=1)
    ends = np.bincount([rank_of(narrow, x, rng) for x in rng.normal(size=300)], minlength=RANKS)[[0, -1]]
    assert (ends > 45).all()


def test_a_truth_that_equals_quantiles_gets_one_of_their_ranks():
    rng = np.random.default_rng(1)
    atom = Belief(np.full((10, 1), 3.0), np.full(10, 0.1), time=1)
    assert len({rank_of(atom, 3.0, rng) for _ in range(500)}) == RANKS


def test_rows_average_over_data_sets():
    plain = {"rmse": 1.0, "ranks": (1, 2)}
    cells = [
        CalibrationCell("1a", 9, k, method, inside, width, crps, score, **plain)
        for k, method, inside, width, crps, score in (
            (0, "KMCF", 0.8, 1.0, 2.0, 6.0),
            (1, "KMCF", 1.0, 3.0, 4.0, 6.0),
            (0, "oracle", 0.95, 1.0, 1.0, 2.0),
            (1, "oracle", 0.95, 1.0, 2.0, 4.0),
        )
    ]
    row = summarise(cells)[0]
    assert (row.inside, row.width, row.crps, row.interval_score) == (0.9, 2.0, 2.0, 2.0)
    assert row.spread == pytest.approx(np.std([0.8, 1.0], ddof=1))
    assert row.ranks == (2, 4)


def test_the_figure_is_saved(cells, tmp_path):
    paths = calibration.draw_ranks(summarise(cells), tmp_path)
    assert {path.suffix for path in paths} == {".png", ".svg"}
