"""The picture of a study: what is drawn is what was tried."""

import numpy as np
import pytest
from tuning_cases import run

from kmcf.support.search_space import Category

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


def test_trials_defaults_and_result_are_drawn():
    result = run(n_trials=6, space={"rule": Category(("kbr", "importance"))})
    complete = sorted((row for row in result.rows if row["status"] == "complete"), key=lambda row: row["value"])
    axes = dict(zip(result.best_params, result.plot(), strict=True))
    assert len(axes) == 5
    for name in ("epsilon", "state_kernel__multiplier"):
        dots, star, line = axes[name].get_lines()
        np.testing.assert_allclose(dots.get_xydata(), [(row[name], row["value"]) for row in complete])
        np.testing.assert_allclose(star.get_xydata(), [(result.rows[0][name], result.untuned_value)])
        np.testing.assert_allclose(line.get_xdata()[0], result.best_params[name])
        assert axes[name].get_xscale() == "log"
    assert axes["rule"].get_xscale() == "linear"
    pyplot.close("all")


def test_given_axes_are_used():
    _, given = pyplot.subplots(1, 4)
    assert list(run(n_trials=2).plot(axes=given)) == list(given)
    pyplot.close("all")
