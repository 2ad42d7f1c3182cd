"""Section 6.3's division of three drives, on made-up folders in COLD's layout and on plain recordings."""

import json

import numpy as np
import pytest
from stand_ins import cold_folder

from kmcf.baselines import KernelBayesFilter
from kmcf.datasets import Recording
from kmcf.datasets.recording import MOTION
from kmcf.numerics.poses import odometry_controls
from kmcf.transitions import OdometryMotion
from kmcf_lab.localize.experiment import Experiment
from kmcf_lab.localize.methods import METHODS, fitted, unfitted
from kmcf_lab.localize.paper_kernels import OdometryDifference, PaperPose
from kmcf_lab.localize.paper_protocol import paper_folds, sampled, with_unique_names
from kmcf_lab.localize.problem import Data, Measure, Settings
from kmcf_lab.localize.tuning import tuned
from kmcf_lab.localize.vision import PRINTED

TIME = 0.4 * np.arange(100)


def drive(name, offset=0.0):
    poses = np.stack([TIME + offset, np.zeros(100), 0.01 * np.arange(100)], axis=1)
    controls = odometry_controls(poses)
    return Recording(name, TIME, poses, poses[:, :1] + 0.0, controls, names={"controls": MOTION})


DATA = Data([drive("one"), drive("two", 0.1), drive("three", 0.2)])


def test_examples_tuning_and_test_come_from_one_drive_each():
    folds = paper_folds(DATA, sizes=(10, 50, 500), intervals=(2.27, 4.54))
    assert [(fold.size, fold.group) for fold in folds] == [
        (10, "2.27 s"), (50, "2.27 s"), (10, "4.54 s"), (50, "4.54 s"),
    ]  # fmt: skip
    for fold in folds:
        known = {tuple(state) for state in DATA.recordings[0].states}
        assert {tuple(state) for state in fold.states} <= known
        np.testing.assert_array_equal(fold.observations, fold.states[:, :1])
        assert (fold.test.name, fold.validation) == ("three", ("two",))
        assert [one.name for one in fold.training] == ["one"]
        drawn, validated = fold.tuning
        assert (drawn.name, validated.name) == ("one, drawn", "two")
        np.testing.assert_array_equal(drawn.states, fold.states)  # what is tuned learns from the examples drawn
        np.testing.assert_array_equal(drawn.observations, fold.observations)


