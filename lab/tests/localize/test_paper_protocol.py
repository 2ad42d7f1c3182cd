"""Section 6.3's division of three drives, on made-up folders in COLD's layout and on plain recordings."""

import numpy as np
import pytest
from stand_ins import cold_folder

from kmcf.datasets import Recording
from kmcf.datasets.recording import MOTION
from kmcf.numerics.poses import odometry_controls
from kmcf_lab.localize.experiment import Experiment
from kmcf_lab.localize.methods import fitted, unfitted
from kmcf_lab.localize.paper_kernels import OdometryDifference, PaperPose
from kmcf_lab.localize.paper_protocol import paper_folds, sampled, with_unique_names
from kmcf_lab.localize.problem import Data
from kmcf_lab.localize.tuning import tuned

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
        assert [one.name for one in fold.tuning] == ["one", "two"]


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
    printed = {"kmcf": ("exact", False), "kmcf-low50": ("literal", False), "ours": ("auto", True)}
    for method, (engine, rejecting) in printed.items():
        flt = unfitted(method, experiment.settings, fold, seed=0)
        assert (flt.engine, flt.rejecting_) == (engine, rejecting)
    flt = unfitted("kmcf", experiment.settings, fold, seed=0)
    chosen = tuned(flt, experiment.settings, fold, experiment.problem.measure, trials=2, seed=0)
    run = fitted(chosen.flt, fold).filter(fold.test.observations, fold.test.controls)
    chance = np.mean(np.linalg.norm(fold.states[:, None, :2] - fold.test.states[:, :2], axis=2))
    assert np.linalg.norm(np.asarray(run.mode)[3:, :2] - fold.test.states[3:, :2], axis=1).mean() < 0.6 * chance


def test_two_sequences_are_not_enough(tmp_path):
    with pytest.raises(ValueError, match=r"holds 2 sequences .* three are needed, to train, to validate and to test"):
        Experiment("cold", cold_folder(tmp_path, sequences=2, images=3)).folds()
