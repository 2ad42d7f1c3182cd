"""The study: what is compared, and what becomes of the sums."""

import numpy as np
import pytest
from scipy import stats

from kmcf_lab.normalisation import study
from kmcf_lab.normalisation.checks import VARIANTS
from kmcf_lab.tables import rows_of


def test_every_variant_has_an_error_on_every_data_set(results):
    rows = rows_of(results, "errors")
    assert len(rows) == 2 * 3
    assert all(0.1 < row[name] < 20.0 for row in rows for name in ("normalised", *VARIANTS))


def test_sums_are_looked_at_for_every_size_and_schedule(results):
    rows = rows_of(results, "sums")
    assert len(rows) == 2 * 2 * 2 * 2
    assert all(row["away_from_one"] >= 0.0 for row in rows)


def test_schedules_agree_at_the_anchor_only():
    assert study.regularisers("held", study.ANCHOR) == study.regularisers("shrinking", study.ANCHOR)
    assert study.regularisers("shrinking", 4 * study.ANCHOR)["epsilon"] == pytest.approx(5e-4)


def test_what_is_said_about_sums_leaves_undefined_steps_out():
    rng = np.random.default_rng(0)
    sums, deviations = 1.0 + 0.1 * rng.normal(size=20), rng.normal(size=(20, 1))
    about = study._about_sums(np.append(sums, np.nan), np.append(deviations, [[9.0]], axis=0))
    away = np.abs(sums - 1.0)
    assert about["typically_away"] == pytest.approx(np.median(away))
    assert about["rank_correlation"] == pytest.approx(stats.spearmanr(away, np.abs(deviations[:, 0])).statistic)
