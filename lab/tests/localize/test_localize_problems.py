"""Problems: what is loaded, how it is divided, what the methods are given."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from stand_ins import carmen_file, cold_folder, mrclam_folder, radio_folder

from kmcf.datasets import carmen_log, examples, thinned
from kmcf.datasets.carmen import SPLITS
from kmcf.transitions import ConstantVelocity, GaussianRandomWalk, OdometryMotion
from kmcf_lab.localize.experiment import Experiment, chosen_folds
from kmcf_lab.localize.fingerprints import digest_of
from kmcf_lab.localize.laser import held_out_pass
from kmcf_lab.localize.methods import METHODS, fitted, unfitted
from kmcf_lab.localize.motion import fitted_motion, inflated
from kmcf_lab.localize.problem import Data, Measure
from kmcf_lab.localize.registry import PROBLEMS, problem_named
from kmcf_lab.localize.splits import rarely_observed
from kmcf_lab.localize.tuning import tuned


@pytest.fixture(scope="module")
def radio(tmp_path_factory):
    return Experiment("ble", radio_folder(tmp_path_factory.mktemp("radio")))


def test_every_problem_is_complete():
    for name, problem in PROBLEMS.items():
        assert problem.name == name
        assert set(problem.methods) <= set(METHODS)
        assert problem.title
        assert problem.about.endswith(".")
        assert bool(problem.needs) == (name not in ("ble", "building"))
    with pytest.raises(ValueError, match="no localization problem 'moon'; choose one of ble, mrclam"):
        problem_named("moon")


def test_a_test_track_is_never_among_its_examples(radio):
    folds = radio.folds()
    assert [fold.name for fold in folds] == ["walk_0", "walk_1", "walk_2"]
    for fold in folds:
        examples = {row.tobytes() for row in fold.observations}
        assert not examples & {row.tobytes() for row in fold.test.observations}
        assert fold.size == sum(len(one) for one in fold.training) == 48
        assert fold.name not in [one.name for one in fold.training]


def test_folds_are_chosen_by_name_or_number(radio):
    assert chosen_folds(radio, None) == ["walk_0", "walk_1", "walk_2"]
    assert chosen_folds(radio, "2") == ["walk_0", "walk_2"]
    assert chosen_folds(radio, "walk_1; walk_0") == ["walk_1", "walk_0"]
    for wrong, words in {"walk_7": "there is no fold 'walk_7'", "0": "at least one", ";": "there are walk_0"}.items():
        with pytest.raises(ValueError, match=words):
            chosen_folds(radio, wrong)


def test_the_laser_split_keeps_its_distance(tmp_path):
    log = carmen_log(carmen_file(tmp_path / "drive.log"))
    (fold,) = held_out_pass(Data([log]), log="intel")
    first, last, buffer = SPLITS["intel"]["test"]
    np.testing.assert_array_equal(fold.test.time, np.arange(first, last))
    trained = np.concatenate([part.time for part in fold.training])
    np.testing.assert_array_equal(trained, [*range(first - buffer), *range(last + buffer, 200)])
    start, stop, gap = SPLITS["intel"]["validation"]
    *rest, validation = fold.tuning
    assert fold.validation == (validation.name,)
    np.testing.assert_array_equal(validation.time, np.arange(start, stop))
    tuned_on = np.concatenate([part.time for part in rest])
    np.testing.assert_array_equal(tuned_on, [*range(start - gap), *range(last + buffer, 200)])
    assert len({part.name for part in fold.tuning}) == len(fold.tuning)
    with pytest.raises(ValueError, match="has 200 scans, but the split of freiburg-079 needs 3630"):
        held_out_pass(Data([log]), log="freiburg-079")


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("ble", radio_folder),
        ("mrclam", mrclam_folder),
        ("intel", lambda folder: carmen_file(folder / "drive.log")),
        ("cold", cold_folder),
    ],
)
def test_methods_find_their_way_on_each_kind_of_data(name, make, tmp_path):
    if name == "cold":
        pytest.importorskip("cv2")
    experiment = Experiment(name, make(tmp_path), quick=True)
    fold = experiment.folds()[0]
    chance = np.mean(np.linalg.norm(fold.states[:, None, :2] - fold.test.states[:, :2], axis=2))
    for method in ("kmcf", "knn-pf", "kbr", "nai", "knn"):
        flt = fitted(unfitted(method, experiment.settings, fold, seed=0), fold)
        run = flt.filter(fold.test.observations, fold.test.controls)
        error = np.linalg.norm(run.mean[5:, :2] - fold.test.states[5:, :2], axis=1).mean()
        assert error < 0.6 * chance, method


@pytest.fixture
def robots(tmp_path, monkeypatch):
    """Robots among posts, with two further ways that tuning may go."""
    problem = PROBLEMS["mrclam"]
    settings = problem.quick.changed({"split": {"used_every": 4}, "knn_particles": {"n_particles": 50}})
    ways = {"often": {"split": {"used_every": 2}}, "never": {"split": {"used_every": 1000}}}
    monkeypatch.setitem(PROBLEMS, "mrclam", replace(problem, quick=replace(settings, alternatives=ways)))
    return Experiment("mrclam", mrclam_folder(tmp_path / "robots"), quick=True, trials=3)


def test_tuning_compares_the_ways_to_go(robots, tmp_path):
    study = tmp_path / "study.jsonl"
    ready = robots.ready("robot 1", "knn-pf", study=study)
    values = {}
    for way, file in (("", study), ("often", tmp_path / "study-1.jsonl"), ("never", tmp_path / "study-2.jsonl")):
        header, trial = file.read_text().splitlines()  # three trials, one for each way
        assert "kmcf_study" in header
        values[way] = json.loads(trial)["value"]
    best = min(values, key=values.get)
    assert values["never"] == max(values.values())
    assert ready.tuned.startswith(best)
    assert ready.fold.used_every == {"": 4, "often": 2}[best]
    untuned = replace(robots, trials=0).ready("robot 1", "knn-pf")
    assert (untuned.tuned, untuned.fold.used_every) == ("", 4)


def test_a_trial_is_run_and_judged_as_a_test(robots):
    """Leave one training robot out by hand: examples thinned, observations shown rarely, late steps judged."""
    one = replace(robots, trials=1)
    fold, settings, measure = one.fold("robot 1"), one.settings, Measure("mean", dropped_seconds=20.0)
    flt = unfitted("knn-pf", settings, fold, seed=3)
    found = tuned(flt, settings, fold, measure, trials=1, seed=3)
    errors = []
    order = sorted(range(4), key=lambda k: -len(fold.training[k]))  # folds are dealt by length; here all are as long
    for stream, k in enumerate(order):
        rest = [robot for number, robot in enumerate(fold.training) if number != k]
        fitted_one = clone(flt).set_params(random_state=3).fit(*examples([thinned(one, fold.every) for one in rest]))
        belief = fitted_one.start(stream)
        followed = rarely_observed(fold.training[k], fold.used_every)
        for t in range(len(followed)):
            belief = fitted_one.step(belief, followed.observations[t], followed.controls[t])
            error = np.linalg.norm(belief.mean()[:2] - followed.states[t][:2])
            errors.append(error if followed.time[t] >= 20.0 else 0.0)
    assert found.value == pytest.approx(np.mean(errors), rel=1e-6)


def test_missing_paths_are_named():
    with pytest.raises(ValueError, match=r"mrclam is not in the package: give --path, the folder of one MRCLAM"):
        Experiment("mrclam").data()
    with pytest.raises(ValueError, match="needs no path"):
        Experiment("building", "elsewhere").data()


def test_other_data_or_settings_have_another_fingerprint(radio, tmp_path):
    same, other = (Experiment("ble", radio_folder(tmp_path / str(seed), seed=seed)).folds() for seed in (0, 1))
    for mine, again, different in zip(radio.folds(), same, other, strict=True):
        assert digest_of(mine) == digest_of(again) != digest_of(different)
    problem = radio.problem
    assert digest_of(problem.settings) != digest_of(problem.quick)


@pytest.mark.parametrize(
    ("motion", "control"),
    [(GaussianRandomWalk([0.2, 0.3, 0.1]), None), (OdometryMotion(0.01, 0.01, 0.02, 0.02), np.array([0.0, 2.0, 0.0]))],
)
def test_inflated_motion_spreads_as_much_wider(motion, control):
    moves = [one(np.zeros((40_000, 3)), control, np.random.default_rng(1)) for one in (motion, inflated(motion, 3.0))]
    np.testing.assert_allclose(moves[1][:, 2].std(), 3 * moves[0][:, 2].std(), rtol=0.03)
    assert inflated(motion, 1.0) is motion
    with pytest.raises(ValueError, match="noise of ConstantVelocity cannot be widened"):
        inflated(ConstantVelocity(), 2.0)


def test_motion_is_learnt_from_the_training_tracks_only(radio):
    fold = radio.folds()[0]
    scale = np.sqrt(np.mean(np.concatenate([np.diff(one.states, axis=0) for one in fold.training]) ** 2, axis=0))
    np.testing.assert_allclose(fitted_motion(radio.settings, fold).parameters()["scale"], 2.0 * scale, rtol=0.05)


def test_steps_that_count():
    assert Measure("mean", dropped_share=0.25).judged(np.arange(8.0) + 100).tolist() == [False] * 2 + [True] * 6
    assert Measure("rmse").judged(np.arange(3.0)).all()
    assert Measure("mean", dropped_seconds=5).words == "estimates are posterior means, first 5 s dropped"
