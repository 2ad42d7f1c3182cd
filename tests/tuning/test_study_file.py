"""Studies on disk: interrupted, resumed, mistaken for another."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import kmcf
from kmcf.support.search_space import Category

MODEL = kmcf.datasets.paper_model("1a")
DATA = MODEL.simulate(50, random_state=0)


def run(path, n_trials, states=DATA.states, random_state=3, **options):
    flt = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial)
    return kmcf.tune(
        flt, states, DATA.observations, n_trials=n_trials, random_state=random_state, study=path, **options
    )


def test_a_resumed_study_is_the_uninterrupted_one(tmp_path):
    whole = run(None, 12)
    run(tmp_path / "new" / "s.jsonl", 5)
    resumed = run(tmp_path / "new" / "s.jsonl", 12)
    assert [t.value for t in resumed.trials] == pytest.approx([t.value for t in whole.trials], nan_ok=True)
    assert resumed.best_params == whole.best_params
    assert len((tmp_path / "new" / "s.jsonl").read_text().splitlines()) == 13


def test_finished_trials_are_not_run_again(tmp_path, monkeypatch):
    path = tmp_path / "s.jsonl"
    first = run(path, 4)
    monkeypatch.setattr("kmcf.tuning.evaluation.Judge.run", lambda *a: pytest.fail("a trial ran again"))
    assert run(path, 4).best_params == first.best_params
    assert run(path, 4, random_state=None).best_params == first.best_params  # the seed is in the file


def test_a_line_cut_short_is_a_trial_that_had_not_ended(tmp_path):
    path = tmp_path / "s.jsonl"
    whole = run(path, 4)
    path.write_bytes(path.read_bytes()[:-20])
    np.testing.assert_array_equal([t.value for t in run(path, 4).trials], [t.value for t in whole.trials])
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_options_are_kept_by_position(tmp_path):
    path = tmp_path / "s.jsonl"
    space = {"observation_kernel": Category((kmcf.kernels.Gaussian(), kmcf.kernels.Laplace()))}
    first = run(path, 5, space=space)
    again = run(path, 5, space=space)
    assert (
        again.rows[3]["observation_kernel"]
        is space["observation_kernel"].options[
            space["observation_kernel"].options.index(first.rows[3]["observation_kernel"])
        ]
    )


@pytest.mark.parametrize(("jobs", "kept"), [(1, 12), (2, 13)])
def test_a_study_by_optuna_that_was_stopped_is_the_uninterrupted_one(tmp_path, jobs, kept):
    """Twelve random trials come first; those after them depend on all that was learnt before."""
    joblib = pytest.importorskip("joblib")
    pytest.importorskip("optuna")
    path = tmp_path / "s.jsonl"
    with joblib.parallel_config("threading"):
        whole = run(path, 15, sampler="optuna", n_jobs=jobs)
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines[: 1 + kept]))  # with two jobs, in the middle of a round
        resumed = run(path, 15, sampler="optuna", n_jobs=jobs)
    assert [trial.proposal for trial in resumed.trials] == [trial.proposal for trial in whole.trials]
    assert [trial.value for trial in resumed.trials] == pytest.approx([t.value for t in whole.trials], nan_ok=True)
    assert resumed.best_params == whole.best_params


def test_optuna_learns_from_the_trials_of_another_sampler(tmp_path):
    pytest.importorskip("optuna")
    path = tmp_path / "s.jsonl"
    first = run(path, 4)
    later = run(path, 7, sampler="optuna").trials
    assert [trial.proposal for trial in later[:4]] == [trial.proposal for trial in first.trials]
    assert len(later) == 7


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"states": DATA.states + 1.0}, "states"),
        ({"random_state": 4}, "random_state"),
        ({"metric": "mode"}, "metric"),
        ({"folds": 3}, "validation"),
        ({"space": {"epsilon": None}}, "space"),
        ({"groups": [0] * 25 + [1] * 25}, "groups"),
    ],
)
def test_another_study_is_refused(tmp_path, change, part):
    path = tmp_path / "s.jsonl"
    run(path, 2)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"belongs to another study: it differs in {part}"):
        run(path, 2, **change)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "text", ["hello\n", '{"some": "json"}\n', "[1]\n", '{"kmcf_study": 2}\n', '{"kmcf_study": 2, "description": {}}\n']
)
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match="is not a study file"):
        run(path, 2)
    assert path.read_text() == text


@pytest.mark.slow
def test_a_killed_study_loses_only_the_running_trial(tmp_path):
    path = tmp_path / "s.jsonl"
    code = (
        "import kmcf, time\n"
        "model = kmcf.datasets.paper_model('1a'); data = model.simulate(50, random_state=0)\n"
        "def move(s, u, rng):\n    time.sleep(0.001)\n    return model.transition(s, u, rng)\n"
        "flt = kmcf.KernelMonteCarloFilter(move, initial=model.initial)\n"
        f"kmcf.tune(flt, data.states, data.observations, n_trials=10000, random_state=3, study={str(path)!r})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        for _ in range(600):
            if path.exists() and path.read_text().count("\n") >= 4:
                break
            time.sleep(0.05)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    lines = path.read_text().splitlines()
    complete = [line for line in lines[1:] if line.endswith("}")]
    assert len(complete) >= 3
    assert [json.loads(line)["number"] for line in complete] == list(range(len(complete)))


class Interrupting:
    """A metric during whose call Ctrl-C comes, and compiled code makes an error of it."""

    __name__ = "interrupting"

    def __init__(self, after):
        self.left = after

    def __call__(self, belief, state):
        self.left -= 1
        if self.left < 0:
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        return float(abs(belief.mean()[0] - state[0]))


def test_ctrl_c_in_compiled_code_is_no_failed_trial(tmp_path):
    path = tmp_path / "s.jsonl"
    with pytest.raises(KeyboardInterrupt) as caught:
        run(path, 6, metric=Interrupting(170), prune=False)
    assert caught.value.__notes__ == [f"3 trials are kept in {path}; run the same again to continue."]
    with pytest.raises(KeyboardInterrupt) as caught:
        run(None, 6, metric=Interrupting(170), prune=False)
    assert "3 trials had ended, and none is kept: a study file" in caught.value.__notes__[0]
    trials = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert [trial["status"] for trial in trials] == ["complete"] * 3
    resumed = run(path, 6, metric=Interrupting(10**9), prune=False)
    whole = run(None, 6, metric=Interrupting(10**9), prune=False)
    assert [trial.value for trial in resumed.trials] == [trial.value for trial in whole.trials]


def test_ctrl_c_in_a_worker_ends_the_study(tmp_path):
    joblib = pytest.importorskip("joblib")
    path = tmp_path / "s.jsonl"
    with pytest.raises(KeyboardInterrupt), joblib.parallel_config("threading"):
        run(path, 6, metric=Interrupting(20), prune=False, n_jobs=2)
    assert [json.loads(line) for line in path.read_text().splitlines()[1:]] == []


def test_ctrl_c_while_a_trial_is_written_leaves_a_whole_line(tmp_path, monkeypatch):
    path = tmp_path / "s.jsonl"
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sync = os.fsync

    def interrupt(handle):
        if path.exists() and path.read_text().count("\n") >= 3:
            os.kill(os.getpid(), signal.SIGINT)
        sync(handle)

    monkeypatch.setattr(os, "fsync", interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(path, 6)
    finally:
        signal.signal(signal.SIGINT, before)
    assert [json.loads(line)["number"] for line in path.read_text().splitlines()[1:]] == [0, 1]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{}", "lacks number, variant, settings"),
        ("7", "is not a trial"),
        ('{"number": 1}', "lacks variant"),
        ({"value": "much"}, "is not a trial of this study"),
        ({"variant": "other"}, "is not a trial of this study"),
        ({"settings": {"nothing": 1.0}}, "is not a trial of this study"),
        ({"status": "odd"}, "status makes no sense"),
    ],
    ids=str,
)
def test_lines_that_are_no_trials_are_named(tmp_path, line, told):
    path = tmp_path / "s.jsonl"
    run(path, 2)
    whole = path.read_text().splitlines()
    spoiled = line if isinstance(line, str) else json.dumps({**json.loads(whole[2]), **line})
    path.write_text("\n".join([*whole[:2], spoiled]) + "\n")
    with pytest.raises(ValueError, match=rf"s\.jsonl, line 3 .*{told}"):
        run(path, 2)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "s.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is not a study file"):
        run(tmp_path / "s.jsonl", 2)


def test_a_study_is_kept_in_an_ordinary_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is not a regular file, so it cannot keep a study"):
        run(tmp_path / "pipe", 2)
