"""Pictures of beliefs: what is drawn is what was computed."""

import numpy as np
import pytest
from drawing import line, several

import kmcf

pyplot = pytest.importorskip("matplotlib.pyplot")


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


def test_a_belief_that_cannot_be_drawn_says_so(one, words):
    run, _ = one
    with pytest.raises(ValueError, match=r"truth has shape \(2,\)"):
        run[0].plot(truth=[1.0, 2.0])
    with pytest.raises(TypeError, match=r"list of 10 objects \(str\), which cannot be drawn"):
        words.start().plot()