def test_repetitions_draw_other_examples_and_the_same_repetition_the_same():
    first, again, other = (paper_folds(DATA, k, sizes=(20,), intervals=(2.27,))[0].states for k in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("interval", [0.8, 2.27, 6.81])
def test_sampling_keeps_the_closest_frames_and_chains_their_motions(interval):
    thin = sampled(DATA.recordings[0], interval)
    wanted = np.arange(0.0, TIME[-1], interval)
    assert len(thin) == len(wanted)
    assert np.abs(thin.time - wanted).max() <= 0.2 + 1e-9
    np.testing.assert_allclose(thin.controls, odometry_controls(thin.states), atol=1e-9)


def test_too_few_drives_or_images_are_an_error():
    with pytest.raises(ValueError, match="there are 2 sequences; the paper's protocol needs three"):
        paper_folds(Data(DATA.recordings[:2]))
    with pytest.raises(ValueError, match="has 100 images, fewer than the 400 examples"):
        paper_folds(DATA, sizes=(400,))


def test_drives_of_one_name_are_told_apart():
    assert [one.name for one in with_unique_names([drive("a"), drive("b"), drive("a")])] == ["a (1)", "b", "a (3)"]


def test_the_kernels_are_gaussians_on_the_papers_vectors():
    poses = np.array([[0.0, 1.0, 0.3], [2.0, -1.0, -3.0]])
    points = np.column_stack([poses[:, :2], np.cos(poses[:, 2]), np.sin(poses[:, 2])])
    expected = np.exp(-np.sum((points[0] - points[1]) ** 2) / (2 * 1.7**2))
    assert PaperPose(1.7)(poses)[0, 1] == pytest.approx(expected)
    assert PaperPose().fit(poses).bandwidth_ == pytest.approx(np.linalg.norm(points[0] - points[1]))
    start, end = np.array([[1.0, 2.0, 0.5], [1.3, 2.4, 0.9]])
    (motion,) = odometry_controls(np.stack([start, end]))[1:]
    turned = np.array([[np.cos(0.5), np.sin(0.5)], [-np.sin(0.5), np.cos(0.5)]]) @ (end - start)[:2]
    difference = np.array([*turned, 0.4])
    value = OdometryDifference(1.0)([motion], [[0.0, 0.0, 0.0]])[0, 0]
    assert value == pytest.approx(np.exp(-0.5 * difference @ difference))


def test_a_made_up_folder_in_colds_layout_goes_through_the_protocol(tmp_path):
    pytest.importorskip("cv2")
    experiment = Experiment("cold", cold_folder(tmp_path), quick=True)
    (fold,) = experiment.folds()
    assert fold.size == 20
    printed = {
        "kmcf": ("exact", False, 0.0), "kmcf-low50": ("literal", False, 0.0), "kmcf-sub150": ("exact", False, 0.0),
        "ours": ("auto", True, 2.0), "ours-low50": ("lowrank", True, 2.0),
    }  # fmt: skip
    for method, (engine, more, threshold) in printed.items():
        flt = fitted(unfitted(method, experiment.settings, fold, seed=0).set_params(rank=None, n_examples=None), fold)
        assert (flt.engine, flt.rejecting_, flt.relocating_) == (engine, more, more and engine != "literal")
        assert flt.resample_threshold == threshold
    flt = unfitted("kmcf", experiment.settings, fold, seed=0)
    chosen = tuned(flt, experiment.settings, fold, experiment.problem.measure, trials=2, seed=0, printed=True)
    run = fitted(chosen.flt, fold).filter(fold.test.observations, fold.test.controls)
    chance = np.mean(np.linalg.norm(fold.states[:, None, :2] - fold.test.states[:, :2], axis=2))
    assert np.linalg.norm(np.asarray(run.mode)[3:, :2] - fold.test.states[3:, :2], axis=1).mean() < 0.6 * chance


def test_the_rank_is_what_the_method_is_called():
    fold = paper_folds(DATA, sizes=(60,), intervals=(2.27,))[0]
    settings = Settings(OdometryMotion(), learn_transition=False, kmcf=PRINTED)
    for method in ("kmcf-low50", "ours-low50"):
        flt = unfitted(method, settings, fold, seed=0)
        found = tuned(flt, settings, fold, Measure("rmse"), trials=3, seed=0, held=METHODS[method].held)
        assert found.flt.rank == 50
        assert "rank" not in found.settings


def test_the_papers_methods_take_the_best_trial_as_it_is(tmp_path):
    fold = paper_folds(DATA, sizes=(40,), intervals=(2.27,))[0]
    settings = Settings(OdometryMotion(), learn_transition=False, kmcf=PRINTED)
    study = tmp_path / "study.jsonl"
    flt = unfitted("kmcf", settings, fold, seed=0)
    found = tuned(flt, settings, fold, Measure("rmse"), trials=6, seed=0, printed=True, study=study)
    trials = [json.loads(line) for line in study.read_text().splitlines()[1:]]
    best = min((one for one in trials if one.get("status") == "complete"), key=lambda one: one["value"])
    for name, value in found.settings.items():
        assert value == pytest.approx(best["settings"][name])


def test_kbr_learns_moves_of_the_first_drive_while_it_is_tuned():
    fold = paper_folds(DATA, sizes=(40,), intervals=(2.27,))[0]
    settings = Settings(OdometryMotion(), learn_transition=False)
    flt = unfitted("kbr", settings, fold, seed=0)
    flt.fit(fold.states[:20], fold.observations[:20])  # as a trial would, whatever it learns from
    moves = fold.training[0]
    plain = KernelBayesFilter(angles=flt.angles, random_state=0)
    plain.fit(
        fold.states[:20], fold.observations[:20], transitions=(moves.states[:-1], moves.states[1:], moves.controls[1:])
    )
    seen, controls = fold.test.observations[:5], fold.test.controls[:5]
    np.testing.assert_allclose(flt.filter(seen, controls).mean, plain.filter(seen, controls).mean)


def test_two_sequences_are_not_enough(tmp_path):
    with pytest.raises(ValueError, match=r"holds 2 sequences .* three are needed, to train, to validate and to test"):
        Experiment("cold", cold_folder(tmp_path, sequences=2, images=3)).folds()


def test_odometry_that_is_not_there_is_named(tmp_path):
    data = cold_folder(tmp_path, images=30)
    (data / "seq1" / "odom_scans" / "odom.tdf").unlink()
    with pytest.raises(ValueError, match=r"seq1 has no odom_scans/odom.tdf; the filters need the robot's odometry"):
        Experiment("cold", data).folds()


def test_an_image_that_cannot_be_read_is_no_example(tmp_path):
    data = cold_folder(tmp_path, images=60)
    broken = sorted((data / "seq0" / "std_cam").iterdir())[:35]
    for file in broken:
        file.write_bytes(b"torn")
    with pytest.warns(UserWarning, match="35 images of .* cannot be read"):
        (fold,) = Experiment("cold", data, quick=True).folds()
    assert fold.size == 20
    assert not set(fold.observations) & {None, *broken}
    assert len(fold.training[0]) > 8  # the robot's moves are known all the same
