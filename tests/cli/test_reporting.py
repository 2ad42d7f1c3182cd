"""Pages and rivals on a user's own files."""

import json
import sys

import numpy as np
import pytest
from cli_cases import FIT, TEST, fail, fit_model, invoke, numbers, read_csv, succeed, walk, write_csv

import kmcf


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit_model(tmp_path_factory.mktemp("model"), "--engine", "exact", "--n-particles", 60)[0]


@pytest.fixture
def test_file(tmp_path):
    return write_csv(tmp_path / "test.csv", *TEST)


@pytest.mark.slow
def test_evaluate_compares_and_writes_a_page(model, test_file, tmp_path):
    words = (
        "evaluate",
        model,
        test_file,
        "--compare",
        "knn-pf,nearest",
        "--report",
        tmp_path / "p.html",
        "--unit",
        "m",
    )
    found = json.loads(succeed(*words, "--json").stdout)
    succeed("filter", model, test_file, "-o", tmp_path / "s.csv")
    errors = np.linalg.norm(numbers(read_csv(tmp_path / "s.csv"), "mean_x", "mean_y") - TEST[0], axis=1)
    assert found["all"]["mean_error"] == pytest.approx(errors.mean(), rel=1e-6)
    assert found["all"]["median_error"] == pytest.approx(np.median(errors), rel=1e-6)
    flt = kmcf.load(model)
    near = kmcf.baselines.NearestNeighbor(flt.transition, random_state=0).fit(*flt.learnt_.examples)
    nearest = np.linalg.norm(near.filter(TEST[1]).mean - TEST[0], axis=1).mean()
    assert found["methods"]["nearest"]["mean_error"] == pytest.approx(nearest)
    page = (tmp_path / "p.html").read_text()
    assert all(words in page for words in ("x (m)", "knn-pf", "Worst moments", "Belief over x and time", "Alarms"))
    told = succeed(*words).stdout
    assert "nearest" in told
    assert "file://" in told


@pytest.mark.slow
def test_filter_writes_a_page(model, test_file, tmp_path):
    told = succeed("filter", model, test_file, "-o", tmp_path / "s.csv", "--report", tmp_path / "p.html").stderr
    assert "saved" in told
    page = (tmp_path / "p.html").read_text()
    assert "y over time" in page
    assert "Worst moments" not in page  # nobody knows the truth here
    assert "no --report" in fail("filter", model, "-", "--report", tmp_path / "p.html", input=b"")
    assert "ends in .html" in fail("filter", model, test_file, "--report", tmp_path / "p.pdf")


def test_a_page_that_cannot_be_drawn_is_refused_before_the_work(model, test_file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "bokeh", None)
    result = invoke("filter", model, test_file, "-o", tmp_path / "s.csv", "--report", tmp_path / "p.html")
    assert result.exit_code == 1
    assert "this needs bokeh; install it with: pip install 'kmcf[report]'" in result.stderr
    assert not (tmp_path / "s.csv").exists()
    assert not (tmp_path / "p.html").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kmcf.CalibrationWarning", "ignore::kmcf.RejectedStepWarning")  # short walks
def test_crossvalidate(tmp_path, monkeypatch):
    files = [write_csv(tmp_path / f"walk{k}.csv", *walk(24, k)) for k in range(2)]
    monkeypatch.chdir(tmp_path)
    settings = ("--engine", "exact", "--n-particles", "30", "--calibrate")
    found = json.loads(succeed("crossvalidate", *files, *FIT, *settings, "--compare", "nearest", "--json").stdout)
    assert found["folds"] == 2
    assert (tmp_path / "crossvalidation.html").is_file()
    recordings = kmcf.datasets.read_tables(files, state=["x", "y"], observation="d*", time="t")
    errors, inside = [], []
    for train, test in (recordings[::-1], recordings):
        motion = kmcf.transitions.GaussianRandomWalk().fit([train])
        flt = kmcf.KernelMonteCarloFilter(motion, engine="exact", n_particles=30, random_state=0)
        flt.fit(train.states, train.observations)
        flt.calibrate(train.states, train.observations, groups=np.zeros(len(train)), times=train.time)
        run = flt.filter(test.observations, times=test.time)
        errors.append(np.linalg.norm(run.mean - test.states, axis=1))
        inside.append((run.interval[:, 0] <= test.states) & (test.states <= run.interval[:, 1]))
    assert found["methods"]["this filter"]["mean_error"] == pytest.approx(np.concatenate(errors).mean())
    assert found["methods"]["this filter"]["inside"] == pytest.approx(np.concatenate(inside).mean())
    assert "one sensor" in fail("crossvalidate", *files, "-s", "x,y", "--sensor", "a=d0", "--sensor", "b=d1")


def test_one_sequence_is_divided_into_blocks(tmp_path, test_file):
    words = ("crossvalidate", test_file, *FIT, "--engine", "exact", "--compare", "nearest", "--folds", "3")
    told = succeed(*words, "--report", tmp_path / "p.html").stdout
    assert "in 3 folds" in told
    assert "nearest" in told
    assert "test, block 2" in (tmp_path / "p.html").read_text()
