"""Pictures: what is drawn is what was computed."""

import numpy as np
import pytest

import kmcf
from kmcf.datasets import paper_model

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def line(ax, label):
    """The line or dots with a label."""
    (found,) = (drawn for drawn in ax.get_lines() if drawn.get_label() == label)
    return found


@pytest.fixture(scope="module")
def one():
    model = paper_model("1a")
    train, test = model.simulate(60, random_state=0), model.simulate(12, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
    observations = test.observations.copy()
    observations[4:6] = np.nan
    return flt.fit(train.states, train.observations).filter(observations), test.states


def several(d, **settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, d))
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s + 0.1, random_state=0, **settings)
    return flt.fit(X, X).filter(rng.normal(size=(6, d)))


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


def test_true_angles_are_drawn_beside_their_estimate():
    """Angles that differ by whole turns are the same: the truth is drawn at the turn of the estimate."""
    run = several(1, angles=(0,))
    truth = run.mean + 0.1 + 2 * np.pi * np.array([[3], [-1], [0], [2], [1], [-4]])
    drawn = line(run.plot(truth=truth)[0], "truth").get_ydata()
    np.testing.assert_allclose(drawn, run.mean[:, 0] + 0.1, atol=1e-9)


def test_a_belief_on_a_line(one):
    run, truth = one
    ax = run[3].plot(truth=truth[3])
    assert line(ax, "mean").get_xdata()[0] == pytest.approx(run.mean[3, 0])
    assert line(ax, "truth").get_xdata()[0] == pytest.approx(truth[3, 0])
    segments = np.concatenate([np.array(part.get_segments()) for part in ax.collections])
    tips = segments[:, 1]
    np.testing.assert_allclose(
        tips[np.lexsort(tips.T)], (pairs := np.c_[run[3].states[:, 0], run[3].weights])[np.lexsort(pairs.T)]
    )
    assert "step 4" in ax.get_title()
    twin = next(other for other in ax.figure.axes if other is not ax)
    curve = twin.get_lines()[0].get_xydata()
    np.testing.assert_allclose(curve[:, 1], run[3].density(curve[:, 0]))


@pytest.mark.parametrize("d", [2, 3])
def test_a_belief_on_a_map(d):
    run = several(d)
    _, given = pyplot.subplots()
    ax = run[2].plot(ax=given, truth=np.zeros(d))
    assert ax is given
    np.testing.assert_allclose(line(ax, "mean").get_xydata()[0], run.mean[2, :2])
    np.testing.assert_allclose(line(ax, "truth").get_xydata()[0], [0, 0])
    drawn = sum(len(part.get_offsets()) for part in ax.collections)
    assert drawn == np.count_nonzero(run[2].weights)


def test_predictions_and_constant_states_can_be_drawn():
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, random_state=0).fit(np.ones(10), np.arange(10.0))
    run = flt.filter([None, 3.0])
    for belief in (flt.start(), *run):
        belief.plot()
    run.plot()


def test_what_cannot_be_drawn_says_so(one):
    run, truth = one
    with pytest.raises(ValueError, match=r"truth has shape \(5, 1\); it must hold 12 states with 1 columns"):
        run.plot(truth=truth[:5])
    with pytest.raises(ValueError, match=r"truth has shape \(2,\)"):
        run[0].plot(truth=[1.0, 2.0])
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 1))
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, random_state=0).fit(X, X)
    with pytest.raises(ValueError, match=r"batch of runs.*run\[b\].plot"):
        flt.filter(X[:6].reshape(2, 3, 1)).plot()
    words = kmcf.KernelMonteCarloFilter(
        lambda s, u, rng: s,
        state_kernel=lambda A, B: np.array([[float(a == b) for b in B] for a in A]),
        random_state=0,
    ).fit(["a", "b"] * 5, X[:10])
    with pytest.raises(TypeError, match=r"list of 10 objects \(str\), which cannot be drawn"):
        words.start().plot()
    with pytest.raises(TypeError, match="objects"):
        words.filter(X[:2]).plot()
