"""Windows on the Bluetooth tracks, with a cheap kernel and short tracks."""

import numpy as np
import pytest

import kmcf
from kmcf_lab.bench import windows
from kmcf_lab.bench.windows import Way, WindowCell, measure_window, summarise_windows


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    tracks = [track[:20] for track in kmcf.datasets.ble_tracks()[:3]]
    monkeypatch.setattr(windows, "ble_tracks", lambda: tracks)
    monkeypatch.setattr(windows, "Learned", kmcf.kernels.Gaussian)
    yield tracks
    windows._learnt.cache_clear()


@pytest.mark.filterwarnings("ignore::kmcf.CalibrationWarning")
def test_what_is_measured_is_what_the_filter_said(cheap):
    plan = list(windows.plan((1, 2), 3))
    assert len(plan) == len(set(plan)) == 27
    assert (Way(1, "nan", "calibrated"), 2) in plan
    assert (Way(2, "nan", "as it is"), 0) in plan
    cells = {how: measure_window(Way(2, "repeat", how), 0) for how in ("as it is", "δ × 100", "calibrated")}
    other = measure_window(Way(2, "nan", "as it is"), 0)
    stacked = [np.hstack([y, np.concatenate([y[:1], y[:-1]])]) for y in (track.observations for track in cheap)]
    states = np.concatenate([track.states for track in cheap[1:]])
    moves = np.concatenate([np.diff(track.states, axis=0) for track in cheap[1:]])
    scale = np.asarray(kmcf.transitions.GaussianRandomWalk().fit(cheap[1:]).scale_)
    np.testing.assert_allclose(scale, np.sqrt((moves**2).mean(axis=0)))
    walk = kmcf.transitions.GaussianRandomWalk(2 * scale)
    kernel = kmcf.kernels.Gaussian()
    flt = kmcf.KernelMonteCarloFilter(walk, observation_kernel=kernel, tolerance="auto", random_state=0)
    run = flt.fit(states, np.concatenate(stacked[1:])).filter(stacked[0])
    error = np.sqrt(((run.mean - cheap[0].states) ** 2).sum(axis=1))
    assert cells["as it is"].error == pytest.approx(error.mean())
    assert cells["as it is"].first == pytest.approx(error[:5].mean())
    assert cells["as it is"].width == pytest.approx(np.ptp(run.interval, axis=1).mean())
    assert cells["calibrated"].error == cells["as it is"].error
    assert cells["calibrated"].inside >= cells["as it is"].inside
    assert len({cells["as it is"].error, cells["δ × 100"].error, other.error}) == 3


def test_rows_weigh_every_step_alike():
    common = (3, "nan", "as it is")
    cells = [
        WindowCell(*common, "a", 0, 30, 1.0, 2.0, 0.9, 4.0),
        WindowCell(*common, "b", 1, 10, 2.0, 4.0, 0.5, 8.0),
    ]
    (row,) = summarise_windows(cells)
    assert (row.error, row.by_track, row.first, row.inside, row.width) == (1.25, 1.5, 3.0, pytest.approx(0.8), 5.0)
