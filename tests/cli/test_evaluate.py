"""``kmcf evaluate`` computes the errors of their definition."""

import json

import numpy as np
import pytest
from cli_cases import TEST, TRAIN, fail, fit_model, succeed, walk, write_csv

import kmcf


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit_model(tmp_path_factory.mktemp("model"))[0]


def test_errors_are_those_of_the_definition(model, tmp_path):
    parts = [walk(12, 7), walk(20, 8)]
    parts[0][0][3] = np.nan
    files = [write_csv(tmp_path / f"part{k}.csv", *part) for k, part in enumerate(parts)]
    told = json.loads(succeed("evaluate", model, *files, "--json").stdout)
    runs = kmcf.load(model).filter_many([part[1] for part in parts])
    errors = [np.sum((run.mean - part[0]) ** 2, axis=1) for run, part in zip(runs, parts, strict=True)]
    for found, error in zip(told["sequences"], errors, strict=True):
        known = error[np.isfinite(error)]
        assert found["rmse"] == pytest.approx(np.sqrt(known.mean()), rel=1e-12)
        assert found["median_error"] == pytest.approx(np.median(np.sqrt(known)), rel=1e-12)
    assert [found["steps"] for found in told["sequences"]] == [11, 20]
    assert [found["sequence"] for found in told["sequences"]] == ["part0", "part1"]
    together = np.concatenate(errors)
    assert told["all"]["rmse"] == pytest.approx(np.sqrt(np.nanmean(together)), rel=1e-12)
    truth = np.concatenate([part[0] for part in parts])
    bounds = np.concatenate([run.interval for run in runs])
    inside = (truth >= bounds[:, 0]) & (truth <= bounds[:, 1])
    assert told["all"]["inside"] == pytest.approx(inside[np.isfinite(together)].mean())
    shown = succeed("evaluate", model, *files).stdout
    assert f"{told['all']['rmse']:.4g}" in shown


@pytest.mark.slow
def test_smoothed_errors_stand_beside_filtered_ones(model, tmp_path):
    states, seen = walk(20, 8)
    path = write_csv(tmp_path / "walk.csv", states, seen)
    filtered = json.loads(succeed("evaluate", model, path, "--json").stdout)["all"]
    page = tmp_path / "page.html"
    for words, lag in ((("--smooth",), None), (("--lag", 2), 2)):
        told = json.loads(succeed("evaluate", model, path, *words, "--json", "--report", page).stdout)
        run = kmcf.load(model).smooth(seen, lag=lag)
        assert told["all"]["rmse"] == pytest.approx(np.sqrt(np.mean(np.sum((run.mean - states) ** 2, axis=1))))
        assert told["filtered"] == pytest.approx({k: v for k, v in filtered.items() if k != "sequence"}, nan_ok=True)
        assert "this filter, smoothed" in page.read_text()
        assert "this filter, filtered" in page.read_text()
    shown = succeed("evaluate", model, path, "--smooth", "--compare", "nearest").stdout
    assert "smoothed" in shown
    assert f"{filtered['rmse']:.4g}" in shown
    assert "nearest" in shown
    script = succeed("evaluate", model, path, "--smooth", "--compare", "nearest", "--python").stdout
    assert "flt.smooth_many(" in script
    assert "rival.filter_many(" in script
    assert "choose one of them" in fail("evaluate", model, path, "--smooth", "--lag", 2)


def test_what_cannot_be_evaluated(model, tmp_path):
    path = write_csv(tmp_path / "test.csv", *TEST)
    assert "was fitted to 2 state columns, but test.csv gives 1 (x)." in fail("evaluate", model, path, "-s", "x")
    assert "has no column 'z' for the state" in fail("evaluate", model, path, "-s", "z")
    write_csv(path, np.full_like(TEST[0], np.nan), TEST[1])
    assert "no row has a state to compare with." in fail("evaluate", model, path)
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.3), random_state=0).fit(*TRAIN[0])
    flt.save(tmp_path / "bare.kmcf")
    assert "which columns are states" in fail("evaluate", tmp_path / "bare.kmcf", path, "-y", "d*")
