"""What earlier runs measured, and what became slower."""

import json

from kmcf_lab.bench.history import FILE, remember


def row(seconds, n=100, **others):
    return {"problem": "counts", "n": n, "fit_seconds": seconds, "ranks": (3, 4), **others}


def test_only_what_grew_beyond_the_noise_is_told(tmp_path):
    path = tmp_path / "bench_x.json"
    assert remember([row(1.0), row(5.0, n=200)], path) == []
    found = remember([row(1.2), row(9.0, n=200)], path)
    assert [(slower.before, slower.now) for slower in found] == [(5.0, 9.0)]
    assert found[0].what == "problem counts, n 200: fit_seconds"


def test_times_that_always_vary_must_vary_more(tmp_path):
    path = tmp_path / "bench_x.json"
    for seconds in (1.0, 4.0, 1.0, 4.0, 1.0):
        remember([row(seconds)], path)
    assert remember([row(2.2)], path) == []
    assert len(remember([row(20.0)], path)) == 1


def test_studies_and_problems_are_not_mixed_up(tmp_path):
    remember([row(1.0)], tmp_path / "bench_x.json")
    assert remember([row(9.0)], tmp_path / "bench_y.json") == []
    assert remember([row(9.0, n=300)], tmp_path / "bench_x.json") == []


def test_a_damaged_history_is_continued(tmp_path):
    path = tmp_path / "bench_x.json"
    remember([row(1.0)], path)
    with (tmp_path / FILE).open("a") as file:
        file.write('{"study": "ben\n[1]\n')
    assert len(remember([row(9.0, milliseconds=float("nan"))], path)) == 1
    assert json.loads((tmp_path / FILE).read_text().splitlines()[-1])["rows"][0]["fit_seconds"] == 9.0
