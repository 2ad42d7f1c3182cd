"""Pictures of runs: what is drawn is what was computed."""

import numpy as np
import pytest
from drawing import line, several

import kmcf

pyplot = pytest.importorskip("matplotlib.pyplot")


def test_a_run_of_one_coordinate(one):
    run, truth = one
    axes = run.plot(truth=truth)
    assert len(axes) == 3
    np.testing.assert_array_equal(axes[2].get_lines()[0].get_ydata(), run.coverage)
    np.testing.assert_array_equal(line(axes[0], "posterior mean").get_xydata(), np.c_[run.time, run.mean[:, 0]])
    np.testing.assert_array_equal(line(axes[0], "truth").get_ydata(), truth[:, 0])
    np.testing.assert_array_equal(line(axes[0], "no observation").get_xdata(), [5, 6])
    np.testing.assert_array_equal(axes[1].get_lines()[0].get_ydata(), run.ess)
    assert axes[0].get_ylabel() == "state"
    assert "effective" in axes[1].get_ylabel()


def test_the_band_is_the_95_percent_interval(one):
    run, _ = one
    (band,) = run.plot()[0].collections
    corners = band.get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx(run.interval[:, 1, 0].max())
    assert corners[:, 1].min() == pytest.approx(run.interval[:, 0, 0].min())


def test_a_run_of_two_coordinates_and_given_axes():
    run = several(2)
    _, given = pyplot.subplots(3, 1)
    axes = run.plot(axes=given)
    assert axes is given
    for j in range(2):
        np.testing.assert_array_equal(line(axes[j], "posterior mean").get_ydata(), run.mean[:, j])
        assert axes[j].get_ylabel() == f"state {j}"


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")  # random data: now and then weights cancel
def test_true_angles_are_drawn_beside_their_estimate():
    """Angles that differ by whole turns are the same: the truth is drawn at the turn of the estimate."""
    run = several(1, angles=(0,))
    truth = run.mean + 0.1 + 2 * np.pi * np.array([[3], [-1], [0], [2], [1], [-4]])
    drawn = line(run.plot(truth=truth)[0], "truth").get_ydata()
    np.testing.assert_allclose(drawn, run.mean[:, 0] + 0.1, atol=1e-9)


def test_true_positions_are_drawn_where_states_have_velocities():
    run = several(2)
    axes = run.plot(truth=run.mean[:, :1] + 1.0)
    np.testing.assert_allclose(line(axes[0], "truth").get_ydata(), run.mean[:, 0] + 1.0)
    assert np.isnan(line(axes[1], "truth").get_ydata()).all()


def test_a_run_that_cannot_be_drawn_says_so(one, words):
    run, truth = one
    with pytest.raises(ValueError, match=r"truth has shape \(5, 1\); it must hold 12 states with 1 columns"):
        run.plot(truth=truth[:5])
    X = np.random.default_rng(0).normal(size=(20, 1))
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, random_state=0).fit(X, X)
    with pytest.raises(ValueError, match=r"batch of runs.*run\[b\].plot"):
        flt.filter(X[:6].reshape(2, 3, 1)).plot()
    with pytest.raises(TypeError, match="objects"):
        words.filter(X[:2]).plot()


def test_times_are_drawn_where_there_are_any():
    walk = kmcf.transitions.GaussianRandomWalk(0.5)
    states = np.random.default_rng(0).normal(size=(30, 1))
    flt = kmcf.KernelMonteCarloFilter(walk, random_state=0).fit(states, states)
    axes = flt.filter([0.1, 0.2, None], times=[3.0, 3.5, 9.0]).plot()
    np.testing.assert_array_equal(line(axes[0], "posterior mean").get_xdata(), [3.0, 3.5, 9.0])
    np.testing.assert_array_equal(line(axes[0], "no observation").get_xdata(), [9.0])
    assert axes[-1].get_xlabel() == "time"


def test_steps_with_an_alarm_are_shaded():
    columns = {"time": np.arange(1, 7), "mean": np.zeros((6, 1)), "interval": np.zeros((6, 2, 1)), "ess": np.ones(6)}
    columns |= {"coverage": np.ones(6), "missing": np.zeros(6, bool), "rejected": np.zeros(6, bool)}
    reasons = np.array(["", "lost", "lost", "", "", "changed sensor"])
    run = kmcf.filter.FilterRun.of_columns({**columns, "alarm": reasons != "", "alarm_reason": reasons})
    first, second = run.plot()[0].patches
    assert (first.get_x(), first.get_width()) == (1.5, 2.0)
    assert (second.get_x(), second.get_width()) == (5.5, 1.0)
    assert first.get_label() == "alarm: lost (2), changed sensor (1)"
    quiet = kmcf.filter.FilterRun.of_columns(columns)
    assert len(quiet.plot()[0].patches) == 0


def test_alarms_are_shaded_where_their_times_are():
    columns = {"time": np.arange(1, 5), "mean": np.zeros((4, 1)), "interval": np.zeros((4, 2, 1)), "ess": np.ones(4)}
    columns |= {"coverage": np.ones(4), "missing": np.zeros(4, bool), "rejected": np.zeros(4, bool)}
    reasons = np.array(["", "lost", "changed sensor", "uncovered state"])
    columns |= {"times": np.array([10.0, 11.0, 13.0, 20.0]), "alarm": reasons != "", "alarm_reason": reasons}
    (shaded,) = kmcf.filter.FilterRun.of_columns(columns).plot()[0].patches
    assert (shaded.get_x(), shaded.get_width()) == (10.5, 13.0)  # from halfway to the step before, half a step further
    assert shaded.get_label() == "alarm: lost (1), changed sensor (1),\nuncovered state (1)"
