"""The page about runs: its numbers are those of the runs, its names those of the user."""

import re

import numpy as np
import pytest

import kmcf
from kmcf.datasets import Recording
from kmcf.export import write_report

RNG = np.random.default_rng(0)
POSTS = np.array([[0.0, 3.0], [3.0, -1.0], [-3.0, -2.0]])


def walk(name, steps=40):
    states = np.cumsum(RNG.normal(scale=0.3, size=(steps, 2)), axis=0)
    seen = np.linalg.norm(states[:, None] - POSTS, axis=2) + 0.1 * RNG.normal(size=(steps, 3))
    names = {"states": ("east", "north"), "time": ("clock",)}
    return Recording(name, 0.5 * np.arange(steps), states, seen, names=names)


TRAIN, TESTS = walk("train", 120), [walk("monday"), walk("tuesday"), walk("friday")]


@pytest.fixture(scope="module")
def filters():
    transition = kmcf.transitions.GaussianRandomWalk(0.3)
    flt = kmcf.KernelMonteCarloFilter(transition, engine="exact", n_particles=60, random_state=0)
    flt.fit(TRAIN.states, TRAIN.observations)
    return flt, kmcf.baselines.rivals(flt, ["nearest"])["nearest"]


@pytest.fixture(scope="module")
def runs(filters):
    return [[flt.filter(test.observations) for test in TESTS] for flt in filters]


def plain(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_numbers_and_names_are_on_the_page(runs, tmp_path):
    ours, theirs = runs
    path = write_report(tmp_path / "p.html", TESTS, ours, rivals={"nearest": theirs}, unit="m", time_unit="s")
    page, words = path.read_text(), plain(path.read_text())
    for method, some in (("this filter", ours), ("nearest", theirs)):
        errors = [np.linalg.norm(run.mean - test.states, axis=1) for run, test in zip(some, TESTS, strict=True)]
        mean, median = np.mean(np.concatenate(errors)), np.median(np.concatenate(errors))
        assert f"{method}: mean error {mean:.3g}, median {median:.3g}" in words
    for name in ("east (m)", "north (m)", "clock (s)", "monday", "tuesday", "friday", "Belief over place"):
        assert name in page
    middle = sorted(zip([np.linalg.norm(r.mean - t.states, axis=1).mean() for r, t in zip(ours, TESTS, strict=True)],
                        [t.name for t in TESTS], strict=True))[1][1]  # fmt: skip
    assert f"{middle}, all 40 steps." in words


def test_worst_moments_are_the_largest_errors(runs, tmp_path):
    page = write_report(tmp_path / "p.html", TESTS, runs[0]).read_text()
    errors = [np.linalg.norm(run.mean - test.states, axis=1) for run, test in zip(runs[0], TESTS, strict=True)]
    largest = max(float(e.max()) for e in errors)
    table = page[page.index('id="worst-moments"') :]
    first = float(
        re.search(r'<td class="number" data-value="[\d.]+">[^<]+</td><td class="number" data-value="([\d.]+)"', table)[
            1
        ]
    )
    assert first == pytest.approx(largest, rel=1e-3)


@pytest.mark.slow
def test_smoothed_runs_stand_beside_what_the_filter_said(filters, tmp_path):
    smoothed = [filters[0].smooth(test.observations) for test in TESTS[:1]]
    words = plain(write_report(tmp_path / "p.html", TESTS[:1], smoothed).read_text())
    for kind, run in (("smoothed", smoothed[0]), ("filtered", smoothed[0].filtered)):
        mean = np.mean(np.linalg.norm(run.mean - TESTS[0].states, axis=1))
        assert f"this filter, {kind}: mean error {mean:.3g}" in words
    page = smoothed[0].report(tmp_path / "q.html").read_text()
    assert "filtered estimate" in page
    assert "smoothed estimate, 95 % interval" in page


def test_without_truth_there_are_no_errors(runs, tmp_path):
    blind = [Recording(t.name, t.time, np.empty((40, 0)), t.observations, names={"time": ("clock",)}) for t in TESTS]
    page = write_report(tmp_path / "p.html", blind, runs[0], states=["a", "b"]).read_text()
    assert "Worst moments" not in page
    assert "Estimated path" in page
    assert "a over time" in page


def test_a_run_reports_itself(filters, tmp_path):
    run = filters[0].name_states(["east (m)", "north (m)"]).filter(TESTS[0].observations)
    page = run.report(tmp_path / "run.html", truth=TESTS[0].states, time_unit="s").read_text()
    assert "east (m) over time" in page
    assert "Worst moments" in page
    assert "examples" in page
    assert run.state_names == ("east (m)", "north (m)")
    assert run.plot()[0].get_ylabel() == "east (m)"
    batch = filters[0].filter(np.stack([test.observations for test in TESTS]))
    assert batch[1].state_names == run.state_names
    with pytest.raises(TypeError, match=r"run\[b\]"):
        batch.report(tmp_path / "b.html")


def test_names_come_from_data_frames_and_stay_in_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TRAIN.states, columns=["east", "north"])
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.3), engine="exact", random_state=0)
    flt.fit(frame, TRAIN.observations).save(tmp_path / "m.kmcf")
    again = kmcf.load(tmp_path / "m.kmcf")
    assert again.state_names_ == ("east", "north")
    assert again.filter(TESTS[0].observations[:2]).state_names == ("east", "north")
    assert flt.fit(TRAIN.states, TRAIN.observations).filter(TESTS[0].observations[:2]).state_names == (
        "state 0",
        "state 1",
    )
    with pytest.raises(ValueError, match="2 coordinates"):
        flt.name_states(["east"])


def test_one_run_per_recording(runs, tmp_path):
    with pytest.raises(ValueError, match="2 runs for 3 recordings"):
        write_report(tmp_path / "p.html", TESTS, runs[0][:2])


def test_derived_velocities_are_shown_but_not_judged(tmp_path):
    moving = kmcf.datasets.with_velocity_columns(TRAIN)
    motion = kmcf.transitions.RecordedMoves().fit(moving)
    flt = kmcf.KernelMonteCarloFilter(motion, engine="exact", random_state=0).fit(moving.states, moving.observations)
    test = kmcf.datasets.with_velocity_columns(TESTS[0])
    run = flt.filter(test.observations)
    page = plain(write_report(tmp_path / "moving.html", [test], [run], examples=moving.states, unit="m").read_text())
    error = np.linalg.norm(run.mean[:, :2] - TESTS[0].states, axis=1)
    assert f"mean error {error.mean():.3g}" in page
    assert "north_velocity over time" in page
    again = plain(run.report(tmp_path / "run.html", truth=TESTS[0].states, unit="m").read_text())
    assert f"mean error {error.mean():.3g}" in again
